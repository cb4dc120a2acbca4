// `run`: updates the portfolio of a file.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadPipeline } from '../../config/pipeline.js';
import { ExitCode, KybatchError } from '../../domain/errors.js';
import { type Money, moneyOf } from '../../domain/prices.js';
import { countryProblem } from '../../domain/search-subject.js';
import { MAX_EXAMINED_ROWS, maximumCost } from '../../engine/plan.js';
import { type RemainingCost, within } from '../../engine/row-cost.js';
import type { Ledger } from '../../ledger/ledger.js';
import { hasLedger } from '../../ledger/open-ledger.js';
import type { PortfolioUpdate, RefusedAttempt } from '../../ledger/portfolio/portfolios.js';
import { NO_SPENDING } from '../../ledger/queries.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { redact } from '../../util/secret.js';
import { count, listed } from '../../util/words.js';
import {
  type AppEnvironment,
  dataDirOf,
  ledgerOf,
  pathIn,
  processEnvironment,
  RUN_WAITS_MS,
  type Workplace,
  withLedger,
} from '../environment.js';
import { MetricsFile } from '../monitoring/metrics.js';
import { notifyAtEnd } from '../monitoring/notify.js';
import {
  adoptRuns,
  defaultPortfolio,
  type ListOptions,
  nameOfInput,
  notesAboutFile,
  OpenList,
  portfolioName,
  providersKey,
  withInputFile,
} from '../portfolio/open-list.js';
import { pullBeforeRun } from '../portfolio/watch.js';
import { permissionReader } from '../provider/permissions.js';
import {
  checkConfiguration,
  checkProvider,
  isSandboxName,
  type ProviderNames,
  providerNames,
  withProvider,
} from '../provider/provider.js';
import { mustKnowNames, namesWritten } from '../provider/vocabularies.js';
import { withNotedAnswers } from '../review/answer-question.js';
import { executeRun, viewOfUpToDate, waitForLeader } from './execute-run.js';
import { checkTables } from './export.js';
import {
  checkNewLedger,
  type GuardFinding,
  type GuardOptions,
  metricsOf,
  movedHint,
  mustHaveKeptRows,
  mustHaveSpace,
  mustNameGuards,
  otherProviderNotes,
  refuseOrAsk,
} from './guards.js';
import { asKybatchError, exitOfFailure } from './next-step.js';
import {
  asRepeatStep,
  explainUnclearColumns,
  type JobOptions,
  type PlanView,
  permissionsNow,
  planInput,
  planJob,
  readJob,
} from './plan.js';
import { checkKeyAccess } from './preflight.js';
import { storeLimits } from './progress.js';
import { remarkNotes } from './remark-notes.js';
import type { RunEndView } from './run-end.js';
import {
  boundsOf,
  DeclinedError,
  hasConsent,
  mustAgreeToSpend,
  remainingCost,
  type SpendingBounds,
  type SpendingOptions,
} from './spending.js';
import { isFreshIfReadable } from './stored-settings.js';

export interface RunOptions extends JobOptions, SpendingOptions {
  /** Called before anything is spent. Without it, `yes` or a `budget` is needed, except for the sandbox. */
  readonly agree?: ((proposal: Proposal) => Promise<boolean>) | undefined;
}

export interface Proposal {
  readonly plan: PlanView;
  /** The plan's maximum, or the limits if those are lower. */
  readonly atMost: RemainingCost;
  readonly limits: SpendingBounds['limits'];
  /** The same in money. Absent: no prices are set. */
  readonly money?: Money;
  /** Guard findings that would refuse the attempt if no person could be asked. */
  readonly findings: readonly GuardFinding[];
}

/** If nothing is due it does nothing, unless `fresh` buys everything again. */
export const run = (options: RunOptions, environment: AppEnvironment = processEnvironment()): Promise<RunEndView> =>
  notifyAtEnd(options, environment, async (toBeTold) => {
    const input = nameOfInput(options.input, environment);
    const portfolio = options.portfolio?.trim() ?? defaultPortfolio(input);
    let metrics: MetricsFile | null = null;
    let hasBegun = false;
    try {
      const pipeline = loadPipeline(options.pipeline ?? 'analyst', environment.cwd, environment.onNote);
      toBeTold({ notify: pipeline.notify, input, of: { portfolio } });
      metrics = MetricsFile.of(pipeline, input, dataDirOf(options, environment), environment);
      return await withInputFile(options.input, environment, async (file) => {
        const read = () => readJob(file, options, environment, pipeline);
        const job = await explainUnclearColumns(asRepeatStep('run', options), read);
        const asked = (await isAllInvalid(job)) ? { ...options, yes: true, agree: undefined } : options;
        return await bringUpToDate(job, metrics, asked, environment, () => {
          hasBegun = true;
        });
      });
    } catch (error) {
      // A person at the terminal has seen the refusal.
      if ((hasBegun || options.agree === undefined) && isRefusal(error)) {
        if (!hasBegun) await recordRefusal(portfolio, error, metrics, options, environment);
        await metrics?.writeExit(portfolio, exitOfFailure(error));
      }
      throw error;
    }
  });

