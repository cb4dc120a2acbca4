import { asks, type LoadedPipeline, loadPipeline } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import type { PermissionUse } from '../domain/permission-use.js';
import { planRun, type RunPlan } from '../engine/plan.js';
import { readInput } from '../input/read-input.js';
import type { InputRemarks, InputTable } from '../input/types.js';
import type { Ledger } from '../ledger/ledger.js';
import { hasLedger } from '../ledger/open-ledger.js';
import type { DueReason } from '../ledger/portfolios.js';
import { leadsFollowed } from '../stages/identity/fallback-steps.js';
import { firstFew } from '../util/first-few.js';
import { type HowToRead, howToRead, orSayHowToRead } from './how-to-read.js';
import { defaultPortfolio, type InputFile, pipedNotes, withInputFile } from './input-file.js';
import { rowsLost } from './lost-rows.js';
import { ownedElsewhere } from './owned-elsewhere.js';
import { permissionReader } from './permission-reader.js';
import { type PlannedPermission, plannedPermissions, toldNowOrBefore } from './plan-permissions.js';
import { type ListOptions, notesOn, OpenList, portfolioName, rowsOfFile } from './portfolio.js';
import { isSandboxName, type ProviderNames, type ProviderOptions, providerNames, withProvider } from './provider.js';
import { environmentsOf } from './rest.js';
import { wholeNumber } from './spending.js';
import { isFresh } from './stored-settings.js';
import { here, ledgerOf, type Surroundings, withLedger } from './surroundings.js';
import { tellingRows, tellingTable } from './telling-rows.js';

/** Which rows, and how they are worked on. */
export interface JobOptions extends ProviderOptions, HowToRead {
  /** The file with the companies; `-` for what is piped in. */
  readonly input: string;
  /** A name or a file; `analyst` without it. */
  readonly pipeline?: string | undefined;
  /** The name of the portfolio that the file is the list of; its path without it. */
  readonly portfolio?: string | undefined;
  /** Only the first rows. */
  readonly limit?: number | undefined;
  /** No answer that was bought before is used. */
  readonly fresh?: boolean | undefined;
}

/** What a run would do and cost. */
export interface PlanView extends RunPlan {
  /** When it was made. */
  readonly at: number;
  /** It is of the simulated provider that ships with kybatch. */
  readonly sandbox: boolean;
  /** The path of the input. */
  readonly input: string;
  /** The name of the portfolio that would be brought up to date. */
  readonly portfolio: string;
  /** Why rows of it are due; nothing where it is not known yet. */
  readonly due: Readonly<Partial<Record<DueReason, number>>>;
  /** The last run of it; null: there is none yet. */
  readonly run: PlannedRun | null;
  /**
   * What v2 counts, under the permissions that the pipeline names, or all where it names none: as it says now, else as it
   * last said; null: it never did.
   */
  readonly permissions: readonly PlannedPermission[] | null;
  /** Whether the pipeline asks v1 for anything: otherwise nothing is counted in units. */
  readonly asksV1: boolean;
  /** What the pipeline watches; null: no such guard. */
  readonly guards: LoadedPipeline['guards'];
  /** What follows where an answer is lost. Its bounds count each call once. */
  readonly inDoubt: LoadedPipeline['inDoubt'];
  /** Which column is read as what, and those that are carried through only. */
  readonly columns: PlannedColumns;
  /** The guard that would refuse this input, and why; null: none would. */
  readonly refusedBy: { readonly code: string; readonly message: string; readonly hint: string | undefined } | null;
  /** What of the file was read otherwise than it stands there. */
  readonly remarks: InputRemarks;
}

export interface PlannedColumns extends Pick<InputTable, 'read' | 'country'> {
  /** The names of all columns, in their order. */
  readonly all: readonly string[];
}

export interface PlannedRun {
  readonly id: string;
  /** It is finished; otherwise it goes on, unless another takes over. */
  readonly finished: boolean;
  /** Answers from before it are not used. */
  readonly fresh: boolean;
}

/** Tells what a run of this input would do and cost. Nothing is spent, nothing is written; v2 is asked what it counts. */
export async function plan(options: JobOptions, around: Surroundings = here()): Promise<PlanView> {
  return await withInputFile(options.input, around, async (file) => {
    const job = await orSayHowToRead(againAs('plan', options), () => readJob(file, options, around));
    return await planOf(job, options, around);
  });
}

/** The same for an input that is read already. */
export async function planOf(job: Job, options: JobOptions, around: Surroundings): Promise<PlanView> {
  const names = providerNames(options, around);
  const use = await permissionsNow(job, options, around);
  if (!(await hasLedger(ledgerOf(options, around)))) return await planJob(job, null, names, null, around, use);
  return await withLedger('read', options, around, async (ledger) => {
    for (const note of await ownedElsewhere(names, ledger)) around.onNote?.(note);
    const list = await OpenList.open(job, names, ledger, around.clock.now());
    for (const note of notesOn(list)) around.onNote?.(note);
    return await planJob(job, list, names, ledger, around, use);
  });
}

