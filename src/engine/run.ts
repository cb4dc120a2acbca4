import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { ApiError } from '../api/errors.js';
import type { ApiName } from '../api/operation.js';
import type { V2OperationName } from '../api/v2/operations.js';
import { type AnyClient, Door } from '../calls/door.js';
import { freshnessMs, type LoadedPipeline, type StageName } from '../config/pipeline.js';
import { defaultMatchPolicy } from '../domain/decide.js';
import type { RowOutcome } from '../domain/outcomes.js';
import type { InputTable } from '../input/types.js';
import type { Ledger, Progress, RunRecord } from '../ledger/ledger.js';
import type { Clock } from '../util/clock.js';
import { Road } from './road.js';
import { takeIn } from './take-in.js';
import { workThrough } from './work.js';

/** A provider and the name its answers are filed under. */
export interface Provider {
  readonly client: AnyClient;
  readonly environment: string;
}

export interface RunSettings {
  readonly pipeline: LoadedPipeline;
  /** Overrides the pipeline's. */
  readonly budgetUnits: number | null;
  readonly concurrency: number;
  /** Only the first rows of the input. */
  readonly limit: number | null;
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
}

/** What a run is found again by, beside its input. The first rows of an input are another job than the whole of it. */
export const identityOf = ({ pipeline, limit }: Pick<RunSettings, 'pipeline' | 'limit'>): string =>
  limit === null ? pipeline.sha256 : `${pipeline.sha256}+limit=${limit}`;

/** The run of this input and pipeline that goes on, or a new one with its rows taken in. */
export async function openRun(
  table: InputTable,
  settings: RunSettings,
  ledger: Ledger,
  clock: Clock,
): Promise<RunRecord> {
  const identity = identityOf(settings);
  const latest = settings.fresh ? undefined : await ledger.latestRun(table.sha256, identity);
  if (latest !== undefined && latest.state !== 'reading') return latest;
  const id = latest?.id ?? newRunId(clock.now());
  if (latest === undefined) {
    await ledger.createRun({
      id,
      inputPath: table.path,
      inputSha256: table.sha256,
      pipelineName: settings.pipeline.name,
      pipelineSha256: identity,
      settings: storeSettings({ pipeline: settings.pipeline, fresh: settings.fresh, limit: settings.limit }),
      columns: table.columns,
      createdAt: clock.now(),
    });
  }
  await takeIn(id, table, settings.limit, ledger);
  const run = await ledger.findRun(id);
  if (run === undefined) throw new Error(`run ${id} vanished`);
  return run;
}

/** JSON knows no Infinity and would write null, which means "asked anew every time". */
const storeSettings = (settings: StoredSettings): string =>
  JSON.stringify(settings, (_, value: unknown) => (value === Infinity ? Number.MAX_SAFE_INTEGER : value));

/** What a run remembers of how it was started, so that it can be resumed without its files. */
export interface StoredSettings {
  readonly pipeline: LoadedPipeline;
  readonly fresh: boolean;
  readonly limit: number | null;
}

export interface RunWork {
  readonly run: RunRecord;
  readonly pipeline: LoadedPipeline;
  readonly budgetUnits: number | null;
  readonly concurrency: number;
  readonly fresh: boolean;
  readonly providers: Readonly<Record<ApiName, Provider | null>>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** The first interrupt: rows under way come home. */
  readonly drain: AbortSignal;
  /** The second: calls in flight are given up. */
  readonly abort: AbortSignal;
  readonly onRow?: (row: number, outcome: RowOutcome, hold: 'waiting' | 'parked' | null) => void;
  readonly onStart?: (watch: RunWatch) => void;
}

/** A look at a run at work, for progress displays. */
export interface RunWatch {
  readonly callsInFlight: () => number;
  readonly lostIntents: number;
}

export interface RunEnd {
  readonly progress: Progress;
  /** What stopped it before its time. */
  readonly stopped: ApiError | undefined;
  readonly interrupted: boolean;
  readonly finished: boolean;
}

