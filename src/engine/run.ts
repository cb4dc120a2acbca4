// Runs one attempt: takes the lease, processes the rows and records the end.

import { setMaxListeners } from 'node:events';
import { ApiError } from '../api/errors.js';
import { Door } from '../calls/door.js';
import type { AnyClient } from '../calls/request.js';
import { UnitPrices } from '../calls/unit-prices.js';
import { type Pipeline, stagesOf, usesApi } from '../config/pipeline.js';
import type { ContactCounts } from '../domain/account-usage.js';
import type { KybatchError } from '../domain/errors.js';
import type { BatchApi, ByApi } from '../domain/provider.js';
import type { Ledger } from '../ledger/ledger.js';
import { LedElsewhereError, type RunLead } from '../ledger/rows/claims.js';
import type { Progress, RunEnvironment, RunRecord } from '../ledger/rows/runs.js';
import { commonFirstSpace, searchesOf } from '../stages/identity/space-search.js';
import type { Stage } from '../stages/stage.js';
import type { Clock } from '../util/clock.js';
import { FailureGuard, type Listen, OutageNotes, type RunEvent } from './events.js';
import { type Lease, markCallsOfEarlierAttempts, takeLease } from './lease.js';
import {
  type MovedUse,
  noteContactsAtEnd,
  noteUseAtEnd,
  noteUseAtStart,
  type PermissionReader,
} from './permissions.js';
import { type ProcessedRows, processRows } from './queue.js';
import { maximumCostOfRows } from './row-cost.js';
import { ClaimedRows, OwnRows, type RowSource } from './row-source.js';
import { StageContexts } from './stage-contexts.js';
import { UnitScheduler } from './unit-scheduler.js';

/** The client of an API and the name its answers are stored under. */
export interface Source {
  readonly client: AnyClient;
  readonly environment: string;
}

export interface RunWork {
  readonly run: RunRecord;
  readonly pipeline: Pipeline;
  /** The limits of this attempt. Null: no limit. */
  readonly budgetUnits: number | null;
  readonly budgetReports: number | null;
  readonly concurrency: number;
  /** Answers from before the run are not reused. */
  readonly fresh: boolean;
  /** The only rows to process. Absent: all that can continue, including rows parked by an earlier attempt. */
  readonly only?: readonly number[] | undefined;
  readonly sources: Readonly<Record<BatchApi, Source | null>>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly permissions?: PermissionReader | undefined;
  /** The first interrupt: rows in progress finish. */
  readonly drain: AbortSignal;
  /** The second interrupt: calls in flight are aborted. */
  readonly abort: AbortSignal;
  readonly listen?: Listen;
  readonly unitsBefore?: number | undefined;
  readonly given?: string | undefined;
  readonly onBegun?: (attemptId: number) => void;
  /** Another attempt leads the run: this one helps, within the leader's limits. */
  readonly leader?: number | undefined;
}

export interface RunEnd {
  readonly progress: Progress;
  readonly stopped: KybatchError | undefined;
  readonly interrupted: boolean;
  readonly finished: boolean;
  readonly allTried: boolean;
  readonly attemptId: number;
  /** v2's counts that changed since the beginning, by any user of the account. */
  readonly moved: readonly MovedUse[];
  /** Contacts that the account revealed, if this attempt may have. Null: not reported. */
  readonly contacts: ContactCounts | null;
}

export async function workOnRun(work: RunWork): Promise<RunEnd> {
  const { run, ledger, clock, listen } = work;
  const onLost = (count: number) => listen?.({ kind: 'lost_calls', count });
  const { given, leader: purse, unitsBefore } = work;
  const lease = await takeLease(run.id, ledger, clock, { given, onLost, purse, unitsBefore });
  work.onBegun?.(lease.attemptId);
  const end = await workUnder(lease, work).catch(async (error: unknown) => {
    // The original error is reported. The next attempt ends one that cannot be ended now.
    await lease.end().catch(() => {});
    if (error instanceof LedElsewhereError) await ledger.calls.forgetAttempt(lease.attemptId).catch(() => {});
    throw error;
  });
  await lease.end();
  return end;
}

