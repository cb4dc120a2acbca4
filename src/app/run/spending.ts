import type { Pipeline } from '../../config/pipeline.js';
import { revealsAnything } from '../../domain/account-usage.js';
import { ExitCode, KybatchError, UsageError } from '../../domain/errors.js';
import type { RowOutcome } from '../../domain/outcomes.js';
import type { RunEvent } from '../../engine/events.js';
import { planRemaining } from '../../engine/plan.js';
import { type Amounts, mostFor, type RemainingCost } from '../../engine/row-cost.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Limits } from '../../ledger/money/intent.js';
import type { Converged, DueReason } from '../../ledger/portfolio/portfolios.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import type { AppEnvironment } from '../environment.js';
import type { ProviderNames, ProviderOptions } from '../provider/provider.js';
import type { TableOptions } from './export.js';
import type { GuardOptions } from './guards.js';
import type { ContinueStep } from './next-step.js';

/** What every use case that spends can be told. */
export interface SpendingOptions
  extends ProviderOptions,
    GuardOptions,
    Pick<TableOptions, 'out' | 'formats' | 'includeContacts'> {
  /** Spending is agreed to. */
  readonly yes?: boolean | undefined;
  /** v1 units that this start may spend; the pipeline's `budget.units` without it. */
  readonly budget?: number | undefined;
  /** Credit reports that this start may buy; the pipeline's `budget.credit_reports` without it. */
  readonly maxReports?: number | undefined;
  /** Calls at once at the most. */
  readonly concurrency?: number | undefined;
  /** Whether tables are written: however the start ends, or never. Without it when the run is finished. */
  readonly export?: boolean | undefined;
  /** Told what happens, as it happens. */
  readonly listen?: ListenToSpending | undefined;
  /** The first interrupt: calls under way come home and are written down. */
  readonly drain?: AbortSignal | undefined;
  /** The second: calls in flight are given up. */
  readonly abort?: AbortSignal | undefined;
  /** How things are said on the command line that this was asked on, for whoever is told how it ended. */
  readonly said?: CommandWording | undefined;
}

export interface CommandWording {
  readonly command: (step: ContinueStep) => string;
  /** What the interrupt that came first stands for, if any came. */
  readonly interruptedAs: () => ExitCode | undefined;
}

/** What holds for this start: an option before what the pipeline says. */
export interface SpendingBounds {
  readonly limits: Limits;
  readonly concurrency: number;
}

/** As a pipeline file may say it. */
const CONCURRENCY_AT_MOST = 256;

export const boundsOf = (options: SpendingOptions, { budget, concurrency }: Pipeline): SpendingBounds => ({
  limits: {
    units: wholeNumber('--budget', options.budget, 0) ?? budget.units,
    reports: wholeNumber('--max-reports', options.maxReports, 0) ?? budget.creditReports,
  },
  concurrency: wholeNumber('--concurrency', options.concurrency, 1, CONCURRENCY_AT_MOST) ?? concurrency,
});

type Spends = Parameters<typeof mostFor>[1];

/** It may spend without anybody being asked. A budget is a yes only where it bounds what is spent. */
export const mayBegin = ({ yes, budget, sandbox }: SpendingOptions, pipeline: Spends): boolean =>
  yes === true || sandbox === true || (budget !== undefined && unboundBy(pipeline) === undefined);

/** What a budget does not bound, in words; undefined where it bounds what the pipeline spends. */
function unboundBy(pipeline: Spends): string | undefined {
  const { units, reports, reveals } = mostFor(1, pipeline);
  if (revealsAnything(reveals))
    return 'this pipeline has contacts of people revealed, each of which is charged: --budget does not bound that';
  return units + reports === 0 ? '--budget bounds v1 units, and this pipeline spends none' : undefined;
}

/**
 * Whether the most that rows can cost is not the most that may be spent: an answer that is lost may be asked for again,
 * and only a budget bounds what that costs.
 */
