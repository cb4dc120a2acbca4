import { type LoadedPipeline, loadPipeline } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import type { PermissionUse } from '../domain/permission-use.js';
import { planRun, type RunPlan } from '../engine/plan.js';
import { readInput } from '../input/read-input.js';
import type { InputTable } from '../input/types.js';
import type { Ledger } from '../ledger/ledger.js';
import { hasLedger } from '../ledger/open-ledger.js';
import { firstFew } from '../util/first-few.js';
import { rowsLost } from './lost-rows.js';
import { findRunOf } from './open-run.js';
import { ownedElsewhere } from './owned-elsewhere.js';
import { permissionReader } from './permission-reader.js';
import { type ProviderNames, type ProviderOptions, providerNames, withProvider } from './provider.js';
import { environmentsOf } from './rest.js';
import { wholeNumber } from './spending.js';
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
  /** What v2 counts now, under the permissions that the pipeline names, or all where it names none; null: it did not tell. */
  readonly permissions: readonly PermissionUse[] | null;
  /** What the pipeline watches; null: no such guard. */
  readonly guards: LoadedPipeline['guards'];
  /** The guard that would refuse this input, and why; null: none would. */
  readonly refusedBy: { readonly code: string; readonly message: string; readonly hint: string | undefined } | null;
}

/** Tells what a run of this input would do and cost. Nothing is spent, nothing is written; v2 is asked what it counts. */
export async function plan(options: JobOptions, around: Surroundings = here()): Promise<PlanView> {
  const job = await readJob(options, around);
  const names = providerNames(options, around);
  const use = await permissionsNow(job, options, around);
  if (!hasLedger(dataDirOf(options, around))) return await planJob(job, names, null, around, use);
  return await withLedger('read', options, around, async (ledger) => {
    for (const note of await ownedElsewhere(names, ledger)) around.onNote?.(note);
    return await planJob(job, names, ledger, around, use);
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

export async function planJob(
  { table, pipeline, limit, fresh }: Job,
  names: ProviderNames,
  ledger: Ledger | null,
  around: Surroundings,
  use: readonly PermissionUse[] | null,
): Promise<PlanView> {
  const environments = await environmentsOf(names, ledger);
  const planned = await planRun({ table, pipeline, limit, fresh, now: around.clock.now(), ledger, environments });
  const named = Object.keys(pipeline.permissions);
  const permissions = use?.filter(({ permission }) => named.length === 0 || named.includes(permission)) ?? null;
  const refusedBy = ledger === null ? null : await refusalOf({ table, pipeline, limit, fresh }, names, ledger);
  return { input: table.path, ...planned, permissions, guards: pipeline.guards, refusedBy };
}

/** As a run would find it: one that goes on, or is finished, is not refused for its input. */
async function refusalOf({ table, ...job }: Job, { v1, v2 }: ProviderNames, { runs }: Ledger) {
  const settings = { ...job, providers: [v1, v2] };
  if (!job.fresh && (await findRunOf(table.sha256, settings, runs)) !== undefined) return null;
  const refusal = await rowsLost(table, settings, runs);
  return refusal === undefined ? null : { code: refusal.code, message: refusal.message, hint: refusal.hint };
}
