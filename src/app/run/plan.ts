// `plan`: reads the input and shows what a run would do and cost.

import { type LoadedPipeline, loadPipeline, usesApi } from '../../config/pipeline.js';
import type { PermissionUse } from '../../domain/account-usage.js';
import { KybatchError, UsageError } from '../../domain/errors.js';
import { type Money, moneyOf, type Prices } from '../../domain/prices.js';
import { planRun, type RunPlan } from '../../engine/plan.js';
import { type Amounts, costAfterReview } from '../../engine/row-cost.js';
import { ColumnsUnclearError } from '../../input/decide-columns.js';
import { readInput } from '../../input/read-input.js';
import type {
  AskColumns,
  ColumnChoice,
  ColumnDoubt,
  InputOptions,
  InputRemarks,
  InputTable,
  ReadingOptions,
} from '../../input/types.js';
import { hasCurrentLedger, hasLedger } from '../../ledger/open-ledger.js';
import { leadsFollowed } from '../../stages/identity/searches.js';
import { firstFew, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { type AppEnvironment, dataDirOf, ledgerOf, pricesOf, processEnvironment, withLedger } from '../environment.js';
import {
  defaultPortfolio,
  type InputFile,
  type ListOptions,
  notesAboutFile,
  OpenList,
  pipedNotes,
  portfolioName,
  providersKey,
  rowsOfFile,
  withInputFile,
} from '../portfolio/open-list.js';
import {
  latestPermissionUse,
  type PlannedPermission,
  permissionReader,
  plannedPermissions,
} from '../provider/permissions.js';
import { isSandboxName, type ProviderOptions, providerNames, withProvider } from '../provider/provider.js';
import { type DiskNeed, plannedNeed } from './disk-estimate.js';
import {
  checkListProviders,
  checkNewLedger,
  type GuardFinding,
  metricsOf,
  otherProviderNotes,
  rowsLost,
} from './guards.js';
import { ContinueError, type ContinueStep, GuardRefusal } from './next-step.js';
import { DeclinedError, providerIdsOf, wholeNumber } from './spending.js';
import { isFresh } from './stored-settings.js';

export interface JobOptions extends ProviderOptions, ReadingPreferences {
  /** The file with the companies, or `-` for standard input. */
  readonly input: string;
  /** A pipeline name or file. Default: `analyst`. */
  readonly pipeline?: string | undefined;
  /** The name of the portfolio of this file. Default: its path. */
  readonly portfolio?: string | undefined;
  /** Only the first rows. */
  readonly limit?: number | undefined;
  /** Answers bought before are not reused. */
  readonly fresh?: boolean | undefined;
}

export interface PlanView extends RunPlan {
  readonly at: number;
  readonly sandbox: boolean;
  readonly input: string;
  readonly pipeline: string;
  readonly portfolio: string;
  /** Its last run. Null: there is none yet. */
  readonly run: PlannedRun | null;
  /** The v2 counters that the pipeline names, or all if it names none. Null: never read. */
  readonly permissions: readonly PlannedPermission[] | null;
  /** If false, the pipeline does not use v1 and nothing is counted in units. */
  readonly asksV1: boolean;
  readonly guards: LoadedPipeline['guards'];
  /** The action after a lost answer. The plan's maximum counts each call once. */
  readonly inDoubt: LoadedPipeline['inDoubt'];
  readonly limits: LoadedPipeline['budget'];
  /** The column read for each field, and the columns that are only carried through. */
  readonly columns: PlannedColumns;
  /** The guard that would refuse this input, and why. Null: none. */
  readonly refusedBy: PlannedRefusal | null;
  readonly refusals: readonly PlannedRefusal[];
  /** Text that was read differently from the file. */
  readonly remarks: InputRemarks;
  readonly needsReview: number;
  /** The most that the rows for review cost after the answers of people, beyond the plan. */
  readonly afterReview: Amounts;
  readonly disk: DiskNeed;
  /** The prices, and what the run would cost by them. Absent: none are set. */
  readonly prices?: Prices;
  readonly money?: PlannedMoney;
}

/** `likely`: if the first search finds every company. */
export type PlannedMoney = Readonly<Record<'atLeast' | 'likely' | 'atMost', Money>>;

export interface PlannedColumns extends Pick<InputTable, 'read' | 'country'> {
  readonly all: readonly string[];
}

export interface PlannedRefusal {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
}

export interface PlannedRun {
  readonly id: string;
  readonly finished: boolean;
  /** It has the same list and pipeline, so it goes on. Otherwise a new run takes over its rows. */
  readonly continues: boolean;
  /** Answers from before it are not used. */
  readonly fresh: boolean;
}

/** Shows what a run of this input would do and cost. Nothing is bought or written. v2 is asked for its counters. */
export async function plan(options: JobOptions, environment: AppEnvironment = processEnvironment()): Promise<PlanView> {
  return await withInputFile(options.input, environment, async (file) => {
    const job = await explainUnclearColumns(asRepeatStep('plan', options), () => readJob(file, options, environment));
    const names = providerNames(options, environment);
    const use = await permissionsNow(job, options, environment);
    // The same refusals as of a run without a terminal. A person who is asked sees the findings in the question.
    const place = { dataDir: dataDirOf(options, environment), metrics: metricsOf(job, environment) };
    if (!(await hasLedger(ledgerOf(options, environment))))
      return await planJob(job, null, use, options, environment, await checkNewLedger(place, names, null));
    return await withLedger('read', options, environment, async (ledger) => {
      for (const note of await otherProviderNotes(names, ledger)) environment.onNote?.(note);
      const list = await OpenList.open(job, names, ledger, environment.clock.now());
      for (const note of notesAboutFile(list)) environment.onNote?.(note);
      const findings = [
        ...(await checkNewLedger(place, names, ledger)),
        ...(await checkListProviders(names, ledger, portfolioName(job))),
      ];
      return await planJob(job, list, use, options, environment, findings);
    });
  });
}

/** The embedded sandbox counts in a file beside the ledger, and a plan must not change it. */
export async function permissionsNow({ pipeline }: ListOptions, options: JobOptions, environment: AppEnvironment) {
  if (options.sandbox === true) return null;
  return await withProvider(options, environment, async (provider) => {
    return (await permissionReader(pipeline, provider)?.atStart()) ?? null;
  });
}

export async function readJob(
  file: InputFile,
  options: JobOptions,
  environment: AppEnvironment,
  pipeline = loadPipeline(options.pipeline ?? 'analyst', environment.cwd, environment.onNote),
): Promise<ListOptions> {
  const limit = wholeNumber('--limit', options.limit, 1) ?? null;
  const portfolio = nameGiven(options.portfolio);
  const table = await readInput(file.path, {
    shownAs: file.shownAs,
    synonyms: pipeline.columns,
    leads: leadsFollowed(pipeline.search.fallback),
    ...(await resolveReadingOptions(portfolio ?? defaultPortfolio(file.input), options, environment)),
  });
  await mustHaveRows(table);
  for (const note of pipedNotes(file, options.portfolio)) environment.onNote?.(note);
  const warnings = new Map(table.warnings.map((warning) => [warning.text, warning]));
  for (const note of firstFew(table.warnings, ({ text }) => text, 'notes'))
    environment.onNote?.(warnings.get(note) ?? message('INPUT_NOTES_MORE', note));
  return {
    table: { ...reportTableProgress(table, environment), path: file.input },
    pipeline,
    limit,
    fresh: options.fresh ?? false,
    portfolio,
    reading: options.reading,
  };
}

export const asRepeatStep = <K extends 'run' | 'plan'>(
  kind: K,
  { input, pipeline = 'analyst', limit, portfolio, fresh = false, reading }: JobOptions,
) => ({ kind, input, pipeline, limit: limit ?? null, portfolio, fresh, reading });

function nameGiven(name: string | undefined): string | undefined {
  if (name === undefined || name.trim() !== '') return name?.trim();
  throw new UsageError(
    'FLAG_EMPTY',
    '--portfolio is empty',
    'Leave it out to name the portfolio by the path of its file.',
  );
}

/** A file without data rows is always a broken delivery. */
async function mustHaveRows({ path, rows }: InputTable): Promise<void> {
  for await (const _ of rows()) return;
  throw new UsageError(
    'EMPTY_INPUT',
    `${path} has a header but no rows`,
    'Nothing was spent, and earlier exports are unchanged. Check the file and try again.',
  );
}

/** `list`: the input with its portfolio. Null if nothing was ever bought. `findings`: what would refuse a run. */
export async function planJob(
  job: ListOptions,
  list: OpenList | null,
  use: readonly PermissionUse[] | null,
  options: ProviderOptions,
  environment: AppEnvironment,
  findings: readonly GuardFinding[] = [],
): Promise<PlanView> {
  const { table, pipeline } = job;
  const names = providerNames(options, environment);
  const { dataDir, ledgerUrl } = ledgerOf(options, environment);
  const prices = pricesOf(pipeline, environment);
  const planned = await planInput(job, list, environment);
  const at = environment.clock.now();
  const lastRun = list && (await lastRunOf(list));
  const lost = list === null ? undefined : await rowsLost(list, job);
  const refused = findings.map(({ message, guard, hint }) => new GuardRefusal(message, guard, hint));
  const refusals = [...(lost === undefined ? [] : [lost]), ...refused].map((one) =>
    pick(one, 'code', 'message', 'hint'),
  );
  const told = usesApi(pipeline, 'v2') ? await latestPermissionUse({ use, at }, names.v2, list?.ledger ?? null) : null;
  const needsReview = list?.known ? (await list.ledger.portfolios.outcomes(list.known.id)).needs_review : 0;
  return {
    at,
    sandbox: isSandboxName(names.v1),
    input: table.path,
    pipeline: pipeline.name,
    ...planned,
    portfolio: portfolioName(job),
    run: lastRun,
    permissions: told && plannedPermissions(told, planned, pipeline),
    asksV1: usesApi(pipeline, 'v1'),
    guards: pipeline.guards,
    inDoubt: pipeline.inDoubt,
    limits: pipeline.budget,
    columns: { read: table.read, country: table.country, all: table.columns },
    refusedBy: refusals[0] ?? null,
    refusals,
    remarks: table.remarks(),
    needsReview,
    // Rows with an open question that are not due are among those that are up to date.
    afterReview: costAfterReview(planned.toPerson + Math.min(needsReview, planned.upToDate), pipeline),
    disk: plannedNeed(
      { rows: planned.rows, answers: answersAtMost(planned), lastRun: lastRun?.id ?? null },
      ledgerUrl === undefined,
      dataDir,
      environment,
    ),
    ...(prices === null ? {} : { prices, money: plannedMoney(prices, planned) }),
  };
}

const answersAtMost = ({ units, v2Calls, creditReportsAtMost }: RunPlan): number =>
  units.atMost + v2Calls.atMost + 2 * creditReportsAtMost;

const plannedMoney = (prices: Prices, { purchases, revealsAtMost }: RunPlan): PlannedMoney => ({
  atLeast: moneyOf(prices, purchases.atLeast),
  likely: moneyOf(prices, purchases.likely),
  atMost: moneyOf(prices, { ...purchases.atMost, reveals: revealsAtMost }),
});

/** The present cost of the rows of an input. `examineAtMost` limits how many are examined one by one. */
export async function planInput(
  job: ListOptions,
  list: OpenList | null,
  environment: AppEnvironment,
  examineAtMost?: number,
): Promise<RunPlan> {
  return await planRun({
    rows: list === null ? rowsOfFile(job) : reportRowProgress(list.rows(), environment),
    pipeline: job.pipeline,
    notBefore: (list?.fresh ?? job.fresh) ? Number.POSITIVE_INFINITY : 0,
    examineAtMost,
    now: environment.clock.now(),
    ledger: list?.ledger ?? null,
    environments: list === null ? { v1: null, v2: null } : await providerIdsOf(list.names, list.ledger),
  });
}

async function lastRunOf(list: OpenList): Promise<PlannedRun | null> {
  const last = list.known && (await list.ledger.portfolios.lastRun(list.known.id));
  return last === undefined
    ? null
    : { id: last.id, finished: last.state !== 'open', continues: list.continues(last), fresh: isFresh(last) };
}

export type { ColumnChoice, ColumnDoubt, DecidedBy, ReadColumn, ReadingOptions } from '../../input/types.js';

/** How the file is to be read, as far as options say it. */
export interface ReadingPreferences {
  readonly reading?: ReadingOptions | undefined;
  /** Null means none of the columns, undefined no answer. Without this function such a file is refused. */
  readonly askColumns?: ((doubt: ColumnDoubt) => Promise<ColumnChoice | null | undefined>) | undefined;
}

/** The options of this command and those agreed to for this list before. */
async function resolveReadingOptions(
  list: string,
  { reading, askColumns: ask, ...options }: ReadingPreferences & ProviderOptions,
  environment: AppEnvironment,
): Promise<Pick<InputOptions, keyof ReadingOptions | 'agreed' | 'askColumns'>> {
  const askColumns: AskColumns | undefined =
    ask &&
    (async (doubt) => {
      const choice = await ask(doubt);
      if (choice === undefined) throw new DeclinedError();
      return choice;
    });
  return { ...reading, agreed: await agreedBefore(list, options, environment), askColumns };
}

/** An unreadable ledger is reported by the step that needs it. */
async function agreedBefore(list: string, options: ProviderOptions, environment: AppEnvironment) {
  try {
    if (!(await hasCurrentLedger(ledgerOf(options, environment)))) return undefined;
    const providers = providersKey(providerNames(options, environment));
    const quietly = { ...environment, onNote: undefined };
    return await withLedger('read', options, quietly, async ({ portfolios }) => {
      const known = await portfolios.find(list, providers);
      return known?.agreed ? { ...known.agreed, columns: known.columns } : undefined;
    });
  } catch (error) {
    if (error instanceof KybatchError) return undefined;
    throw error;
  }
}

type Again = Extract<ContinueStep, { readonly kind: 'run' | 'plan' }>;

/** If no person can say which column is meant, refuses the file and gives one command for each likely reading. */
export async function explainUnclearColumns<T>(again: Again, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ColumnsUnclearError)) throw error;
    const { message, code, hint, exit, ways, noHeader } = error;
    const readAs = (flags: readonly string[]): Again => {
      const settled = new Set(flags.map(fieldIn));
      const kept = (again.reading?.map ?? []).filter((flag) => !settled.has(fieldIn(flag)));
      const headerLine = noHeader === undefined ? {} : { headerLine: 0 };
      return { ...again, reading: { ...again.reading, ...headerLine, map: [...kept, ...flags] } };
    };
    const [first, ...others] = ways;
    throw new ContinueError(message, readAs(first), { code, hint, exit, cause: error, others: others.map(readAs) });
  }
}

const fieldIn = (flag: string): string => flag.slice(0, flag.indexOf('='));

/** Rows between two progress reports: reading must stay far slower than reporting. */
const EVERY = 1000;

function reportTableProgress(table: InputTable, { onReading }: AppEnvironment): InputTable {
  if (onReading === undefined) return table;
  const rows: InputTable['rows'] = () => {
    let share: number | null = null;
    const read = table.rows((done) => {
      share = done;
    });
    return reportRowProgress(read, { onReading }, () => share);
  };
  return { ...table, rows };
}

async function* reportRowProgress<Row extends { readonly row: number }>(
  rows: AsyncIterable<Row>,
  { onReading }: Pick<AppEnvironment, 'onReading'>,
  share: () => number | null = () => null,
): AsyncGenerator<Row> {
  try {
    for await (const row of rows) {
      if (row.row % EVERY === 0) onReading?.({ rows: row.row, share: share() });
      yield row;
    }
  } finally {
    onReading?.(null);
  }
}