export const moreIfLost = (rest: Amounts, limits: Limits, { inDoubt }: Pick<Pipeline, 'inDoubt'>): boolean =>
  inDoubt === 'resend' && (isUnbound(rest.units, limits.units) || isUnbound(rest.reports, limits.reports));

/** A budget of units is easily taken for one of all that is spent. */
export const reportsUnbound = (rest: Amounts, limits: Limits): boolean =>
  rest.reports > 0 && limits.units !== null && limits.reports === null;

const isUnbound = (most: number, limit: number | null): boolean => most > 0 && (limit === null || limit > most);

/** Where nobody can be asked, a limit or a yes must be given. The sandbox costs nothing. */
export function mustAgreeToSpend(options: SpendingOptions, pipeline: Spends, canAsk: boolean): void {
  if (mayBegin(options, pipeline) || canAsk) return;
  const unbound = unboundBy(pipeline);
  if (unbound !== undefined)
    throw new UsageError(
      options.budget === undefined ? NOBODY_TO_ASK : `${unbound}, and there is no terminal to ask on`,
      'Nothing was spent. Add --yes. `kybatch plan` shows what it would cost.',
    );
  throw new UsageError(
    NOBODY_TO_ASK,
    'Nothing was spent. Add --yes, or --budget UNITS to set a limit. `kybatch plan` shows what it would cost.',
  );
}

const NOBODY_TO_ASK = 'run spends money, and there is no terminal to ask on';

/** Whoever was asked said no. */
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
  throw new UsageError(`${flag} must be a whole number ${bounds}, got ${value}`);
}

export type { Amounts, DueReason, RemainingCost };

/** What a use case that spends tells while it works: what the engine tells, and that it begins. */
export type SpendingEvent = RunEvent | StartedEvent;

/** The rows are in the ledger, spending was agreed to, and work begins. */
export interface StartedEvent {
  readonly kind: 'started';
  readonly run: string;
  readonly rows: number;
  /** As they stand before it. */
  readonly outcomes: Readonly<Record<RowOutcome, number>>;
  /** Rows that will move, or may. */
  readonly toGo: number;
  /** Rows that wait for a person's word about a lost call. They are not to go, unless what the provider tells settles it. */
  readonly inDoubt: number;
  readonly unitsCharged: number;
  /** The run was begun by an earlier start. */
  readonly goesOn: boolean;
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
  /** What this start may spend. */
  readonly atMost: RemainingCost;
  /** Without v1 nothing is counted in units. */
  readonly asksV1: boolean;
  /** Why rows are to go, and how many have left the list, where a file was taken in. */
  readonly list?: ListNews | undefined;
  /** Answers that are lost, and asked for again, may cost more than that. */
  readonly moreIfLost: boolean;
  /** There is a budget of units, and none of credit reports, which may be bought. */
  readonly reportsUnbound: boolean;
}

export type ListNews = Pick<Converged, 'due' | 'invalid' | 'left' | 'leftFirst' | 'members'>;

export type ListenToSpending = (event: SpendingEvent) => void;

/** A run that a start would go on with. */
export interface RemainingWork {
  readonly run: RunRecord;
  readonly pipeline: Pipeline;
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
  readonly outcome: 'pending' | 'failed';
}

/** What the rows of a run that will move may still cost. Nothing is sent, nothing is written. */
export async function remainingCost(
  { run, pipeline, fresh, outcome }: RemainingWork,
  names: ProviderNames,
  ledger: Ledger,
  { clock }: AppEnvironment,
): Promise<RemainingCost> {
  const environments = await environmentsOf(names, ledger);
  const notBefore = fresh ? ledger.times.believed(run.createdAt) : 0;
  return await planRemaining({ run, pipeline, outcome, notBefore, now: clock.now(), ledger, environments });
}

/** The numbers under which the ledger knows the providers; null where it does not. */
export async function environmentsOf(names: ProviderNames, ledger: Ledger | null) {
  const find = async (api: 'v1' | 'v2') => (await ledger?.calls.findEnvironment(api, names[api])) ?? null;
  return { v1: await find('v1'), v2: await find('v2') };
}
