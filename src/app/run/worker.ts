// `work`: helps with runs in a shared ledger.

import { PROVIDER_UNAVAILABLE } from '../../calls/outage.js';
import { type KybatchError, LedgerError, TakenOverError, UsageError } from '../../domain/errors.js';
import { isUnknownCharge } from '../../domain/outcomes.js';
import type { RunEvent } from '../../engine/events.js';
import { isDueSoon } from '../../engine/row-source.js';
import { type RunEnd, workOnRun } from '../../engine/run.js';
import { PartHelper } from '../../export/part-writer.js';
import type { RunRowKey } from '../../ledger/answers/snapshot.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { LedRun } from '../../ledger/rows/claims.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { message } from '../../util/message-parts.js';
import { version } from '../../util/packages.js';
import { type AppEnvironment, ledgerOf, pathIn, processEnvironment, withLedger } from '../environment.js';
import type { StopSignals } from '../provider/direct-calls.js';
import {
  checkProvider,
  type ProviderNames,
  type ProviderOptions,
  providerNames,
  sourcesOf,
  withProvider,
} from '../provider/provider.js';
import { lastAttemptOptions } from './progress.js';
import { openRunLog } from './run-log.js';
import { boundsOf } from './spending.js';
import { readSettings } from './stored-settings.js';

export interface WorkerOptions extends ProviderOptions, StopSignals {
  /** Ends when nothing is left to do. Default: waits for more. */
  readonly once?: boolean | undefined;
  /** Maximum number of calls of this process at once. Default: that of the run's pipeline. */
  readonly concurrency?: number | undefined;
  /** The folder of tables that the leader writes. This process writes parts of them, if both see the same folder. */
  readonly out?: string | undefined;
  readonly listen?: ((event: WorkerEvent) => void) | undefined;
}

export type WorkerEvent =
  | { readonly kind: 'joined'; readonly run: string; readonly rows: number }
  | { readonly kind: 'left'; readonly run: string; readonly rows: number }
  | { readonly kind: 'waiting'; readonly putOff: readonly PostponedRun[] }
  /** An event of the run it works on. */
  | { readonly kind: 'news'; readonly event: RunEvent };

/** A run whose remaining rows all wait for a time. */
export interface PostponedRun {
  readonly run: string;
  readonly until: number;
}

export interface WorkerView {
  /** Runs that this process worked on, and how many rows of each it finished. */
  readonly runs: readonly { readonly run: string; readonly rows: number }[];
  readonly parts: number;
  readonly stopped: KybatchError | undefined;
  readonly interrupted: boolean;
  readonly putOff: readonly PostponedRun[];
}

const LOOK_MS = 1000;
/** How often it looks if it may write tables: a part takes less than a second. */
const LOOK_FOR_PARTS_MS = 200;
/** How long a run is skipped if its rows wait for an allowance. */
const REST_MS = 15_000;

/** Takes rows of any run that has or had a leader, until it is stopped or nothing is left. */
export async function runWorker(
  options: WorkerOptions = {},
  environment: AppEnvironment = processEnvironment(),
): Promise<WorkerView> {
  if (ledgerOf(options, environment).ledgerUrl === undefined) throw ledgerInFileError();
  const patience = new AbortController();
  const noMore = () => patience.abort();
  options.abort?.addEventListener('abort', noMore, { once: true });
  try {
    return await withLedger('existing', { ...options, abort: patience.signal }, environment, async (ledger) => {
      const { claims } = ledger;
      if (claims === undefined) throw ledgerInFileError();
      return await new Worker(claims, ledger, options, environment, noMore).work();
    });
  } finally {
    options.abort?.removeEventListener('abort', noMore);
  }
}

const ledgerInFileError = () =>
  new UsageError(
    'LEDGER_NOT_SHARED',
    'worker needs a ledger in PostgreSQL',
    'Set KYBATCH_LEDGER_URL. Only one process at a time can use a ledger file.',
  );

class Worker {
  readonly #settled = new Map<string, number>();
  /** Runs in which nothing moved, and when to look again. */
  readonly #resting = new Map<string, number>();
  readonly #unfit = new Set<string>();
  #isIdle = false;
  #unknown = 0;
  /** True while rows of a run may be in progress. */
  #isWorking = false;
  readonly #tables: PartHelper | undefined;
  #parts = 0;