async function bringUpToDate(
  job: ListOptions,
  metrics: MetricsFile | null,
  options: RunOptions,
  environment: AppEnvironment,
  begins: () => void,
): Promise<RunEndView> {
  mustNameGuards(options);
  const bounds = boundsOf(options, job.pipeline);
  const names = providerNames(options, environment);
  // Stored with the requested concurrency, so that `resume` keeps it.
  const pipeline = { ...job.pipeline, concurrency: bounds.concurrency };
  checkConfiguration(pipeline, options, environment);
  const isNew = await checkBeforeBegin(pipeline, options, environment);
  const dataDir = dataDirOf(options, environment);
  const place = {
    dataDir,
    out: options.out ? pathIn(environment, options.out) : undefined,
    metrics: metricsOf(job, environment),
  };
  // A person who declines before the ledger exists leaves nothing behind.
  const foundBefore = isNew ? refuseOrAsk(await checkNewLedger(place, names, null), options, environment) : [];
  const newUse = () => permissionsNow(job, options, environment);
  const agreed = isNew ? await agreedCost(job, null, bounds, foundBefore, newUse, options, environment) : undefined;
  const waiting = { ...options, waitMs: RUN_WAITS_MS };
  const update = async (ledger: Ledger, workplace: Workplace): Promise<RunEndView> => {
    if (isNew && agreed === undefined && !isSandboxName(names.v1))
      environment.onNote?.(message('LEDGER_BEGUN', `a new ledger was created in ${dataDir}`));
    // What would buy the whole list again.
    const found = isNew
      ? []
      : [...(await checkNewLedger(place, names, ledger)), ...(await checkNewProvider(job, names, workplace))];
    const findings = refuseOrAsk(found, options, environment);
    const list = await openList({ ...job, pipeline }, names, options, workplace);
    // Taking over unfinished rows must not take them from a process that works on them.
    if (list.known !== undefined) {
      const { id } = list.known;
      const ofList = { isMeant: (run: RunRecord) => run.portfolioId === id, called: 'a run of this list' };
      await waitForLeader(ofList, options, workplace);
    }
    // A person who is asked sees this in the plan.
    if (list.file.laid && options.agree === undefined)
      for (const note of remarkNotes(job.table.remarks())) environment.onNote?.(note);
    const heard = await pullBeforeRun(pipeline, list.known, options, workplace);
    const watchAsked = heard?.companies ?? 0;
    const upToDate = async (converged: PortfolioUpdate) => {
      const view = { ...(await viewOfUpToDate(converged, list, options, workplace)), watchAsked };
      await metrics?.write(ledger, names, null);
      return view;
    };
    const begin = async () => {
      // The guard `new_ledger` has let the attempt pass.
      ledger.acceptLoss();
      const converged = await list.begin();
      if (converged.run !== null && heard !== null) await ledger.watches.takenUp(converged.run.id, heard.since);
      if (!list.fresh) await noteFreshTakeover(converged, workplace);
      return converged;
    };
    const nobodyIsAsked = options.agree === undefined && hasConsent(options, pipeline);
    // A person decides about a finding even if nothing is due: otherwise the next attempt is refused again.
    if (!nobodyIsAsked && findings.length === 0 && !(await list.isAnythingDue())) return await upToDate(await begin());
    for (const note of await otherProviderNotes(names, ledger)) environment.onNote?.(note);
    mustAgreeToSpend(options, pipeline, options.agree !== undefined, asRepeatStep('plan', options));
    if (options.export !== false) await checkTables(options, null, dataDir, environment);
    return await withProvider(
      options,
      environment,
      async (provider) => {
        checkProvider(pipeline, provider);
        if (namesWritten(pipeline).length > 0 && (await list.isAnythingDue()))
          await mustKnowNames(pipeline, 'Correct the file.', provider, options, workplace);
        const permissions = permissionReader(pipeline, provider, options.drain);
        const use = async () => (await permissions?.atStart()) ?? null;
        const asked = agreed ?? (await agreedCost(job, list, bounds, findings, use, options, environment));
        const { limits } = bounds;
        const mustBeGranted = (run: RunRecord | null, rest: RemainingCost) =>
          checkKeyAccess({ run, pipeline, rest, limits, permissions, options }, provider, workplace);
        // After a refusal the run can be resumed. But with `--rebuy` no run may be left behind, or the next attempt
        // would buy stored answers again.
        let checks = NO_SPENDING;
        if (list.fresh)
          checks = await mustBeGranted(
            null,
            asked ?? maximumCost(await planInput(job, list, environment, MAX_EXAMINED_ROWS)),
          );
        const converged = await begin();
        const { run, goesOn, due, invalid, left, leftFirst, members } = converged;
        if (run === null) return await upToDate(converged);
        const rest = asked ?? (await remainingCost(run, pipeline, 'pending', workplace, names));
        if (!list.fresh) checks = await mustBeGranted(run, rest);
        const news = { due, invalid, left, leftFirst, members };
        const attempt = { ...bounds, run, goesOn, pipeline, rest, list: news, checks, options, permissions, metrics };
        begins();
        return { ...(await executeRun(attempt, provider, workplace)), watchAsked };
      },
      { deadlineMs: pipeline.deadlineMs, keepSandbox: true },
    );
  };
  return await withLedger('write', waiting, environment, (ledger, workplace) =>
    withNotedAnswers(options, workplace, () => update(ledger, workplace)),
  );
}

