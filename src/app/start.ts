import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadPipeline } from '../config/pipeline.js';
import type { PermissionReader } from '../engine/permissions.js';
import { mostOf, TOLD_APART } from '../engine/plan.js';
import { type Rest, within } from '../engine/row-cost.js';
import type { Ledger } from '../ledger/ledger.js';
import { hasLedger } from '../ledger/open-ledger.js';
import type { Converged } from '../ledger/portfolios.js';
import type { RunRecord } from '../ledger/runs.js';
import { adoptRuns } from './adopt-runs.js';
import { COST_NOTHING } from './book-check.js';
import { checkTables } from './export.js';
import { mustHaveSpace } from './free-space.js';
import { type GuardFinding, type GuardOptions, mustNameGuards, mustPass } from './guards.js';
import { orSayHowToRead } from './how-to-read.js';
import { defaultPortfolio, nameOfInput, withInputFile } from './input-file.js';
import { mustKnowNames, namesWritten } from './known-names.js';
import { mustHaveKeptRows } from './lost-rows.js';
import { newLedger } from './new-ledger.js';
import { newProvider } from './new-provider.js';
import { MetricsFile } from './night/metrics-file.js';
import { notingRefusal } from './night/refused-start.js';
import { thenTell } from './night/then-tell.js';
import { untilNobodyLeads } from './nobody-leads.js';
import { isAllInvalid } from './nothing-to-buy.js';
import { ownedElsewhere } from './owned-elsewhere.js';
import { permissionReader } from './permission-reader.js';
import { againAs, type Job, type JobOptions, type PlanView, planInput, planJob, planOf, readJob } from './plan.js';
import { notesOn, OpenList } from './portfolio.js';
import { mustBeAllowed } from './preflight.js';
import { checkConfiguration, checkProvider, type ProviderNames, providerNames, withProvider } from './provider.js';
import { pullFirst } from './pull-first.js';
import { remarkNotes } from './remark-notes.js';
import { restOf } from './rest.js';
import type { RunEndView } from './run-end.js';
import {
  boundsOf,
  DeclinedError,
  mayBegin,
  mustAgreeToSpend,
  type SpendingBounds,
  type SpendingOptions,
} from './spending.js';
import { isFresh, looksFresh } from './stored-settings.js';
import { dataDirOf, here, ledgerOf, pathIn, type Surroundings, withLedger } from './surroundings.js';
import { viewOfUpToDate } from './up-to-date.js';
import { workOn } from './work-on.js';

export interface RunOptions extends JobOptions, SpendingOptions {
  /** Asked before anything is spent. Without it, `yes` or a `budget` is needed, unless it is the sandbox. */
  readonly agree?: ((proposal: Proposal) => Promise<boolean>) | undefined;
}

/** What is about to be spent, and on what. */
export interface Proposal {
  readonly plan: PlanView;
  /** The plan's bounds, or the budgets where those are lower. */
  readonly atMost: Rest;
  /** What guards have found, which would refuse the start where nobody is asked. */
  readonly findings: readonly GuardFinding[];
}

/**
 * Brings the portfolio of a file up to date: what is new is resolved, what is stale is bought again, what is unfinished goes
 * on. Where nothing is due nothing is done, unless `fresh` asks for everything anew.
 */
export const run = (options: RunOptions, around: Surroundings = here()): Promise<RunEndView> =>
  thenTell(options, around, async (toBeTold) => {
    const input = nameOfInput(options.input, around);
    let metrics: MetricsFile | null = null;
    return await notingRefusal(
      options.portfolio?.trim() ?? defaultPortfolio(input),
      options,
      around,
      async (begins) => {
        const pipeline = loadPipeline(options.pipeline ?? 'analyst', around.cwd, around.onNote);
        toBeTold({ notify: pipeline.notify, input });
        metrics = MetricsFile.of(pipeline, input, dataDirOf(options, around), around);
        return await withInputFile(options.input, around, async (file) => {
          const read = () => readJob(file, options, around, pipeline);
          const job = await orSayHowToRead(againAs('run', options), read);
          const asked = (await isAllInvalid(job)) ? { ...options, yes: true, agree: undefined } : options;
          return await bringUpToDate(job, metrics, asked, around, begins);
        });
      },
      async (ledger) => await metrics?.write(ledger, providerNames(options, around), null),
    );
  });