/** The embedded sandbox counts in a file beside the ledger, which a plan does not touch. */
async function permissionsNow({ pipeline }: Job, options: JobOptions, around: Surroundings) {
  if (options.sandbox === true) return null;
  return await withProvider(options, around, async (provider) => {
    return (await permissionReader(pipeline, provider)?.atStart()) ?? null;
  });
}

export type Job = ListOptions;

/** Reads pipeline and input; what is odd about the input is noted. */
export async function readJob(
  file: InputFile,
  options: JobOptions,
  around: Surroundings,
  pipeline = loadPipeline(options.pipeline ?? 'analyst', around.cwd, around.onNote),
): Promise<Job> {
  const limit = wholeNumber('--limit', options.limit, 1) ?? null;
  const portfolio = nameGiven(options.portfolio);
  const table = await readInput(file.path, {
    shownAs: file.shownAs,
    synonyms: pipeline.columns,
    leads: leadsFollowed(pipeline.search.fallback),
    ...(await howToRead(portfolio ?? defaultPortfolio(file.input), options, around)),
  });
  await mustHaveRows(table);
  for (const note of pipedNotes(file, options.portfolio)) around.onNote?.(note);
  for (const warning of firstFew(table.warnings, (text) => text, 'notes')) around.onNote?.(warning);
  return {
    table: { ...tellingTable(table, around), path: file.input },
    pipeline,
    limit,
    fresh: options.fresh ?? false,
    portfolio,
    reading: options.reading,
  };
}

/** The same once more, as a step. */
export const againAs = <K extends 'run' | 'plan'>(
  kind: K,
  { input, pipeline = 'analyst', limit, portfolio, fresh = false, reading }: JobOptions,
) => ({ kind, input, pipeline, limit: limit ?? null, portfolio, fresh, reading });

function nameGiven(name: string | undefined): string | undefined {
  if (name === undefined || name.trim() !== '') return name?.trim();
  throw new UsageError('--portfolio is empty', 'Leave it out to name the portfolio by the path of its file.');
}

/** A file without any data row is always a feed that broke: nobody asks for nothing. */
async function mustHaveRows({ path, rows }: InputTable): Promise<void> {
  for await (const _ of rows()) return;
  throw new UsageError(
    `${path} has a header and no row with anything in it`,
    'Nothing was spent, and nothing that was exported before was touched. Send the file again.',
    'EMPTY_INPUT',
  );
}

/** `list`: the input beside its portfolio; null where nothing was ever bought. */
export async function planJob(
  job: Job,
  list: OpenList | null,
  names: ProviderNames,
  ledger: Ledger | null,
  around: Surroundings,
  use: readonly PermissionUse[] | null,
): Promise<PlanView> {
  const { table, pipeline } = job;
  const planned = await planInput(job, list, names, ledger, around);
  const at = around.clock.now();
  const told = asks(pipeline, 'v2') ? await toldNowOrBefore({ use, at }, names.v2, ledger) : null;
  return {
    at,
    sandbox: isSandboxName(names.v1),
    input: table.path,
    ...planned,
    portfolio: portfolioName(job),
    due: list?.due ?? {},
    run: await lastRunOf(list, ledger),
    permissions: told && plannedPermissions(told, planned, pipeline),
    asksV1: asks(pipeline, 'v1'),
    guards: pipeline.guards,
    inDoubt: pipeline.inDoubt,
    columns: { read: table.read, country: table.country, all: table.columns },
    refusedBy: ledger === null || list === null ? null : await refusalOf(job, list, ledger),
    remarks: table.remarks(),
  };
}

/** What the rows of an input would cost now. `toldApart` bounds how many are looked at one by one. */
export async function planInput(
  job: Job,
  list: OpenList | null,
  names: ProviderNames,
  ledger: Ledger | null,
  around: Surroundings,
  toldApart?: number,
): Promise<RunPlan> {
  return await planRun({
    rows: list === null ? rowsOfFile(job) : tellingRows(list.rows(), around),
    pipeline: job.pipeline,
    fresh: job.fresh,
    toldApart,
    now: around.clock.now(),
    ledger,
    environments: await environmentsOf(names, ledger),
  });
}

async function lastRunOf(list: OpenList | null, ledger: Ledger | null): Promise<PlannedRun | null> {
  const last = list?.known && (await ledger?.portfolios.lastRun(list.known.id));
  return last === undefined || list === null
    ? null
    : { id: last.id, finished: last.state !== 'open', fresh: isFresh(last) };
}

async function refusalOf(job: Job, list: OpenList, { portfolios }: Ledger) {
  const refusal = await rowsLost(list, job, portfolios);
  return refusal === undefined ? null : { code: refusal.code, message: refusal.message, hint: refusal.hint };
}
