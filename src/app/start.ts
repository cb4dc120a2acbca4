import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PermissionReader } from '../engine/permissions.js';
import { mostOf, TOLD_APART } from '../engine/plan.js';
import { type Amounts, type Rest, within } from '../engine/row-cost.js';
import type { Ledger } from '../ledger/ledger.js';
import { hasLedger } from '../ledger/open-ledger.js';
import type { RunRecord } from '../ledger/runs.js';
import { checkTables, writeTables } from './export.js';
import { mustHaveSpace } from './free-space.js';
import { mustHaveKeptRows } from './lost-rows.js';
import { findRunOf, openRun } from './open-run.js';
import { ownedElsewhere } from './owned-elsewhere.js';
import { permissionReader } from './permission-reader.js';
import { type Job, type JobOptions, type PlanView, planInput, planJob, planOf, readJob } from './plan.js';
import { mustBeAllowed } from './preflight.js';
import { checkConfiguration, checkProvider, providerNames, withProvider } from './provider.js';
import { restOf } from './rest.js';
import { knowingSheet } from './review-sheet.js';
import { nextSteps, type RunEndView, viewOfRest } from './run-end.js';
import { boundsOf, DeclinedError, mustAgreeToSpend, type SpendingBounds, type SpendingOptions } from './spending.js';
import { isFresh, readSettings, type StoredSettings } from './stored-settings.js';
import { dataDirOf, here, type Surroundings, withLedger } from './surroundings.js';
import { workOn } from './work-on.js';

export interface RunOptions extends JobOptions, SpendingOptions {
  /** Asked before anything is spent. Without it, `yes` or a `budget` is needed, unless it is the sandbox. */
  readonly agree?: ((proposal: Proposal) => Promise<boolean>) | undefined;
}

/** What is about to be spent, and on what. */
export interface Proposal {
  readonly plan: PlanView;
  /** The plan's bounds, or the budgets where those are lower. */
  readonly atMost: Amounts;
}

/**
 * Takes the companies of a file through the pipeline, or goes on with the unfinished run of the same file, pipeline and
 * provider. Where that is finished there is nothing to do, unless `fresh` asks for everything anew.
 */
export async function run(options: RunOptions, around: Surroundings = here()): Promise<RunEndView> {
  const job = await readJob(options, around);
  const bounds = boundsOf(options, job.pipeline);
  const { v1, v2 } = providerNames(options, around);
  const { table, fresh, limit } = job;
  // Kept with the speed that was asked for, so that `resume` holds to it.
  const pipeline = { ...job.pipeline, concurrency: bounds.concurrency };
  const settings: StoredSettings = { pipeline, fresh, limit, providers: [v1, v2] };
  checkConfiguration(pipeline, options, around);
  const isNew = await mustBeFreeToBegin(options, around);
  // Who is asked before there is a ledger, and says no, has created nothing.
  const agreed = isNew ? await agreedToBegin(job, bounds, options, around) : undefined;
  return await withLedger('write', options, around, async (ledger, dataDir) => {
    const before = fresh ? undefined : await findRunOf(table.sha256, settings, ledger.runs);
    if (before !== undefined) await ledger.runs.mustBeReadable(before.id);
    if (before?.state === 'finished') return await viewOfFinished(before, options, dataDir, ledger, around);
    if (before === undefined) await mustHaveKeptRows(table, settings, ledger.runs);
    for (const note of await ownedElsewhere({ v1, v2 }, ledger)) around.onNote?.(note);
    mustAgreeToSpend(options, options.agree !== undefined);
    if (options.export !== false) await checkTables(options, before?.id ?? null, dataDir, around);
    return await withProvider(
      options,
      around,
      async (provider) => {
        checkProvider(pipeline, provider);
        const permissions = permissionReader(pipeline, provider, options.drain);
        const rest = agreed ?? (await agreedRest(job, bounds, before, { ...options, permissions }, ledger, around));
        const maySpend = { ...rest, ...within(rest, bounds.limits) };
        const open = () => openRun(table, settings, ledger.runs, around.clock);
        // Who is refused can resume. But nothing fresh is left behind, with which the next start would buy what is owned.
        const opened = fresh ? undefined : await open();
        await mustBeAllowed(pipeline, maySpend, provider, permissions, ledger, around);
        const run = opened ?? (await open());
        const goesOn = { run, fresh: isFresh(run), goesOn: isOpen(before) };
        return await workOn({ ...bounds, ...goesOn, pipeline, rest, options, permissions }, provider, ledger, around);
      },
      { deadlineMs: pipeline.deadlineMs, keepSandbox: true },
    );
  });
}

/** A start that is refused for what the user pointed at creates nothing, not even a ledger. True if there is none yet. */
async function mustBeFreeToBegin(options: RunOptions, around: Surroundings): Promise<boolean> {
  const dataDir = dataDirOf(options, around);
  const isNew = !hasLedger(dataDir);
  // Where there is no ledger there is no finished run either, of which nothing is left to spend.
  if (isNew) mustAgreeToSpend(options, options.agree !== undefined);
  mustHaveSpace(options, around);
  // Where nobody says where, a finished run writes nothing, and a place that is not there is made with the ledger.
  const named = options.out !== undefined || (isNew && existsSync(join(dataDir, 'exports')));
  if (named && options.export !== false) await checkTables(options, null, dataDir, around);
  return isNew;
}

const isOpen = (run: RunRecord | undefined): run is RunRecord => run?.state === 'open';

/** What the start can cost. The plan is made for whoever is asked; nothing is spent before a yes. */
async function agreedRest(
  job: Job,
  { limits }: SpendingBounds,
  before: RunRecord | undefined,
  options: RunOptions & { readonly permissions: PermissionReader | undefined },
  ledger: Ledger,
  around: Surroundings,
): Promise<Rest> {
  const names = providerNames(options, around);
  if (options.agree === undefined)
    return isOpen(before)
      ? await restOf({ run: before, ...readSettings(before), outcome: 'pending' }, names, ledger, around)
      : mostOf(await planInput(job, before, names, ledger, around, TOLD_APART));
  const use = (await options.permissions?.atStart()) ?? null;
  return await agreedTo(await planJob(job, before, names, ledger, around, use), limits, options.agree);
}

/** The same where nothing was ever bought, without a ledger. Undefined where nobody is to be asked. */
async function agreedToBegin(
  job: Job,
  { limits }: SpendingBounds,
  options: RunOptions,
  around: Surroundings,
): Promise<Rest | undefined> {
  if (options.agree === undefined) return undefined;
  return await agreedTo(await planOf(job, options, around), limits, options.agree);
}

async function agreedTo(
  plan: PlanView,
  limits: SpendingBounds['limits'],
  agree: NonNullable<RunOptions['agree']>,
): Promise<Rest> {
  const rest = mostOf(plan);
  if (!(await agree({ plan, atMost: within(rest, limits) }))) throw new DeclinedError();
  return rest;
}

/** Everything was bought. The tables are written again only if somebody says where or how. */
async function viewOfFinished(
  run: RunRecord,
  options: RunOptions,
  dataDir: string,
  ledger: Ledger,
  around: Surroundings,
): Promise<RunEndView> {
  const { out, formats } = options;
  const wanted = out !== undefined || formats !== undefined || options.export === true;
  const written = wanted ? await writeTables(run.id, ledger, dataDir, { out, formats }, around) : null;
  const progress = await ledger.runs.progress(run.id);
  return viewOfRest(run, progress, await knowingSheet(nextSteps(run, progress), ledger, around), written);
}