  constructor(
    private readonly claims: NonNullable<Ledger['claims']>,
    private readonly ledger: Ledger,
    private readonly options: WorkerOptions,
    private readonly environment: AppEnvironment,
    /** Stops waiting for the database. */
    private readonly noMore: () => void,
  ) {
    const open = (run: string, only: readonly RunRowKey[]) => ledger.reading.snapshot(run, { only });
    if (options.out !== undefined) this.#tables = new PartHelper(pathIn(environment, options.out), version, open);
  }

  async work(): Promise<WorkerView> {
    const { drain } = this.options;
    // Without rows in progress there is nothing to record.
    const onDrain = () => {
      if (!this.#isWorking) this.noMore();
    };
    drain?.addEventListener('abort', onDrain, { once: true });
    const stopped = await this.#untilStopped().catch((error: unknown) => {
      if (drain?.aborted !== true || !(error instanceof LedgerError) || error.code !== 'LEDGER_AWAY') throw error;
      if (this.#isWorking)
        this.environment.onNote?.(
          message('LEDGER_AWAY_AT_STOP', `${error.message}: calls in flight may have been charged`),
        );
      return undefined;
    });
    drain?.removeEventListener('abort', onDrain);
    this.#tables?.close();
    const runs = [...this.#settled].map(([run, rows]) => ({ run, rows }));
    const isStopped = drain?.aborted === true || stopped !== undefined;
    if (isStopped && this.#unknown > 0)
      this.environment.onNote?.(
        message(
          'CHARGES_UNKNOWN',
          `${this.#unknown === 1 ? '1 call' : `${this.#unknown} calls`} may have been charged without an answer. To list them: \`kybatch charges\``,
        ),
      );
    const parts = this.#parts;
    return {
      runs,
      parts,
      stopped,
      interrupted: drain?.aborted === true,
      putOff: isStopped ? [] : await this.#putOff(),
    };
  }

  async #untilStopped(): Promise<KybatchError | undefined> {
    const { once = false, drain } = this.options;
    let stopped: KybatchError | undefined;
    while (drain?.aborted !== true && stopped === undefined) {
      const next = await this.#next();
      if (next !== undefined) {
        this.#isWorking = true;
        stopped = await this.#helpWith(next);
        this.#isWorking = false;
      } else if (await this.#helpWithTables()) {
        this.#isIdle = false;
      } else if (once && !(await this.#isAnyLeft())) break;
      else await this.#waitForMore();
    }
    return stopped;
  }

  async #helpWithTables(): Promise<boolean> {
    const parts = (await this.#tables?.help(this.options.drain)) ?? 0;
    this.#parts += parts;
    return parts > 0;
  }

  async #putOff(): Promise<readonly PostponedRun[]> {
    const found: PostponedRun[] = [];
    for (const { runId, leaderIsAlive, isReady, nextAt } of await this.claims.runs()) {
      if (leaderIsAlive || isReady || nextAt === null) continue;
      if ((await this.#asksElsewhere(runId)) === undefined) found.push({ run: runId, until: nextAt });
    }
    return found;
  }

  async #next(): Promise<LedRun | undefined> {
    const now = this.environment.clock.now();
    const isPutOff = (run: LedRun) => !run.isElsewhere && run.nextAt !== null && !isDueSoon(run, now);
    const isResting = ({ runId }: LedRun) => (this.#resting.get(runId) ?? 0) > now;
    const runs = await this.claims.runs();
    return runs.find((run) => !(isResting(run) || this.#unfit.has(run.runId) || isPutOff(run)));
  }

  /** Rows of other workers may come back, and resting runs may move again. */
  async #isAnyLeft(): Promise<boolean> {
    const now = this.environment.clock.now();
    return (await this.claims.runs()).some(
      (run) =>
        !this.#unfit.has(run.runId) &&
        (run.isElsewhere || (run.nextAt !== null && (run.leaderIsAlive || isDueSoon(run, now)))),
    );
  }

  async #waitForMore(): Promise<void> {
    const { drain, listen } = this.options;
    if (!this.#isIdle) listen?.({ kind: 'waiting', putOff: await this.#putOff() });
    this.#isIdle = true;
    await this.environment.clock.sleep(this.#tables === undefined ? LOOK_MS : LOOK_FOR_PARTS_MS, drain).catch(() => {});
  }

  /** Returns the error that would also stop it at the next run, if there is one. */
  async #helpWith(lead: LedRun): Promise<KybatchError | undefined> {
    const run = await this.ledger.runs.find(lead.runId);
    if (run === undefined || !(await this.#mayServe(run))) {
      this.#unfit.add(lead.runId);
      return undefined;
    }
    const before = this.#settled.get(run.id) ?? 0;
    this.#isIdle = false;
    try {
      const end = await this.#workOn(run, lead);
      const rows = (this.#settled.get(run.id) ?? 0) - before;
      const isCutOff = end.stopped?.code === PROVIDER_UNAVAILABLE;
      if (rows > 0) this.options.listen?.({ kind: 'left', run: run.id, rows });
      if (rows === 0 || isCutOff) this.#resting.set(run.id, this.environment.clock.now() + REST_MS);
      if (!isCutOff) return end.stopped;
      this.environment.onNote?.(
        message('PROVIDER_AWAY', `${end.stopped?.message}. Other workers take its rows for a while`),
      );
      return undefined;
    } catch (error) {
      // Other processes considered this one dead and took its rows. It begins again.
      if (error instanceof TakenOverError) {
        this.environment.onNote?.(
          message('WORKER_TAKEN_OVER', 'other workers considered this one dead and took its rows. It starts again'),
        );
        this.#resting.set(run.id, this.environment.clock.now() + LOOK_MS);
        return undefined;
      }
      throw error;
    }
  }

  async #mayServe({ id }: RunRecord): Promise<boolean> {
    const asked = await this.#asksElsewhere(id);
    if (asked !== undefined)
      this.environment.onNote?.(
        message('RUN_ASKS_ELSEWHERE', `run ${id} uses another provider (${asked}). This worker skips it`),
      );
    return asked === undefined;
  }

  /** The run's provider if it is not configured here, in words. */
  async #asksElsewhere(runId: string): Promise<string | undefined> {
    const names = providerNames(this.options, this.environment);
    for (const api of ['v1', 'v2'] as const) {
      const used = await this.ledger.runs.environmentName(runId, api);
      if (used !== undefined && used !== names[api])
        return `${used}, which is not configured here${isNamed(names, api)}`;
    }
    return undefined;
  }

  async #workOn(run: RunRecord, lead: LedRun): Promise<RunEnd> {
    const { options, environment, ledger } = this;
    const { pipeline, fresh } = readSettings(run);
    const given = await lastAttemptOptions(run.id, ledger);
    const { limits, concurrency } = boundsOf({ ...given, concurrency: options.concurrency }, pipeline);
    return await withProvider(
      options,
      environment,
      async (provider) => {
        checkProvider(pipeline, provider);
        const log = openRunLog(run, provider, environment);
        try {
          const { byOutcome } = await ledger.runs.progress(run.id);
          // Rows that only other workers have in progress are no news.
          if (byOutcome.pending > 0) options.listen?.({ kind: 'joined', run: run.id, rows: byOutcome.pending });
          this.#settled.set(run.id, this.#settled.get(run.id) ?? 0);
          const end = await workOnRun({
            run,
            pipeline,
            fresh,
            leader: lead.attemptId,
            budgetUnits: limits.units,
            budgetReports: limits.reports,
            concurrency,
            sources: sourcesOf(provider),
            ledger,
            clock: environment.clock,
            drain: options.drain ?? NEVER,
            abort: options.abort ?? NEVER,
            listen: (event) => {
              log.listen(event);
              options.listen?.({ kind: 'news', event });
              if (event.kind === 'call_settled' && isUnknownCharge(event.settlement)) this.#unknown += 1;
              if (event.kind === 'row_settled' && event.checkpoint.outcome !== 'pending')
                this.#settled.set(run.id, (this.#settled.get(run.id) ?? 0) + 1);
            },
          });
          log.ended(end);
          return end;
        } catch (error) {
          log.brokenOff(error);
          throw error;
        } finally {
          log.close();
        }
      },
      { deadlineMs: pipeline.deadlineMs, sandboxPort: given.sandboxPort },
    );
  }
}

const NEVER = new AbortController().signal;

const isNamed = (names: ProviderNames, api: 'v1' | 'v2'): string => (names[api] === '' ? '' : ` (${names[api]} is)`);
