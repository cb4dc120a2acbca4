// Options, consent and limits of every command that spends.

import { operationsOf, type Pipeline, usesApi } from '../../config/pipeline.js';
import { revealsAnything } from '../../domain/account-usage.js';
import { ExitCode, KybatchError, UsageError } from '../../domain/errors.js';
import type { RowOutcome } from '../../domain/outcomes.js';
import { type Money, moneyOf, type Prices } from '../../domain/prices.js';
import type { RunEvent } from '../../engine/events.js';
import { maximumCost, planRun, rowsOfRun } from '../../engine/plan.js';
import { type Amounts, maximumCostOfRows, type RemainingCost, within } from '../../engine/row-cost.js';
import { isRecord, parseStored } from '../../ledger/db/stored-json.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Limits } from '../../ledger/money/intent.js';
import type { DueReason, PortfolioUpdate } from '../../ledger/portfolio/portfolios.js';
import type { Progress, RunRecord } from '../../ledger/rows/runs.js';
import { type Message, type MessageCode, message } from '../../util/message-parts.js';
import type { Workplace } from '../environment.js';
import type { ProviderNames, ProviderOptions } from '../provider/provider.js';
import type { TableOptions } from './export.js';
import type { GuardOptions } from './guards.js';
import { ContinueError, type ContinueStep } from './next-step.js';
import { findSettings, isFresh } from './stored-settings.js';

export interface SpendingOptions
  extends ProviderOptions,
    GuardOptions,
    Pick<TableOptions, 'out' | 'formats' | 'includeContacts'> {
  readonly yes?: boolean | undefined;
  /** The limit of v1 units for this attempt. Default: the pipeline's `budget.units`. */
  readonly budget?: number | undefined;
  /** The limit of credit reports for this attempt. Default: the pipeline's `budget.credit_reports`. */
  readonly maxReports?: number | undefined;
  /** Maximum number of calls at once. */
  readonly concurrency?: number | undefined;
  /** True: write tables however the attempt ends. False: never. Default: when the run is finished. */
  readonly export?: boolean | undefined;
  readonly listen?: ListenToSpending | undefined;
  /** The first interrupt: calls in flight finish and are recorded. */
  readonly drain?: AbortSignal | undefined;
  /** The second interrupt: calls in flight are cancelled. */
  readonly abort?: AbortSignal | undefined;
  /** How the command line words its commands, for the notification about the end. */
  readonly said?: CommandWording | undefined;
}

export interface CommandWording {
  readonly command: (step: ContinueStep) => string;
  /** The exit code of the first interrupt, if there was one. */
  readonly interruptedAs: () => ExitCode | undefined;
}

/** The limits of this attempt: an option overrides the pipeline. */
export interface SpendingBounds {
  readonly limits: Limits;
  readonly concurrency: number;
}

/** The same maximum as in a pipeline file. */
const CONCURRENCY_AT_MOST = 256;

export const boundsOf = (
  options: SpendingOptions,
  { budget, concurrency }: Pick<Pipeline, 'budget' | 'concurrency'>,
): SpendingBounds => ({
  limits: {
    units: wholeNumber('--max-units', options.budget, 0) ?? budget.units,
    reports: wholeNumber('--max-reports', options.maxReports, 0) ?? budget.creditReports,
  },
  concurrency: wholeNumber('--concurrency', options.concurrency, 1, CONCURRENCY_AT_MOST) ?? concurrency,
});

type Spends = Parameters<typeof maximumCostOfRows>[1] & Pick<Pipeline, 'budget' | 'concurrency'>;

/** True if spending may begin without a question: a yes, the sandbox, or a limit for all that the pipeline spends. */
export const hasConsent = (options: SpendingOptions, pipeline: Spends): boolean =>
  options.yes === true ||
  options.sandbox === true ||
  (givesLimit(options) && uncoveredSpending(options, pipeline) === undefined);

const givesLimit = ({ budget, maxReports }: SpendingOptions): boolean =>
  budget !== undefined || maxReports !== undefined;

/** Why the limits do not cover the pipeline's spending. Undefined if they do. */
function uncoveredSpending(options: SpendingOptions, pipeline: Spends): Message | undefined {
  const most = maximumCostOfRows(1, pipeline);
  const { limits } = boundsOf(options, pipeline);
  if (revealsAnything(most.reveals))
    return message(
      'REVEALS_NOT_CONFIRMED',
      'this pipeline reveals contacts of people, and each one is charged. No limit bounds that. Add --yes',
    );
  if (most.units + most.reports === 0)
    return message(
      'V2_CALLS_NOT_CONFIRMED',
      'this pipeline buys v2 answers alone, and no limit bounds them. Add --yes',
    );
  if (most.reports > 0 && limits.reports === null)
    return message(
      'REPORTS_NOT_LIMITED',
      'this pipeline buys credit reports, and --max-units does not limit them. Add --max-reports N, or --yes',
    );
  if (most.units > 0 && limits.units === null)
    return message(
      'UNITS_NOT_LIMITED',
      'this pipeline spends v1 units, and --max-reports does not limit them. Add --max-units N, or --yes',
    );
  return undefined;
}