async function workUnder(lease: Lease, work: RunWork): Promise<RunEnd> {
  const { run, pipeline, ledger, clock, drain, listen = () => {} } = work;
  // Every call and every waiting row listens, which is no leak.
  setMaxListeners(0, work.drain, work.abort);
  const lost = await markCallsOfEarlierAttempts(ledger, clock.now());
  if (lost > 0) listen({ kind: 'lost_calls', count: lost });
  const leads = work.leader === undefined;
  const lead = { runId: run.id, attemptId: lease.attemptId };
  if (leads) {
    await ledger.claims?.lead(lead);
    if (work.only === undefined) await ledger.runs.releaseParked(run.id);
    else await ledger.runs.leaveOutOthers(run.id, work.only);
  } else await ledger.claims?.join(run.id);
  const environments = await useSources(work);
  const stages = stagesOf(pipeline);
  const counted = { calls: ledger.calls, clock, environmentId: environments.v2, reader: work.permissions };
  const begunAt = clock.now();
  const useAtStart = leads ? await noteUseAtStart(counted, pipeline) : null;
  const stopping = AbortSignal.any([drain, lease.broken]);
  setMaxListeners(0, stopping);
  const unitsPerRow = maximumCostOfRows(1, pipeline).units;
  // The first call may cost as much as the one before it: a limit below that sends none.
  const known = environments.v1 === null ? undefined : await ledger.calls.unitPrices(environments.v1);
  const unitPrices = new UnitPrices(known);
  const turns = new UnitScheduler({ budgetUnits: work.budgetUnits, unitsPerRow, unitPrices, stopping });
  const outages = new OutageNotes(ledger.calls, lease.attemptId);
  let together: Coordination | undefined;
  const guard = new FailureGuard(pipeline.guards.failingAlike, () => door.drain());
  const door = new Door({
    calls: ledger.calls,
    attemptId: lease.attemptId,
    clock,
    apis: { v1: apiOf(work.sources.v1, environments.v1), v2: apiOf(work.sources.v2, environments.v2) },
    retry: pipeline.retry,
    concurrency: work.concurrency,
    breaker: { failures: pipeline.breaker.failures, patienceMs: patienceOf(work) },
    limits: { units: work.budgetUnits, reports: work.budgetReports },
    unitPrices,
    inDoubt: pipeline.inDoubt,
    inDoubtCap: pipeline.inDoubtCap,
    permissions: pipeline.permissions,
    listen: (event) => {
      turns.listen(event);
      outages.listen(event);
      guard.listen(event);
      together?.listen(event);
      listen(event);
    },
    signal: work.abort,
  });
  together = await coordinateWorkers(work, lead, environments, door);
  if (work.fresh) await ledger.calls.dateBack(run.createdAt);
  const contexts = new StageContexts({
    runId: run.id,
    door,
    review: ledger.review,
    clock,
    pipeline,
    environments,
    notBefore: work.fresh ? run.createdAt : 0,
    turns,
  });
  stopping.addEventListener('abort', () => door.drain(), { once: true });
  if (stopping.aborted) door.drain();
  let worked: ProcessedRows;
  try {
    worked = await processRows({
      ...lead,
      runs: ledger.runs,
      rows: rowsOf(lead, ledger, () => canStart(stages, door)),
      contexts,
      clock,
      turns,
      rowsAtOnce: rowsAtOnce(work),
      canStart: () => canStart(stages, door),
      canSearch: () => canSearch(stages, pipeline, door),
      concludeRefusals: () => door.concludeRefusals(),
      isStopping: () => door.draining,
      stopping,
      listen: (event) => {
        guard.listen(event);
        listen(event);
      },
    });
    if (lease.broken.aborted) throw lease.broken.reason;
  } finally {
    await together?.stop();
  }
  const isHeldUp = !door.draining;
  if (leads) await ledger.claims?.leave(lead, isHeldUp && work.only === undefined);
  // A provider that stopped the run gets no further calls.
  const isAsked = leads && door.stopped === undefined;
  const moved = isAsked ? await noteUseAtEnd(counted, useAtStart) : [];
  const contacts = isAsked ? await noteContactsAtEnd(counted, { ...lead, begunAt }, ledger.reading) : null;
  const outage = drain.aborted ? undefined : door.outage;
  const concluded = await conclude(work, lead, door.stopped ?? guard.tripped, outage, isHeldUp);
  return { ...concluded, ...worked, attemptId: lease.attemptId, moved, contacts };
}

const rowsOf = (lead: RunLead, { claims, runs }: Ledger, canStart: () => Promise<boolean>): RowSource =>
  claims === undefined ? new OwnRows(lead.runId, runs) : new ClaimedRows({ ...lead, claims, runs, canStart });

async function conclude(
  { run, ledger, clock, drain, leader }: RunWork,
  lead: RunLead,
  ended: KybatchError | undefined,
  outage: KybatchError | undefined,
  isHeldUp: boolean,
): Promise<Omit<RunEnd, 'attemptId' | 'allTried' | 'moved' | 'contacts'>> {
  const progress = await ledger.runs.progress(run.id);
  const finished = progress.byOutcome.pending === 0;
  const { in_doubt = 0, ask_provider = 0 } = progress.parkedReasons;
  // Rows that wait for a person do not continue when the provider is back.
  const stop = ended ?? (progress.byOutcome.pending === in_doubt + ask_provider ? undefined : outage);
  // The run finished before the stop took effect.
  const stopped = finished ? undefined : stop;
  // A helper's error is reported where it was started. The run continues.
  if (stopped !== undefined && leader === undefined) {
    const { code, message } = stopped;
    const { class: kind, requestId = null } = stopped instanceof ApiError ? stopped : { class: 'stop_run' };
    const error = { stage: null, class: kind, code, message, requestId, attempts: 1, at: clock.now() };
    await ledger.runs.recordError(run.id, error);
  }
  // While there is a leader, it ends the run. A helper in an outage leaves its rows to others.
  const isDone = finished || (isHeldUp && stop === undefined);
  const mayEnd = leader === undefined || (isDone && (await ledger.claims?.leave(lead, true)) === true);
  if (finished && mayEnd) await ledger.runs.finish(run.id, clock.now());
  return { progress, stopped, interrupted: drain.aborted, finished };
}

