// Records of claims, signals between workers, and the conditions of rows that can be claimed.

import { ExitCode, KybatchError } from '../../domain/errors.js';
import { STILL_LISTED } from './read-rows.js';

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