/** Drives the rows of a run until none can move. */
export async function workOnRun(work: RunWork): Promise<RunEnd> {
  const { run, pipeline, ledger, clock, drain } = work;
  // Every call and every waiting row listens: that is no leak.
  setMaxListeners(0, work.drain, work.abort);
  const lostIntents = await ledger.flagLostIntents(clock.now());
  await ledger.releaseParked(run.id);
  const environments = { v1: await environmentOf('v1', work), v2: await environmentOf('v2', work) };
  const door = new Door({
    ledger,
    clock,
    apis: { v1: apiOf(work.providers.v1, environments.v1), v2: apiOf(work.providers.v2, environments.v2) },
    retry: pipeline.retry,
    concurrency: work.concurrency,
    breakerFailures: pipeline.breaker.failures,
    budgetUnits: work.budgetUnits,
    spentUnits: await ledger.unitsOfRun(run.id),
    inDoubt: pipeline.inDoubt,
    inDoubtCap: pipeline.inDoubtCap,
    permissions: pipeline.permissions,
    signal: work.abort,
  });
  const road = new Road({
    runId: run.id,
    ledger,
    door,
    clock,
    policy: { ...pipeline, match: { ...defaultMatchPolicy, ...pipeline.match } },
    stages: pipeline.stages,
    environments,
    freshnessMs: (operation) => freshnessMs(pipeline, operation),
    notBefore: work.fresh ? run.createdAt : 0,
    creditReports: await creditReportsLeft(work),
  });
  const onDrain = () => door.drain();
  drain.addEventListener('abort', onDrain, { once: true });
  if (drain.aborted) onDrain();
  work.onStart?.({ callsInFlight: () => door.callsInFlight, lostIntents });
  try {
    await workThrough({
      runId: run.id,
      ledger,
      road,
      clock,
      rowsAtOnce: rowsAtOnce(work.concurrency),
      canStart: () => canStart(pipeline.stages, door),
      isStopping: () => drain.aborted || door.stopped !== undefined,
      stopping: drain,
      onRow: work.onRow ?? (() => {}),
    });
  } finally {
    drain.removeEventListener('abort', onDrain);
    await door.close();
  }
  return await conclude(work, door);
}

async function conclude({ run, ledger, clock, drain }: RunWork, door: Door): Promise<RunEnd> {
  const { stopped } = door;
  if (stopped !== undefined) {
    await ledger.recordError({
      runId: run.id,
      row: null,
      stage: null,
      class: stopped.class,
      code: stopped.code,
      message: stopped.message,
      requestId: stopped.requestId ?? null,
      attempts: 1,
      at: clock.now(),
    });
  }
  const progress = await ledger.progress(run.id);
  const finished = progress.byOutcome.pending === 0;
  if (finished) await ledger.finishRun(run.id, clock.now());
  return { progress, stopped, interrupted: drain.aborted, finished };
}

/** Operations a stage cannot do without. */
export const STAGE_OPERATIONS: Readonly<
  Record<StageName, readonly { readonly api: ApiName; readonly operation: string }[]>
> = {
  record: [
    { api: 'v1', operation: 'searchKyb' },
    { api: 'v1', operation: 'fullKyb' },
  ],
  financials: [
    { api: 'v2', operation: 'kybSearch' },
    { api: 'v2', operation: 'financial' },
  ],
  'credit-report': [
    { api: 'v2', operation: 'creditReportSearch' },
    { api: 'v2', operation: 'creditReportHistory' },
    { api: 'v2', operation: 'creditReportGenerate' },
    { api: 'v2', operation: 'creditReportStatus' },
    { api: 'v2', operation: 'creditReportFetch' },
  ],
};

/** The v2 operations of these stages: each needs a route before the first paid call (V2-15). */
export const v2OperationsOf = (stages: readonly StageName[]): readonly V2OperationName[] =>
  stages
    .flatMap((stage) => STAGE_OPERATIONS[stage])
    .filter(({ api }) => api === 'v2')
    .map(({ operation }) => operation as V2OperationName);

/** A new row gets somewhere as long as one of its stages has all it needs. */
const canStart = (stages: readonly StageName[], door: Door) =>
  stages.some((stage) =>
    STAGE_OPERATIONS[stage].every(({ api, operation }) => door.refusal(api, operation) === undefined),
  );

/** More rows than calls: while one waits for its commit another can send. */
const rowsAtOnce = (concurrency: number) => 2 * concurrency;

/** What earlier starts of the run have generated, or may have, counts. */
async function creditReportsLeft({ run, pipeline, ledger }: RunWork): Promise<number | null> {
  const budget = pipeline.budget.creditReports;
  if (budget === null) return null;
  return Math.max(0, budget - (await ledger.chargedCalls(run.id, 'creditReportGenerate')));
}

const apiOf = (provider: Provider | null, environmentId: number | null) =>
  provider === null || environmentId === null ? null : { client: provider.client, environmentId };

async function environmentOf(api: ApiName, { providers, ledger }: RunWork): Promise<number | null> {
  const provider = providers[api];
  return provider === null ? null : await ledger.environment(api, provider.environment);
}

/** Readable, sortable, and not to be guessed from another. */
function newRunId(now: number): string {
  return `${new Date(now).toISOString().slice(0, 10)}-${randomBytes(3).toString('hex')}`;
}