/** A new row makes progress if one of its stages has all it needs. */
async function canStart(stages: readonly Stage[], door: Door): Promise<boolean> {
  for (const stage of stages) {
    const needed = [...searchesOf(stage.space), ...stage.calls.map(({ operation }) => operation)];
    const refusals = await Promise.all(needed.map((operation) => door.refusal(operation)));
    if (refusals.every((refusal) => refusal === undefined)) return true;
  }
  return false;
}

/** Can the space be searched in which every company is looked for first? */
async function canSearch(stages: readonly Stage[], { idsShared }: Pipeline, door: Door): Promise<boolean> {
  const space = commonFirstSpace(stages, idsShared);
  const refusals = await Promise.all((space === undefined ? [] : searchesOf(space)).map((one) => door.refusal(one)));
  return refusals.every((refusal) => refusal === undefined);
}

/**
 * The leader waits during an outage. A helper may have lost its own connection only, so it soon leaves its rows to
 * others.
 */
const patienceOf = ({ pipeline, leader }: RunWork): number =>
  leader === undefined ? pipeline.patienceMs : Math.min(pipeline.patienceMs, HELPER_PATIENCE_MS);
const HELPER_PATIENCE_MS = 60_000;

/** Twice as many rows as calls: while one waits for its commit or for one API, another can send. */
const rowsAtOnce = ({ concurrency, pipeline }: RunWork) =>
  2 * concurrency * (['v1', 'v2'] as const).filter((api) => usesApi(pipeline, api)).length;

const apiOf = (source: Source | null, environmentId: number | null) =>
  source === null || environmentId === null ? null : { client: source.client, environmentId };

/** The run uses these providers, in later attempts too. */
async function useSources({ run, sources, ledger }: RunWork): Promise<ByApi<number | null>> {
  const environments: Record<BatchApi, number | null> = { v1: null, v2: null };
  const used: RunEnvironment[] = [];
  for (const api of ['v1', 'v2'] as const) {
    const source = sources[api];
    if (source === null) continue;
    const environmentId = await ledger.calls.environment(api, source.environment);
    environments[api] = environmentId;
    used.push({ api, environmentId });
  }
  await ledger.runs.useEnvironments(run.id, used);
  return environments;
}

interface Coordination {
  readonly listen: (event: RunEvent) => void;
  stop(): Promise<void>;
}

const COUNT_MS = 2000;

/** Counting takes time in a large run, so the pause is at least this many times as long. */
const RESTS = 20;

/** Shares slow-down requests and progress between the workers of one run. */
async function coordinateWorkers(
  { ledger: { signals, runs }, clock, listen = () => {} }: RunWork,
  { runId, attemptId }: RunLead,
  environments: ByApi<number | null>,
  door: Pick<Door, 'hearOfSlowDown'>,
): Promise<Coordination | undefined> {
  if (signals === undefined) return undefined;
  const apis = (['v1', 'v2'] as const).filter((api) => environments[api] !== null);
  const stopListening = await signals.listen((signal) => {
    const api = apis.find((one) => environments[one] === signal.environmentId);
    if (api !== undefined && signal.attemptId !== attemptId) door.hearOfSlowDown(api, signal.pauseMs);
  });
  const stopped = new AbortController();
  const counting = (async () => {
    for (let took = 0; ; ) {
      await clock.sleep(Math.max(COUNT_MS, RESTS * took), stopped.signal);
      const begun = clock.now();
      listen({ kind: 'counted', progress: await runs.progress(runId) });
      took = clock.now() - begun;
    }
  })().catch(() => {});
  return {
    listen(event) {
      const environmentId = event.kind === 'slowed' && isOfBatch(event.api) ? environments[event.api] : null;
      if (event.kind !== 'slowed' || environmentId == null) return;
      signals.tell({ kind: 'slow_down', attemptId, environmentId, pauseMs: event.pauseMs }).catch(() => {});
    },
    async stop() {
      stopped.abort();
      await counting;
      await stopListening();
    },
  };
}

const isOfBatch = (api: string): api is BatchApi => api === 'v1' || api === 'v2';
