import { KybatchError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import type { Database, Script } from '../database.js';
import { LedElsewhereError } from '../jobs.js';

/** For so long after a run was made nobody else takes it away: who made it is about to work on it. */
const ABOUT_TO_BEGIN_MS = 30_000;

/**
 * Where several work in a ledger: what somebody works on, or is about to, is not taken from under their hands. In one
 * transaction with what takes it. Whoever works in a file is alone in it. `hint`: what to do about it.
 */
export function* mustBeAtRest(database: Database, runs: readonly string[], now: number, hint?: string): Script<void> {
  if (!database.isShared || runs.length === 0) return;
  const ids = JSON.stringify(runs);
  const working = yield* database
    .prepare<[object], Working & { readonly runId: string }>(
      `${WORKING} AND run_id IN (SELECT value FROM json_each(@ids)) ${LEADERS_FIRST}`,
    )
    .get({ ids, now });
  if (working !== undefined) throw new LedElsewhereError(working.runId, working.worker, working.leaseUntil, hint);
  // One that was made in this very moment is of this very process.
  const begun = yield* database
    .prepare<[object], { runId: string; createdAt: number }>(
      `SELECT id AS runId, created_at AS createdAt FROM runs
       WHERE id IN (SELECT value FROM json_each(@ids)) AND state = 'open' AND created_at BETWEEN @now - @soon AND @now + @soon AND created_at <> @now
         AND NOT EXISTS (SELECT 1 FROM starts WHERE starts.run_id = runs.id)
       LIMIT 1`,
    )
    .get({ ids, now, soon: ABOUT_TO_BEGIN_MS });
  if (begun !== undefined) throw new LedElsewhereError(begun.runId, null, begun.createdAt + ABOUT_TO_BEGIN_MS, hint);
}

/** The same for all that anybody does, calls by hand too. `hint`: what to do about it. */
export function* nobodyMustWork(database: Database, now: number, hint: string): Script<void> {
  if (!database.isShared) return;
  const working = yield* database.prepare<[object], Working>(`${WORKING} ${LEADERS_FIRST}`).get({ now });
  if (working === undefined) return;
  const { worker, runId } = working;
  const message = `${worker ?? 'another process'} is at work${runId === null ? '' : ` on run ${runId}`}`;
  throw new KybatchError(message, { code: 'LED_ELSEWHERE', hint, exit: ExitCode.locked });
}

interface Working {
  /** Null: a call by hand. */
  readonly runId: string | null;
  readonly worker: string | null;
  readonly leaseUntil: number;
}

const WORKING = `SELECT run_id AS runId, worker, lease_until AS leaseUntil FROM starts
  WHERE ended_at IS NULL AND lease_until >= @now`;
const LEADERS_FIRST = 'ORDER BY purse_id IS NOT NULL, id LIMIT 1';