/** Lost answers may be asked for again, and only a limit bounds that. */
const mayCostMore = (rest: Amounts, limits: Limits, { inDoubt }: Pick<Pipeline, 'inDoubt'>): boolean =>
  inDoubt === 'resend' && (isUnbound(rest.units, limits.units) || isUnbound(rest.reports, limits.reports));

const isUnbound = (most: number, limit: number | null): boolean => most > 0 && (limit === null || limit > most);

/** If no person can be asked, limits or `--yes` are required. The sandbox is free. */
export function mustAgreeToSpend(
  options: SpendingOptions,
  pipeline: Spends,
  canAsk: boolean,
  planStep: ContinueStep,
): void {
  if (hasConsent(options, pipeline) || canAsk) return;
  const why = givesLimit(options) ? uncoveredSpending(options, pipeline) : undefined;
  const refuse = (code: MessageCode, text: string, hint: string) =>
    new ContinueError(text, planStep, { code, hint, exit: ExitCode.usage });
  if (why !== undefined) throw refuse(why.code, why.text, 'Nothing was spent.');
  const { units, reports } = maximumCostOfRows(1, pipeline);
  const limits = [units > 0 && '--max-units N', reports > 0 && '--max-reports N'].filter(Boolean).join(' and ');
  throw refuse(
    'NOT_CONFIRMED',
    'run spends money, and there is no terminal to ask on',
    `Nothing was spent. Add --yes${limits === '' ? '' : `, or set limits: ${limits}`}.`,
  );
}

export class DeclinedError extends KybatchError {
  override readonly name = 'DeclinedError';

  constructor() {
    super('not agreed to', { code: 'DECLINED', hint: 'Nothing was spent.', exit: ExitCode.interrupted });
  }
}

export function wholeNumber(
  flag: string,
  value: number | undefined,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const bounds = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  throw new UsageError('FLAG_OUT_OF_RANGE', `${flag} must be a whole number ${bounds}, got ${value}`);
}

export type { Amounts, DueReason, RemainingCost };

/** Events of a command that spends: those of the engine, the beginning, and the tables at the end. */
export type SpendingEvent = RunEvent | StartedEvent | { readonly kind: 'writing_tables' };

export interface SpendingForecast {
  /** The most, within the limits. */
  readonly atMost: RemainingCost;
  /** The same in money. Absent: no prices are set. */
  readonly money?: Money;
  /** Without v1, nothing is counted in units. */
  readonly asksV1: boolean;
  /** If `true`, lost answers that are asked for again may cost more than `atMost`. */
  readonly moreIfLost: boolean;
  /** There is a limit on units but none on credit reports, and reports may be bought. */
  readonly reportsUnbound: boolean;
  readonly limits: Limits;
}

export function spendingForecast(
  rest: RemainingCost,
  limits: Limits,
  pipeline: Pipeline,
  prices: Prices | null,
): SpendingForecast {
  const atMost = within(rest, limits);
  return {
    atMost,
    ...(prices === null ? {} : { money: moneyOf(prices, atMost) }),
    asksV1: usesApi(pipeline, 'v1'),
    moreIfLost: mayCostMore(rest, limits, pipeline),
    reportsUnbound: rest.reports > 0 && limits.units !== null && limits.reports === null,
    limits,
  };
}

/** The rows are in the ledger, spending was agreed to, and work begins. */
export interface StartedEvent extends SpendingForecast {
  readonly kind: 'started';
  readonly run: string;
  readonly rows: number;
  /** Before the attempt. */
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** Rows that will or may move. */
  readonly toGo: number;
  /** Rows that stay on hold: this attempt's pipeline sends no lost call of theirs again. */
  readonly inDoubt: number;
  readonly unitsCharged: number;
  /** An earlier attempt began the run. */
  readonly goesOn: boolean;
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
  /** Why rows are due and how many have left the list, if a file was read. */
  readonly list?: ListNews | undefined;
  /** The attempt before on this run had the same limits. */
  readonly hasSameLimits: boolean;
}

export type ListNews = Pick<PortfolioUpdate, 'due' | 'invalid' | 'left' | 'leftFirst' | 'members'>;

