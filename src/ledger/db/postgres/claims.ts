// The queue of several workers in PostgreSQL: claims and releases rows.

import { TakenOverError } from '../../../domain/errors.js';
import {
  type ClaimKind,
  FREE_CLAIMS,
  LedElsewhereError,
  type LedRun,
  NEW_ROW,
  type RunLead,
  WAITING_ROW,
} from '../../rows/claims.js';
import { RANK_BEGUN, RELEASE_PARKED } from '../../rows/run-store.js';
import type { Database } from '../database.js';

/** Deferred rows start a little later, because clocks differ. */
const LATE_MS = 1000;

/** No lock is needed: the attempt's ID fences the write. */
const BESIDE = { environments: [] };

interface FoundRun extends Omit<LedRun, 'leaderIsAlive' | 'isReady' | 'isElsewhere'> {
  readonly alive: 0 | 1;
  readonly leaseUntil: number;
  readonly ready: 0 | 1;
  readonly elsewhere: 0 | 1;
}

interface Claimant {
  readonly runId: string;
  /** It shares the limits of the leader. */
  readonly shares: 0 | 1 | null;
  readonly resumeAt: number | null;
}

export type ClaimStore = ReturnType<typeof postgresClaims>;

/**
 * The queue of several workers: the rows themselves. A row is free until an attempt claims it, and again when it is
 * settled or that attempt ends. Claims only keep two workers from the same row. Intents alone decide about spending.
 * Each method is one transaction.
 */