async function bringUpToDate(
  job: Job,
  metrics: MetricsFile | null,
  options: RunOptions,
  around: Surroundings,
  begins: () => void,
): Promise<RunEndView> {
  mustNameGuards(options);
  const bounds = boundsOf(options, job.pipeline);
  const names = providerNames(options, around);
  // Kept with the speed that was asked for, so that `resume` holds to it.
  const pipeline = { ...job.pipeline, concurrency: bounds.concurrency };
  checkConfiguration(pipeline, options, around);
  const isNew = await mustBeFreeToBegin(pipeline, options, around);
  const place = { dataDir: dataDirOf(options, around), out: options.out && pathIn(around, options.out) };
  // Who is asked before there is a ledger, and says no, has created nothing.
  const foundBefore = isNew ? mustPass(await newLedger(place, names, null), options) : [];
  const agreed = isNew ? await agreedToBegin(job, bounds, foundBefore, options, around) : undefined;
  return await withLedger('write', options, around, async (ledger, dataDir) => {
    const findings = isNew ? [] : mustPass(await findingsOf(job, place, names, ledger, around), options);
    const list = await openList({ ...job, pipeline }, names, options, ledger, around);
    // A run that takes over what another one has not done would take it from who works on it.
    if (list.known !== undefined) {
      const { id } = list.known;
      const ofList = { isMeant: (run: RunRecord) => run.portfolioId === id, called: 'a run of this list' };
      await untilNobodyLeads(ofList, options, ledger, around);
    }
    // Whoever is asked is shown the plan, which tells it.
    if (list.file.laid && options.agree === undefined)
      for (const note of remarkNotes(job.table.remarks())) around.onNote?.(note);
    const heard = await pullFirst(pipeline, list.known, options, ledger, dataDir, around);
    const watchAsked = heard?.companies ?? 0;
    const upToDate = async (converged: Converged) => {
      const view = { ...(await viewOfUpToDate(converged, list, options, dataDir, ledger, around)), watchAsked };
      await metrics?.write(ledger, names, null);
      return view;
    };
    const begin = async () => {
      const converged = await list.begin();
      if (converged.run !== null && heard !== null) await ledger.watches.takenUp(converged.run.id, heard.since);
      if (!job.fresh) await tellAnew(converged, ledger, around);
      return converged;
    };
    const nobodyIsAsked = options.agree === undefined && mayBegin(options, pipeline);
    if (!nobodyIsAsked && !(await list.isAnythingDue())) return await upToDate(await begin());
    for (const note of await ownedElsewhere(names, ledger)) around.onNote?.(note);
    mustAgreeToSpend(options, pipeline, options.agree !== undefined);
    if (options.export !== false) await checkTables(options, null, dataDir, around);
    return await withProvider(
      options,
      around,
      async (provider) => {
        checkProvider(pipeline, provider);
        if (namesWritten(pipeline).length > 0 && (await list.isAnythingDue()))
          await mustKnowNames(pipeline, 'Correct the file.', provider, options, ledger, around);
        const permissions = permissionReader(pipeline, provider, options.drain);
        const asked =
          agreed ?? (await agreedRest(list, job, bounds, findings, { ...options, permissions }, ledger, around));
        const mustBeGranted = (rest: Rest) =>
          mustBeAllowed(pipeline, rest, bounds.limits, provider, permissions, ledger, around, options);
        // Who is refused can resume. But nothing fresh is left behind, with which the next start would buy what is owned.
        let checks = COST_NOTHING;
        if (job.fresh)
          checks = await mustBeGranted(asked ?? mostOf(await planInput(job, list, names, ledger, around, TOLD_APART)));
        const converged = await begin();
        const { run, goesOn, due, invalid, left, leftFirst, members } = converged;
        if (run === null) return await upToDate(converged);
        const remaining = { run, pipeline, fresh: job.fresh, outcome: 'pending' } as const;
        const rest = asked ?? (await restOf(remaining, names, ledger, around));
        if (!job.fresh) checks = await mustBeGranted(rest);
        const told = { list: { due, invalid, left, leftFirst, members }, checks, options, permissions, metrics };
        const start = { ...bounds, run, goesOn, fresh: isFresh(run), pipeline, rest, ...told };
        begins();
        return { ...(await workOn(start, provider, ledger, around)), watchAsked };
      },
      { deadlineMs: pipeline.deadlineMs, keepSandbox: true },
    );
  });
}

