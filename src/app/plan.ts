import { type LoadedPipeline, loadPipeline } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import type { PermissionUse } from '../domain/permission-use.js';
import { planRun, type RunPlan } from '../engine/plan.js';
import { readInput } from '../input/read-input.js';
import type { InputTable } from '../input/types.js';
import type { Ledger } from '../ledger/ledger.js';
import { hasLedger } from '../ledger/open-ledger.js';
import type { RunRecord } from '../ledger/runs.js';
import { firstFew } from '../util/first-few.js';
import { rowsLost } from './lost-rows.js';
import { findRunOf } from './open-run.js';
import { ownedElsewhere } from './owned-elsewhere.js';
import { permissionReader } from './permission-reader.js';
import { type ProviderNames, type ProviderOptions, providerNames, withProvider } from './provider.js';
import { environmentsOf } from './rest.js';
import { wholeNumber } from './spending.js';
import { isFresh } from './stored-settings.js';
import { dataDirOf, here, pathIn, type Surroundings, withLedger } from './surroundings.js';

/** Which rows, and how they are worked on. */
export interface JobOptions extends ProviderOptions {
  /** The file with the companies. */
  readonly input: string;
  /** A name or a file; `analyst` without it. */
  readonly pipeline?: string | undefined;
  /** Only the first rows. */
  readonly limit?: number | undefined;
  /** No answer that was bought before is used. */
  readonly fresh?: boolean | undefined;
}

/** What a run would do and cost. */
export interface PlanView extends RunPlan {
  /** The path of the input. */
  readonly input: string;
  /** The run of this input that would go on, or is finished; null: a new one would begin. */
  readonly run: PlannedRun | null;
  /** What v2 counts now, under the permissions that the pipeline names, or all where it names none; null: it did not tell. */
  readonly permissions: readonly PermissionUse[] | null;
  /** What the pipeline watches; null: no such guard. */
  readonly guards: LoadedPipeline['guards'];
  /** What follows where an answer is lost. Its bounds count each call once. */
  readonly inDoubt: LoadedPipeline['inDoubt'];
  /** The guard that would refuse this input, and why; null: none would. */
  readonly refusedBy: { readonly code: string; readonly message: string; readonly hint: string | undefined } | null;
}

export interface PlannedRun {
  readonly id: string;
  /** It is finished: nothing would be done. */
  readonly finished: boolean;
  /** Answers from before it are not used. */
  readonly fresh: boolean;
}

/** Tells what a run of this input would do and cost. Nothing is spent, nothing is written; v2 is asked what it counts. */
export async function plan(options: JobOptions, around: Surroundings = here()): Promise<PlanView> {
  return await planOf(await readJob(options, around), options, around);
}

/** The same for an input that is read already. */
export async function planOf(job: Job, options: JobOptions, around: Surroundings): Promise<PlanView> {
  const names = providerNames(options, around);
  const use = await permissionsNow(job, options, around);
  if (!hasLedger(dataDirOf(options, around))) return await planJob(job, undefined, names, null, around, use);
  return await withLedger('read', options, around, async (ledger) => {
    for (const note of await ownedElsewhere(names, ledger)) around.onNote?.(note);
    return await planJob(job, await runOf(job, names, ledger), names, ledger, around, use);
  });
}

/** The embedded sandbox counts in a file beside the ledger, which a plan does not touch. */
async function permissionsNow({ pipeline }: Job, options: JobOptions, around: Surroundings) {
  if (options.sandbox === true) return null;
  return await withProvider(options, around, async (provider) => {
    return (await permissionReader(pipeline, provider)?.atStart()) ?? null;
  });
}

export interface Job {
  readonly table: InputTable;
  readonly pipeline: LoadedPipeline;
  readonly limit: number | null;
  readonly fresh: boolean;
}

/** Reads pipeline and input; what is odd about the input is noted. */
export async function readJob(options: JobOptions, around: Surroundings): Promise<Job> {
  const pipeline = loadPipeline(options.pipeline ?? 'analyst', around.cwd);
  const limit = wholeNumber('--limit', options.limit, 1) ?? null;
  const table = await readInput(pathIn(around, options.input), { synonyms: pipeline.columns });
  await mustHaveRows(table);
  for (const warning of firstFew(table.warnings, (text) => text, 'notes')) around.onNote?.(warning);
  return { table, pipeline, limit, fresh: options.fresh ?? false };
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

/** As a run would find it; `fresh` begins another. */
async function runOf({ table, ...job }: Job, { v1, v2 }: ProviderNames, { runs }: Ledger) {
  return job.fresh ? undefined : await findRunOf(table.sha256, { ...job, providers: [v1, v2] }, runs);
}

/** `before`: the run of the same input that a start would find. */
export async function planJob(
  job: Job,
  before: RunRecord | undefined,
  names: ProviderNames,
  ledger: Ledger | null,
  around: Surroundings,
  use: readonly PermissionUse[] | null,
): Promise<PlanView> {
  const { table, pipeline } = job;
  const named = Object.keys(pipeline.permissions);
  const permissions = use?.filter(({ permission }) => named.length === 0 || named.includes(permission)) ?? null;
  return {
    input: table.path,
    ...(await planInput(job, before, names, ledger, around)),
    run: viewOfRun(before),
    permissions,
    guards: pipeline.guards,
    inDoubt: pipeline.inDoubt,
    refusedBy: ledger === null || before !== undefined ? null : await refusalOf(job, names, ledger),
  };
}

/** What the rows of an input would cost now. `toldApart` bounds how many are looked at one by one. */
export async function planInput(
  { table, pipeline, limit, fresh }: Job,
  before: RunRecord | undefined,
  names: ProviderNames,
  ledger: Ledger | null,
  { clock }: Surroundings,
  toldApart?: number,
): Promise<RunPlan> {
  const run = viewOfRun(before) === null ? undefined : before;
  return await planRun({
    table,
    pipeline,
    limit,
    run,
    fresh: run === undefined ? fresh : isFresh(run),
    toldApart,
    now: clock.now(),
    ledger,
    environments: await environmentsOf(names, ledger),
  });
}

/** A run whose input was not read to the end begins anew. */
const viewOfRun = (run: RunRecord | undefined): PlannedRun | null =>
  run === undefined || run.state === 'reading'
    ? null
    : { id: run.id, finished: run.state === 'finished', fresh: isFresh(run) };

/** A run that goes on, or is finished, is not refused for its input. */
async function refusalOf({ table, ...job }: Job, { v1, v2 }: ProviderNames, { runs }: Ledger) {
  const refusal = await rowsLost(table, { ...job, providers: [v1, v2] }, runs);
  return refusal === undefined ? null : { code: refusal.code, message: refusal.message, hint: refusal.hint };
}
