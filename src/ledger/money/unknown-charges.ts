import type { RowOutcome } from '../../domain/outcomes.js';
import { type Database, type Script, type Sql, statements } from '../db/database.js';
import { parseStored, rowFields } from '../db/stored-json.js';
import type { RowRef } from '../review/review.js';
import { callSettler, PREPEND_NOTE, readReportedUnits, releaseOthers, rowRelease } from './allowances.js';
import { UNKNOWN_CHARGE, WAITS, WAITS_AT } from './intent.js';
import type { ReportedUnits } from './provider-count.js';
import { LEFT_OPEN, LOST, UNANSWERED } from './read-intent-state.js';

export type ChargeVerdict = 'resend' | 'charged' | 'free';

/** Without calls and runs: all. */
export interface UnknownChargeSelection {
  readonly calls: readonly number[];
  readonly runs: readonly string[];
  /** Includes calls whose unknown charge was recorded since: the named ones, or all. */
  readonly settled?: 'none' | 'named' | 'all';
}

export interface UnknownChargeCall {
  readonly id: number;
  readonly api: string;
  readonly environment: string;
  /** Calls with the same key are tries of one request. */
  readonly requestKey: string;
  readonly operation: string;
  readonly meter: string;
  /** Null: a manual call. */
  readonly stage: string | null;
  readonly runId: string | null;
  readonly row: number | null;
  /** The line of that row in its file. */
  readonly line: number | null;
  /** The row's cells. Null if the call has no row or the cells are damaged. */
  readonly fields: Readonly<Record<string, string>> | null;
  /** The ID that the request named. */
  readonly subjectId: string | null;
  readonly startedAt: number;
  readonly errorCode: string;
  /** Null: no response. */
  readonly httpStatus: number | null;
  readonly requestId: string | null;
  /** The request is held back. False if it was answered since or a person allowed it. */
  readonly holds: boolean;
  /** `charged`: evidence came later, but the answer is still missing. */
  readonly charge: 'unknown' | 'charged' | 'free';
  /** The notes about it, newest first. */
  readonly note: string | null;
  /** The same request was answered since. */
  readonly answered: boolean;
  /** Null if the call has no row. */
  readonly rowOutcome: RowOutcome | null;
  /** Null if the row is not parked. */
  readonly rowParkedFor: string | null;
  /** Calls for the same request since its last answer that count against `lost_answer_tries`. */
  readonly lost: number;
  /** The next remaining units that v1 reports may show its charge. */
  readonly isCounted: boolean;
}

export interface UnknownCharge
  extends Pick<UnknownChargeCall, 'id' | 'api' | 'environment' | 'operation' | 'runId' | 'row' | 'line' | 'startedAt'> {
  readonly errorCode: string | null;
}

export interface CallUnderWay
  extends Pick<UnknownChargeCall, 'id' | 'api' | 'operation' | 'stage' | 'runId' | 'row' | 'line' | 'startedAt'> {
  /** The process counts as alive until then. It extends this while it runs. */
  readonly leaseUntil: number;
}

export type UnknownChargeStore = ReturnType<typeof unknownChargeStore>;