/** Rows that were begun anew stay so when another run takes them over: a company has answers of one date. */
async function tellAnew({ superseded }: Converged, { runs }: Ledger, { onNote }: Surroundings): Promise<void> {
  for (const id of superseded) {
    const run = await runs.find(id);
    if (run !== undefined && looksFresh(run))
      onNote?.(`run ${id} was begun with --fresh: what it had not done is bought anew all the same`);
  }
}

/** What would buy the list again. */
const findingsOf = async (
  job: Job,
  place: Parameters<typeof newLedger>[0],
  names: ProviderNames,
  ledger: Ledger,
  around: Surroundings,
): Promise<readonly GuardFinding[]> => [
  ...(await newLedger(place, names, ledger)),
  ...(await newProvider(job, names, ledger, around)),
];

/** The file beside its portfolio, fit to be worked on. */
async function openList(
  job: Job,
  names: ProviderNames,
  guards: GuardOptions,
  ledger: Ledger,
  around: Surroundings,
): Promise<OpenList> {
  await adoptRuns(job, names, ledger, around.clock.now());
  const list = await OpenList.open(job, names, ledger, around.clock.now());
  for (const note of notesOn(list)) around.onNote?.(note);
  for (const run of list.known === undefined ? [] : await ledger.portfolios.holders(list.known.id))
    await ledger.runs.mustBeReadable(run);
  await mustHaveKeptRows(list, job, ledger.portfolios, guards);
  return list;
}

/** A start that is refused for what the user pointed at creates nothing, not even a ledger. True if there is none yet. */
async function mustBeFreeToBegin(
  pipeline: Job['pipeline'],
  options: RunOptions,
  around: Surroundings,
): Promise<boolean> {
  const dataDir = dataDirOf(options, around);
  const isNew = !(await hasLedger(ledgerOf(options, around)));
  // Where there is no ledger there is no finished run either, of which nothing is left to spend.
  if (isNew) mustAgreeToSpend(options, pipeline, options.agree !== undefined);
  mustHaveSpace(options, around);
  // Where nobody says where, a finished run writes nothing, and a place that is not there is made with the ledger.
  const named = options.out !== undefined || (isNew && existsSync(join(dataDir, 'exports')));
  if (named && options.export !== false) await checkTables(options, null, dataDir, around);
  return isNew;
}

/** What the start can cost, where somebody is asked. The plan is made for them; nothing is spent before a yes. */
async function agreedRest(
  list: OpenList,
  job: Job,
  { limits }: SpendingBounds,
  findings: readonly GuardFinding[],
  options: RunOptions & { readonly permissions: PermissionReader | undefined },
  ledger: Ledger,
  around: Surroundings,
): Promise<Rest | undefined> {
  if (options.agree === undefined) return undefined;
  const use = (await options.permissions?.atStart()) ?? null;
  const plan = await planJob(job, list, providerNames(options, around), ledger, around, use);
  return await agreedTo(plan, limits, findings, options.agree);
}

/** The same where nothing was ever bought, without a ledger. Undefined where nobody is to be asked. */
async function agreedToBegin(
  job: Job,
  { limits }: SpendingBounds,
  findings: readonly GuardFinding[],
  options: RunOptions,
  around: Surroundings,
): Promise<Rest | undefined> {
  if (options.agree === undefined) return undefined;
  return await agreedTo(await planOf(job, options, around), limits, findings, options.agree);
}

async function agreedTo(
  plan: PlanView,
  limits: SpendingBounds['limits'],
  findings: readonly GuardFinding[],
  agree: NonNullable<RunOptions['agree']>,
): Promise<Rest> {
  const rest = mostOf(plan);
  if (!(await agree({ plan, atMost: within(rest, limits), findings }))) throw new DeclinedError();
  return rest;
}
