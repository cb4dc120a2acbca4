// The interfaces of claims and signals between workers, and the conditions of rows that can be claimed.

import { ExitCode, KybatchError } from '../../domain/errors.js';
import { STILL_LISTED } from './read-rows.js';

/**
 * The queue of several workers: the rows themselves. A row is free until an attempt claims it, and again when it is
 * settled or that attempt ends. Claims only keep two workers from the same row. Intents alone decide about spending.
 */
export interface ClaimStore {
  /** The attempt leads the run, and workers share its limits. Throws if another leader is alive. */
  lead(lead: RunLead): Promise<void>;
  /** Before a worker helps: rows parked until a time that has passed continue. */
  join(runId: string): Promise<void>;
  /** Claims the next rows that can begin, or that have waited long enough. */
  claim(attemptId: number, kind: ClaimKind, limit: number): Promise<readonly number[]>;
  /** Gives back rows that were not begun. Default: all that it has. */
  release(attemptId: number, rows?: readonly number[]): Promise<void>;
  /**
   * The attempt no longer leads the run. If `isHeldUp`, workers continue when the first row on hold is due, within the
   * same limits. A helper may call it if no leader is alive and no other has rows. False: that is not so.
   */
  leave(lead: RunLead, isHeldUp: boolean): Promise<boolean>;
  /** Runs of which workers take rows, longest led first. */
  runs(): Promise<readonly LedRun[]>;
  /** One of them, as the attempt sees it. Undefined: workers take no rows of it. */
  run(lead: RunLead): Promise<LedRun | undefined>;
}

export interface RunLead {
  readonly runId: string;
  readonly attemptId: number;
}

/** `waiting`: rows that have begun and are due again at a time. */
export type ClaimKind = 'new' | 'waiting';

/** A run of which workers take rows. `attemptId`: its leader. */
export interface LedRun extends RunLead {
  readonly leaderIsAlive: boolean;
  /** The leader's `host:pid`. */
  readonly worker: string | null;
  /** A row can be claimed now. */
  readonly isReady: boolean;
  /** Others have rows of it. */
  readonly isElsewhere: boolean;
  /** When the first waiting or deferred row is due. */
  readonly nextAt: number | null;
}

/** Another process leads the run. `kybatch worker` joins it. */
export class LedElsewhereError extends KybatchError {
  override readonly name = 'LedElsewhereError';

  constructor(
    runId: string,
    readonly worker: string | null,
    readonly leaseUntil: number,
    hint = 'To help with it: `kybatch worker`. If that process was killed, kybatch takes over within half a minute.',
  ) {
    super(`run ${runId} is in progress${worker === null ? '' : ` by ${worker}`}`, {
      code: 'LED_ELSEWHERE',
      hint,
      exit: ExitCode.locked,
    });
  }
}

/**
 * Immediate messages between processes that share a ledger. Nothing depends on them: a lost message is found in the
 * ledger or at the provider.
 */
export interface Signals {
  tell(signal: Signal): Promise<void>;
  /** Calls `told` for messages of others, until the returned function stops it. */
  listen(told: (signal: Signal) => void): Promise<() => Promise<void>>;
}

/** The provider asked one process to slow down. */
export interface Signal {
  readonly kind: 'slow_down';
  /** The attempt that was asked. */
  readonly attemptId: number;
  readonly environmentId: number;
  readonly pauseMs: number;
}

/** Other workers may take the rows of an attempt, begun ones first. It is part of every transaction that ends one. */
export const FREE_CLAIMS = `UPDATE rows SET claimed_by = NULL, rank = CASE WHEN units_charged > 0 THEN -1 ELSE rank END
  WHERE run_id = (SELECT run_id FROM starts WHERE id = @attemptId) AND claimed_by = @attemptId`;

/** Rows that can begin, and rows that wait for a report. */
export const NEW_ROW = `outcome = 'pending' AND hold IS NULL AND claimed_by IS NULL AND ${STILL_LISTED}`;
export const WAITING_ROW = `hold = 'waiting' AND claimed_by IS NULL AND ${STILL_LISTED}`;