/** Rows begun with `--rebuy` keep it in the run that takes them over: all answers of a company have the same age. */
async function noteFreshTakeover({ superseded }: PortfolioUpdate, { ledger, onNote }: Workplace): Promise<void> {
  for (const id of superseded) {
    const run = await ledger.runs.find(id);
    if (run !== undefined && isFreshIfReadable(run))
      onNote?.(
        message(
          'FRESH_RUN_SUPERSEDED',
          `run ${id} was started with --rebuy. Its rows to do are bought again in this run, too`,
        ),
      );
  }
}

async function openList(
  job: ListOptions,
  names: ProviderNames,
  guards: GuardOptions,
  workplace: Workplace,
): Promise<OpenList> {
  const { ledger, clock, onNote } = workplace;
  await adoptRuns(job, names, ledger, clock.now());
  await ledger.portfolios.correctProviders(portfolioName(job), providersKey(names));
  const list = await OpenList.open(job, names, ledger, clock.now());
  for (const note of notesAboutFile(list)) onNote?.(note);
  await mustHaveKeptRows(list, job, guards, workplace);
  return list;
}

/** An attempt that is refused for its options creates nothing, not even a ledger. Returns true if there is none yet. */
async function checkBeforeBegin(
  pipeline: ListOptions['pipeline'],
  options: RunOptions,
  environment: AppEnvironment,
): Promise<boolean> {
  const dataDir = dataDirOf(options, environment);
  const isNew = !(await hasLedger(ledgerOf(options, environment)));
  // Without a ledger there is no finished run that would cost nothing.
  if (isNew) mustAgreeToSpend(options, pipeline, options.agree !== undefined, asRepeatStep('plan', options));
  mustHaveSpace(options, environment);
  // Without `--out` a finished run writes nothing, and a missing folder is created with the ledger.
  const named = options.out !== undefined || (isNew && existsSync(join(dataDir, 'exports')));
  if (named && options.export !== false) await checkTables(options, null, dataDir, environment);
  return isNew;
}

/** The cost that a person agreed to. Undefined if nobody is asked. `list`: null without a ledger. */
async function agreedCost(
  job: ListOptions,
  list: OpenList | null,
  { limits }: SpendingBounds,
  findings: readonly GuardFinding[],
  permissionUse: () => ReturnType<typeof permissionsNow>,
  options: RunOptions,
  environment: AppEnvironment,
): Promise<RemainingCost | undefined> {
  const { agree } = options;
  if (agree === undefined) return undefined;
  const plan = await planJob(job, list, await permissionUse(), options, environment);
  const rest = maximumCost(plan);
  const atMost = within(rest, limits);
  const money = plan.prices === undefined ? {} : { money: moneyOf(plan.prices, atMost) };
  if (!(await agree({ plan, atMost, limits, ...money, findings }))) throw new DeclinedError();
  return rest;
}

/** True if no row of the file is valid. Then nothing can be spent and no consent is needed. */
async function isAllInvalid({ table, limit }: Pick<ListOptions, 'table' | 'limit'>): Promise<boolean> {
  for await (const { row, fields, problem } of table.rows()) {
    if (limit !== null && row > limit) return true;
    if (problem === undefined && countryProblem(fields) === undefined) return false;
  }
  return true;
}