export type ListenToSpending = (event: SpendingEvent) => void;

/** The most that these rows of a run may still cost. `names`: by default the providers that the run has used. */
export async function remainingCost(
  run: RunRecord,
  pipeline: Pipeline,
  outcome: 'pending' | 'failed',
  { ledger, clock }: Workplace,
  names?: ProviderNames,
): Promise<RemainingCost> {
  const usedName = async (api: 'v1' | 'v2') => (await ledger.runs.environmentName(run.id, api)) ?? '';
  const environments = await providerIdsOf(names ?? { v1: await usedName('v1'), v2: await usedName('v2') }, ledger);
  const notBefore = isFresh(run) ? run.createdAt : 0;
  const rows = rowsOfRun(run.id, outcome, ledger);
  return maximumCost(await planRun({ rows, pipeline, notBefore, now: clock.now(), ledger, environments }));
}

/** True if the limits allow nothing of what the rows to do need: an attempt with them would end at once. */
export function isBarred(rest: Amounts, limits: Limits): boolean {
  const { units, reports } = within(rest, limits);
  return rest.units + rest.reports > 0 && units + reports === 0;
}

/** A call cost more units last time than the limit allows. */
export interface PriceAboveLimit {
  readonly units: number;
  readonly limit: number;
}

/** What the rows to do need, if the limits do not allow it. */
export interface BarredRest extends Amounts {
  readonly priceAboveLimit: PriceAboveLimit | null;
}

/**
 * No attempt with the limit sends a call that cost more last time. So only a higher limit can show that it costs less
 * now. Null: the limit covers each call of the pipeline, or no row waits for it.
 */
export async function findPriceAboveLimit(
  run: RunRecord,
  { parkedReasons }: Pick<Progress, 'parkedReasons'>,
  pipeline: Pipeline,
  { units: limit }: Limits,
  { runs, calls }: Pick<Ledger, 'runs' | 'calls'>,
): Promise<PriceAboveLimit | null> {
  if (limit === null || limit === 0 || (parkedReasons.budget ?? 0) === 0) return null;
  const name = await runs.environmentName(run.id, 'v1');
  const environment = name === undefined ? undefined : await calls.findEnvironment('v1', name);
  if (environment === undefined) return null;
  const prices = await calls.unitPrices(environment);
  const units = Math.max(...operationsOf(pipeline).map(({ name: used }) => prices.get(used) ?? 0));
  return units > limit ? { units, limit } : null;
}

/** What the rows to do need, if the limits of the last attempt allow nothing of it. Otherwise null. */
export async function restIfBarred(
  run: RunRecord,
  progress: Pick<Progress, 'parkedReasons'>,
  given: Pick<SpendingOptions, 'budget' | 'maxReports'>,
  workplace: Workplace,
): Promise<BarredRest | null> {
  const pipeline = (progress.parkedReasons.budget ?? 0) === 0 ? undefined : findSettings(run)?.pipeline;
  if (pipeline === undefined) return null;
  const { limits } = boundsOf(given, pipeline);
  const priceAboveLimit = await findPriceAboveLimit(run, progress, pipeline, limits, workplace.ledger);
  const isLimited = (limits.units ?? limits.reports) !== null && (progress.parkedReasons.allowance ?? 0) === 0;
  const boughtNothing = isLimited && (await stoppedByLimitAtOnce(run, workplace.ledger));
  if (priceAboveLimit === null && !boughtNothing && limits.units !== 0 && limits.reports !== 0) return null;
  const { units, reports } = await remainingCost(run, pipeline, 'pending', workplace);
  const isStopped = priceAboveLimit !== null || boughtNothing || isBarred({ units, reports }, limits);
  return isStopped ? { units, reports, priceAboveLimit } : null;
}

/** The last attempt worked until its limits allowed nothing more, and bought nothing. */
async function stoppedByLimitAtOnce({ id }: RunRecord, { reading }: Pick<Ledger, 'reading'>): Promise<boolean> {
  const last = await reading.lastAttempt(id);
  const ending = last?.ending == null ? undefined : parseStored(last.ending, isRecord);
  const isOver = ending !== undefined && ending.stopped === null && ending.interrupted === false;
  return last !== undefined && isOver && last.unitsSpent + last.reportsSpent === 0;
}

/** The ledger's numbers for the providers. Null if it does not know them. */
export async function providerIdsOf(names: ProviderNames, ledger: Ledger | null) {
  const find = async (api: 'v1' | 'v2') => (await ledger?.calls.findEnvironment(api, names[api])) ?? null;
  return { v1: await find('v1'), v2: await find('v2') };
}