/** Calls of unknown charge, and what a person decides about them. */
export function unknownChargeStore(database: Database) {
  const { count, rows } = statements(database);
  const settleCharge = callSettler(database);
  const letGo = database.prepare('UPDATE calls SET in_doubt = CASE WHEN in_doubt > 0 THEN 2 ELSE 0 END WHERE id = ?');
  const keepWord = database.prepare(`UPDATE calls SET ${PREPEND_NOTE} WHERE id = @id`);
  const release = rowRelease(database);
  const held = count<[object]>(HELD_ROWS);
  const underWay = rows<[number], CallUnderWay>(
    `SELECT calls.id AS id, api, operation, calls.stage AS stage, calls.run_id AS runId, calls.row AS row, line, started_at AS startedAt, lease_until AS leaseUntil
     FROM calls INDEXED BY calls_in_flight JOIN environments ON environments.id = environment_id JOIN starts ON starts.id = start_id
       LEFT JOIN rows ON rows.run_id = calls.run_id AND rows.row = calls.row
     WHERE settled_at IS NULL AND meter <> 'free' AND ended_at IS NULL AND lease_until >= ? ORDER BY calls.id`,
  );
  const leftOpen = rows<[object], UnknownCharge>(
    `SELECT calls.id AS id, api, environments.name AS environment, operation, ${WAITS.run} AS runId, ${WAITS.row} AS row, line,
       started_at AS startedAt, 'PROCESS_DIED' AS errorCode
     FROM calls INDEXED BY calls_in_flight JOIN environments ON environments.id = environment_id LEFT JOIN rows ON (rows.run_id, rows.row) = (${WAITS_AT})
     WHERE ${LEFT_OPEN} ORDER BY calls.id DESC`,
  );
  // A lease outlives its process by up to half a minute. The lock does not.
  const asOf = (now: number) => (database.hasNoWorkers() ? Number.MAX_SAFE_INTEGER : now);
  return {
    /** Oldest first. Reads only. */
    list: (which: UnknownChargeSelection, now: number) => database.read(() => list(database, which, asOf(now))),
    /** Calls of a process that runs or may run: their charge is not recorded yet. */
    underWay: (now: number) => underWay(asOf(now)),
    /** Calls of a dead process, newest first. The next attempt records that their charge is unknown. */
    leftOpen: (now: number) => leftOpen({ now: asOf(now) }),
    /**
     * Pending rows of a run that the next attempt will park, because at least `lost` calls for the same request were
     * lost. Reports do not count: kybatch looks for them first.
     */
    heldRows: (runId: string, lost: number, now: number) => held({ runId, lost: Math.max(1, lost), now: asOf(now) }),
    /** The provider's count around these calls, as far as it is known. */
    unitsTold: (ids: readonly number[]): Promise<readonly ReportedUnits[]> =>
      database.read(() => readReportedUnits(database, ids)),
    /**
     * Records the charge of these calls, or leaves it unknown (`resend`). Either way the request may be sent again, a
     * report after a look in the history. Rows parked for it are freed and returned. A later entry replaces an earlier
     * one, and every note is kept. `notes` overrides the note of single calls.
     */
    settle: (
      ids: readonly number[],
      verdict: ChargeVerdict,
      noteOfAll: string,
      notes?: ReadonlyMap<number, string>,
    ): Promise<readonly RowRef[]> =>
      database.write(function* () {
        const released: RowRef[] = [];
        for (const id of ids) {
          const note = notes?.get(id) ?? noteOfAll;
          yield* letGo.run(id);
          released.push(...(yield* release(id)));
          if (verdict === 'resend') yield* keepWord.run({ id, note });
          else yield* settleCharge(id, verdict, note, true);
        }
        released.push(...(yield* releaseOthers(database)));
        return released;
      }),
  };
}

const WAS_IN_DOUBT = "charge IN ('charged', 'free') AND reconciled IS NOT NULL";

/** The call that last answered the same request. 0 if there is none. */
const LAST_ANSWER = `coalesce((SELECT call_id FROM answers
  WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key), 0)`;

const HELD_ROWS = `SELECT count(DISTINCT held.row) FROM (
  SELECT lost.row FROM (
      SELECT ${WAITS.run} AS run_id, ${WAITS.row} AS row, request_key, meter FROM calls WHERE ${LOST} AND id > ${LAST_ANSWER}
      UNION ALL SELECT ${WAITS.run} AS run_id, ${WAITS.row} AS row, request_key, meter FROM calls WHERE ${LEFT_OPEN}
    ) AS lost JOIN rows ON rows.run_id = lost.run_id AND rows.row = lost.row
  WHERE lost.run_id = @runId AND meter <> 'report' AND outcome = 'pending' AND hold IS NULL
  GROUP BY lost.row, request_key HAVING count(*) >= @lost) AS held`;

/** Calls without a usable answer for the same request since its last one, and calls that a dead process left open. */
const LOST_FOR_SAME = `SELECT count(*) FROM calls AS same
  WHERE same.environment_id = calls.environment_id AND same.request_key = calls.request_key
    AND (same.settled_at IS NULL OR (${LOST}))
    AND same.id > ${LAST_ANSWER}`;