/** Guard `new_provider`: the list last used another base URL, and stored answers would be bought again. */
async function checkNewProvider(
  job: ListOptions,
  names: ProviderNames,
  { ledger, ...environment }: Workplace,
): Promise<readonly GuardFinding[]> {
  const others = await otherAddresses(job, names, ledger);
  if (others.length === 0) return [];
  const silent = { ...environment, onReading: undefined, onNote: undefined };
  const costAt = async (at: ProviderNames) => {
    const list = await OpenList.open(job, at, ledger, environment.clock.now());
    return maximumCost(await planInput(job, list, silent, MAX_EXAMINED_ROWS));
  };
  const here = await costAt(names);
  let cheapest = { at: names, cost: here };
  for (const { api, name } of others) {
    const at = { ...cheapest.at, [api]: name };
    const cost = await costAt(at);
    if (sum(cost) < sum(cheapest.cost)) cheapest = { at, cost };
  }
  const moved = APIS.flatMap((api) => {
    const [from = '', to = ''] = [cheapest.at[api], names[api]];
    return from === to ? [] : { api, from, to };
  });
  if (moved.length === 0) return [];
  const again = (of: 'v1' | 'v2', kind: 'units' | 'reports' | 'v2Calls', words: string) => {
    const more = here[kind] - cheapest.cost[kind];
    return moved.some(({ api }) => api === of) && more > 0 && count(more, words);
  };
  // The answers of an API whose address is the same are reused.
  const costs = [
    again('v1', 'units', 'unit'),
    again('v2', 'reports', 'credit report'),
    again('v2', 'v2Calls', 'v2 call'),
  ];
  return [
    {
      guard: 'new_provider',
      message: `rows of this list are stored from ${moved.map(({ from }) => from).join(' and ')}, and would be bought again from ${moved.map(({ to }) => to).join(' and ')}: up to ${listed(costs)}`,
      hint: movedHint(moved),
    },
  ];
}

const APIS = ['v1', 'v2'] as const;

/** Other base URLs with stored answers, for each API whose base URL is new to the list. */
async function otherAddresses(job: ListOptions, names: ProviderNames, { portfolios, reading }: Ledger) {
  const list = portfolioName(job);
  // The newest is first.
  const last = (await portfolios.all()).find(({ name, providers }) => name === list && !isSandboxName(providers));
  const settled = last?.providers.split(',') ?? [];
  const stored = (await reading.environments()).filter(({ name, answers }) => answers > 0 && !isSandboxName(name));
  return APIS.flatMap((api) => {
    const here = names[api] ?? '';
    if (here === '' || isSandboxName(here) || settled.includes(here)) return [];
    return stored.flatMap(({ api: other, name }) => (other === api && name !== here ? { api, name } : []));
  });
}

const sum = ({ units, reports, v2Calls }: RemainingCost): number => units + reports + v2Calls;

/** A running process or a declined plan is not a problem of the list. */
function isRefusal(error: unknown): boolean {
  const { exit } = asKybatchError(error);
  return exit !== ExitCode.locked && exit !== ExitCode.interrupted;
}

/**
 * An attempt that is refused before it begins leaves no record of its own, so `status --check` reads this note. If it
 * cannot be written, the ledger itself fails, and the next command reports that.
 */
async function recordRefusal(
  list: string,
  error: unknown,
  metrics: MetricsFile | null,
  options: RunOptions,
  environment: AppEnvironment,
): Promise<void> {
  try {
    if (!(await hasLedger(ledgerOf(options, environment)))) return;
    await withLedger('existing', options, { ...environment, onNote: undefined }, async (ledger) => {
      const refusal = { ...refusalOf(error), given: storeLimits(options) };
      await ledger.portfolios.noteRefusal(list, refusal, environment.clock.now());
      await metrics?.write(ledger, providerNames(options, environment), null);
    });
  } catch (failure) {
    if (!(failure instanceof KybatchError)) throw failure;
  }
}

const LONGEST = 1000;

/** Includes the hint, because a later reader of the note has not seen the output. */
function refusalOf(error: unknown): Omit<RefusedAttempt, 'at' | 'given'> {
  const { code, exit, hint, message } = asKybatchError(error);
  const told = redact(sanitizeText(hint === undefined ? message : `${message.replace(/\.$/, '')}. ${hint}`));
  return { code, exit, message: told.slice(0, LONGEST) };
}