export function postgresClaims(database: Database, clock: () => number) {
  const led = database.prepare<[object], FoundRun>(
    `SELECT runs.id AS runId, led_by AS attemptId, worker, lease_until AS leaseUntil, ended_at IS NULL AND lease_until >= @now AS alive,
       coalesce(resume_at <= @now, EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND ${NEW_ROW}))
         OR EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND ${WAITING_ROW} AND next_at <= @now) AS ready,
       EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND claimed_by > 0 AND claimed_by <> @attemptId) AS elsewhere,
       least(resume_at, (SELECT min(next_at) FROM rows WHERE run_id = runs.id AND ${WAITING_ROW})) AS nextAt
     FROM runs JOIN starts ON starts.id = led_by
     WHERE (CAST(@runId AS TEXT) IS NULL OR runs.id = @runId) AND state = 'open' AND superseded_by IS NULL
     ORDER BY led_by`,
  );
  const changePurse = database.prepare(
    'UPDATE starts SET purse_id = ? WHERE run_id = ? AND purse_id IS NOT NULL AND ended_at IS NULL AND id <> ?',
  );
  const beginNow = database.prepare('UPDATE starts SET begun_at = ? WHERE id = ?');
  const endLeader = database.prepare(
    'UPDATE starts SET ended_at = lease_until, died = 1 WHERE id = ? AND id <> ? AND ended_at IS NULL',
  );
  const freeClaims = database.prepare(FREE_CLAIMS);
  const setLead = database.prepare('UPDATE runs SET led_by = ?, resume_at = ? WHERE id = ?');
  const resume = database.prepare(
    'UPDATE runs SET resume_at = NULL WHERE id = ? AND resume_at IS NOT NULL AND resume_at <= ?',
  );
  const releaseDue = database.prepare(
    `${RELEASE_PARKED} WHERE run_id = ? AND hold = 'parked' AND next_at <= ? AND claimed_by IS NULL`,
  );
  const rankBegun = database.prepare(RANK_BEGUN);
  const firstHeld = database
    .prepare<[string], number | null>(
      "SELECT min(next_at) FROM rows WHERE run_id = ? AND outcome = 'pending' AND hold IS NOT NULL AND claimed_by IS DISTINCT FROM 0",
    )
    .pluck();
  // Held until the commit: an attempt found dead meanwhile would keep the claim forever.
  const claimant = database.prepare<[number], Claimant>(
    `SELECT runs.id AS runId, led_by = coalesce(purse_id, starts.id) AS shares, resume_at AS resumeAt
     FROM starts JOIN runs ON runs.id = run_id WHERE starts.id = ? AND ended_at IS NULL FOR SHARE OF starts`,
  );
  const claiming = (rows: string, order: string) =>
    database
      .prepare<[object], number>(
        `WITH free AS MATERIALIZED (
           SELECT run_id, row FROM rows WHERE run_id = @runId AND ${rows}
           ORDER BY ${order} LIMIT @limit FOR UPDATE SKIP LOCKED
         ), claimed AS (
           UPDATE rows SET claimed_by = @attemptId FROM free WHERE rows.run_id = free.run_id AND rows.row = free.row RETURNING rows.*
         ) SELECT row FROM claimed ORDER BY ${order}`,
      )
      .pluck();
  const claims: Record<ClaimKind, ReturnType<typeof claiming>> = {
    // Begun rows have a negative rank.
    new: claiming(NEW_ROW, 'rank, row'),
    waiting: claiming(`${WAITING_ROW} AND next_at <= @now`, 'next_at, row'),
  };
  const freeSome = database.prepare(`${FREE_CLAIMS} AND row IN (SELECT CAST(value AS BIGINT) FROM json_each(@rows))`);

  const find = (runId: string | null, attemptId: number) => led.all({ runId, attemptId, now: clock() });

  return {
    /** The attempt leads the run, and workers share its limits. Throws if another leader is alive. */
    lead: ({ runId, attemptId }: RunLead) =>
      database.write(function* () {
        const [found] = yield* find(runId, attemptId);
        if (found?.alive === 1 && found.attemptId !== attemptId)
          throw new LedElsewhereError(runId, found.worker, found.leaseUntil);
        // Helpers know the limits of the previous leader: they notice at their next call and start over. Spending by others
        // before this moment does not count against the new leader.
        yield* changePurse.run(attemptId, runId, attemptId);
        yield* beginNow.run(clock(), attemptId);
        if (found !== undefined) {
          // If the old leader wakes up, it finds that it was taken over and writes nothing.
          yield* endLeader.run(found.attemptId, attemptId);
          yield* freeClaims.run({ attemptId: found.attemptId });
        }
        yield* setLead.run(attemptId, null, runId);
      }),
    /** Before a worker helps: rows parked until a time that has passed continue. */
    join: (runId: string) =>
      database.write(function* () {
        const now = clock();
        if ((yield* resume.change(runId, now)) === 0) return;
        yield* releaseDue.run(runId, now);
        yield* rankBegun.run(runId);
      }),
    /** Claims the next rows that can begin, or that have waited long enough. */
    claim: (attemptId: number, kind: ClaimKind, limit: number): Promise<readonly number[]> =>
      database.write(function* () {
        const found = yield* claimant.get(attemptId);
        if (found === undefined) throw new TakenOverError();
        // A helper that began while another took the lead does not share its limits, so it starts over.
        if (found.shares !== 1 || (kind === 'new' && found.resumeAt !== null)) return [];
        const { runId } = found;
        return yield* claims[kind].all({ runId, attemptId, limit, ...(kind === 'new' ? {} : { now: clock() }) });
      }, BESIDE),
    /** Gives back rows that were not begun. Default: all that it has. */
    release: (attemptId: number, rows?: readonly number[]) =>
      database.write(
        () =>
          rows === undefined ? freeClaims.run({ attemptId }) : freeSome.run({ attemptId, rows: JSON.stringify(rows) }),
        BESIDE,
      ),
    /**
     * The attempt no longer leads the run. If `isHeldUp`, workers continue when the first row on hold is due, within the
     * same limits. A helper may call it if no leader is alive and no other has rows. False: that is not so.
     */
    leave: ({ runId, attemptId }: RunLead, isHeldUp: boolean) =>
      database.write(function* () {
        const [found] = yield* find(runId, attemptId);
        if (found === undefined) return false;
        if (found.attemptId !== attemptId && (found.alive === 1 || found.elsewhere === 1)) return false;
        const until = isHeldUp ? ((yield* firstHeld.get(runId)) ?? null) : null;
        yield* setLead.run(...(until === null ? [null, null] : [found.attemptId, until + LATE_MS]), runId);
        return true;
      }),
    /** Runs of which workers take rows, longest led first. */
    runs: async () => (await database.read(() => find(null, -1))).map(toLedRun),
    /** One of them, as the attempt sees it. Undefined: workers take no rows of it. */
    run: async ({ runId, attemptId }: RunLead) => (await database.read(() => find(runId, attemptId))).map(toLedRun)[0],
  };
}

const toLedRun = ({ runId, attemptId, worker, nextAt, alive, ready, elsewhere }: FoundRun): LedRun => ({
  runId,
  attemptId,
  worker,
  nextAt,
  leaderIsAlive: alive === 1,
  isReady: ready === 1,
  isElsewhere: elsewhere === 1,
});