/** It follows an anchor, and the allowance was not reset since (`judgeLostCalls`). */
const IS_COUNTED = `SELECT count(*) FROM allowances WHERE allowances.environment_id = calls.environment_id
  AND api = 'v1' AND coalesce(charge, 'unknown') = 'unknown' AND anchor_units IS NOT NULL
  AND calls.id > anchor_call_id AND (reset_at IS NULL OR reset_at > @now)`;

/** A later run may have taken the row over. Its company is known by its ID at the same provider. */
const FIELDS_OF_SUBJECT = `SELECT other.fields FROM row_ids
  JOIN rows AS other ON other.run_id = row_ids.run_id AND other.row = row_ids.row
  JOIN run_environments AS used ON used.run_id = row_ids.run_id AND used.environment_id = calls.environment_id
  WHERE row_ids.space = calls.subject_space AND row_ids.id = calls.subject_id ORDER BY row_ids.run_id DESC LIMIT 1`;

type StoredDoubt = Omit<UnknownChargeCall, 'holds' | 'answered' | 'isCounted' | 'fields'> & {
  readonly fields: string | null;
  readonly holds: number;
  readonly answered: number;
  readonly isCounted: number;
};

/** Includes calls that a dead process left open, as the next attempt will find them. */
function* list(
  database: Sql,
  { calls, runs, settled = 'none' }: UnknownChargeSelection,
  now: number,
): Script<readonly UnknownChargeCall[]> {
  const stored = yield* database
    .prepare<unknown[], StoredDoubt>(
      `SELECT calls.id AS id, api, environments.name AS environment, lower(hex(request_key)) AS requestKey, operation, meter, calls.stage AS stage, ${WAITS.run} AS runId, ${WAITS.row} AS row, line, coalesce(fields, (${FIELDS_OF_SUBJECT})) AS fields,
         subject_id AS subjectId, started_at AS startedAt, coalesce(calls.error_code, 'PROCESS_DIED') AS errorCode,
         http_status AS httpStatus, request_id AS requestId, coalesce(charge, 'unknown') AS charge, reconciled AS note,
         settled_at IS NULL OR (in_doubt = 1 AND calls.id > ${LAST_ANSWER}) AS holds, calls.id < ${LAST_ANSWER} AS answered,
         outcome AS rowOutcome, CASE WHEN hold = 'parked' THEN hold_reason END AS rowParkedFor, (${LOST_FOR_SAME}) AS lost, (${IS_COUNTED}) AS isCounted
       FROM calls JOIN environments ON environments.id = environment_id LEFT JOIN rows ON (rows.run_id, rows.row) = (${WAITS_AT})
       WHERE calls.id IN (
           SELECT id FROM calls WHERE ${UNKNOWN_CHARGE}
           UNION ALL SELECT id FROM calls WHERE in_doubt > 0 AND in_doubt = 1 AND charge = 'charged' AND ${UNANSWERED}
           UNION ALL SELECT id FROM calls WHERE ${LEFT_OPEN}
           UNION ALL SELECT id FROM calls WHERE @settled = 'named' AND id IN (SELECT CAST(value AS BIGINT) FROM json_each(@calls)) AND ${WAS_IN_DOUBT}
           UNION ALL SELECT id FROM calls WHERE @settled = 'all' AND ${WAS_IN_DOUBT})
         AND (@all = 1 OR calls.id IN (SELECT CAST(value AS BIGINT) FROM json_each(@calls)) OR ${WAITS.run} IN (SELECT value FROM json_each(@runs)))
       ORDER BY calls.id`,
    )
    .all({
      now,
      settled,
      all: calls.length + runs.length === 0 ? 1 : 0,
      calls: JSON.stringify(calls),
      runs: JSON.stringify(runs),
    });
  return stored.map((call) => ({
    ...call,
    // A call still counts if its company can no longer be named.
    fields: call.fields === null ? null : (parseStored(call.fields, rowFields.fits) ?? null),
    holds: call.holds === 1,
    answered: call.answered === 1,
    isCounted: call.isCounted > 0,
  }));
}
