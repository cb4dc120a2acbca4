// Allowances as the provider reports them, closures, and the charges of lost calls that follow from them.

import { type Database, forEachItem, type Script, type Sql } from '../db/database.js';
import type { RowRef } from '../review/review.js';
import { SPEND } from '../rows/attempts.js';
import type { AllowanceRecord, Closure, ObservedAllowance } from './calls.js';
import { type Intent, UNKNOWN_CHARGE, type UnknownChargesOf, WAITS_AT } from './intent.js';
import {
  judgeLostCalls,
  type LostCall,
  missingUnits,
  PROVIDER_GIVES_UP_MS,
  type ReportedUnits,
} from './provider-count.js';
import { unknownChargeReader } from './read-intent-state.js';

export type AllowanceStore = ReturnType<typeof allowanceStore>;

export function allowanceStore(database: Database) {
  const insertClosure = database.prepare(
    `INSERT INTO closures (environment_id, operation, reason, until, message, closed_at, last_start_id)
     VALUES (@environmentId, @operation, @reason, @until, @message, @closedAt, (SELECT coalesce(max(id), 0) FROM starts))`,
  );
  const dropClosures = database.prepare(
    'DELETE FROM closures WHERE environment_id = ? AND operation IS NOT DISTINCT FROM ?',
  );
  const markSpent = database.prepare(
    `INSERT INTO allowances (environment_id, observed_at, spent_until) VALUES (@environmentId, @at, @until)
     ON CONFLICT (environment_id) DO UPDATE SET observed_at = excluded.observed_at, spent_until = excluded.spent_until`,
  );
  const observe = observation(database);
  const read = database.prepare<[number], AllowanceRecord>(
    `SELECT observed_at AS observedAt, remaining_units AS remainingUnits, daily_limit AS dailyLimit, daily_remaining AS dailyRemaining,
       reset_at AS resetAt, raw, spent_until AS spentUntil, anchor_call_id AS anchorCallId, anchor_units AS anchorUnits, drift_units AS driftUnits
     FROM allowances WHERE environment_id = ?`,
  );
  const anchors = anchorWriter(database);
  function* close(environmentId: number, closure: Closure): Script<void> {
    yield* dropClosures.run(environmentId, closure.operation);
    yield* insertClosure.run({ ...closure, environmentId });
    if (closure.operation === null && closure.reason === 'allowance')
      yield* markSpent.run({ environmentId, at: closure.closedAt, until: closure.until ?? Number.MAX_SAFE_INTEGER });
  }

  return {
    /** Runs inside the transaction that completes a call. */
    *observe(
      { id, environmentId }: Pick<Intent, 'id' | 'environmentId'>,
      seen: ObservedAllowance,
      alone: boolean,
      now: number,
    ): Script<void> {
      const last = alone ? yield* read.get(environmentId) : undefined;
      const isOtherPlan = last?.dailyLimit != null && seen.dailyLimit !== null && last.dailyLimit !== seen.dailyLimit;
      const before = isOtherPlan ? undefined : last;
      yield* observe(environmentId, seen, alone, now);
      if (alone && seen.remainingUnits !== null)
        yield* anchors.anchor(before, environmentId, id, seen.remainingUnits, now);
      if (seen.available !== 0) return;
      const message = 'the v1 allowance is used up: 0 units are left';
      const until = seen.resetAt;
      yield* close(environmentId, { operation: null, reason: 'allowance', until, message, closedAt: now });
    },
    allowance: (environmentId: number) => database.read(() => read.get(environmentId)),
    /** The provider refuses an operation or a whole API. No call is sent before `until` or the next attempt. */
    close: (environmentId: number, closure: Closure) =>
      database.write(() => close(environmentId, closure), { environments: [environmentId] }),
    /** Records the charge of the only lost call for this request from evidence other than the units. */
    settleLost: (of: UnknownChargesOf, charge: 'charged' | 'free', note: string) =>
      database.write(() => anchors.recordCharge(of, charge, note)),
  };
}

/**
 * Answers overtake each other, so the lowest figure is the newest. A figure is exact if no other call was in flight. A
 * figure from before a reset is discarded. Another daily limit is another plan: the counts are compared from then on.
 */
function observation(database: Sql) {
  const newest = (column: string, ifNull: string) => `${column} = CASE
         WHEN excluded.${column} IS NULL THEN ${ifNull}
         WHEN @alone = 1 OR ${OTHER_PLAN} OR allowances.${column} IS NULL OR allowances.reset_at <= excluded.observed_at THEN excluded.${column}
         ELSE min(allowances.${column}, excluded.${column}) END`;
  const save = database.prepare(
    `INSERT INTO allowances (environment_id, observed_at, remaining_units, available, daily_limit, daily_remaining, reset_at, raw)
     VALUES (@environmentId, @now, @remainingUnits, @available, @dailyLimit, @dailyRemaining, @resetAt, @raw)
     ON CONFLICT (environment_id) DO UPDATE SET observed_at = excluded.observed_at,
       ${newest('remaining_units', 'allowances.remaining_units')}, ${newest('available', 'allowances.available')},
       ${newest('daily_remaining', 'NULL')}, daily_limit = excluded.daily_limit, reset_at = excluded.reset_at, raw = excluded.raw,
       spent_until = CASE WHEN excluded.remaining_units IS NULL THEN allowances.spent_until END,
       anchor_call_id = CASE WHEN ${OTHER_PLAN} THEN NULL ELSE allowances.anchor_call_id END,
       anchor_units = CASE WHEN ${OTHER_PLAN} THEN NULL ELSE allowances.anchor_units END,
       drift_units = CASE WHEN ${OTHER_PLAN} THEN 0 ELSE allowances.drift_units END`,
  );
  return (environmentId: number, seen: ObservedAllowance, alone: boolean, now: number): Script<void> =>
    save.run({ ...seen, environmentId, now, alone: alone ? 1 : 0 });
}

const OTHER_PLAN = 'allowances.daily_limit <> excluded.daily_limit';

/** Records the charge of lost calls from the remaining units or from other evidence. */
function anchorWriter(database: Sql) {
  const chargedSince = database
    .prepare<[number, number, number], number>(
      `SELECT CAST(coalesce(sum(units_charged * 1.0), 0) AS BIGINT) FROM calls WHERE environment_id = ? AND id > ? AND id <= ? AND charge = 'charged'`,
    )
    .pluck();
  const lostSince = database.prepare<[number, number, number], LostCall & { id: number }>(
    `SELECT id, started_at AS startedAt, http_status AS httpStatus FROM calls WHERE environment_id = ? AND ${UNKNOWN_CHARGE} AND id > ? AND id < ? ORDER BY id`,
  );
  const unknownCharges = unknownChargeReader(database);
  const saveAnchor = database.prepare(
    'UPDATE allowances SET anchor_call_id = ?, anchor_units = ?, drift_units = drift_units + ? WHERE environment_id = ?',
  );
  const settleCall = callSettler(database);
  return {
    *anchor(
      before: AllowanceRecord | undefined,
      environmentId: number,
      callId: number,
      remainingUnits: number,
      now: number,
    ): Script<void> {
      const since = before?.anchorCallId ?? null;
      const lost = since === null ? [] : yield* lostSince.all(environmentId, since, callId);
      const verdict = judgeLostCalls({
        anchorUnits: since === null ? null : (before?.anchorUnits ?? null),
        resetAt: before?.resetAt ?? null,
        remainingUnits,
        known: since === null ? 0 : ((yield* chargedSince.get(environmentId, since, callId)) ?? 0),
        lost,
        now,
      });
      if (verdict.kind === 'too_early') return;
      if (verdict.settle !== null) for (const { id } of lost) yield* settleCall(id, verdict.settle, verdict.note);
      yield* saveAnchor.run(callId, remainingUnits, verdict.drift, environmentId);
    },
    /** One lost call can be identified. Among several it is unknown which one was charged. */
    *recordCharge(of: UnknownChargesOf, charge: 'charged' | 'free', note: string): Script<void> {
      const [only, ...others] = yield* unknownCharges.calls(of);
      if (only !== undefined && others.length === 0) yield* settleCall(only, charge, note);
    },
  };
}

/** `correct` also replaces a charge that was recorded before. */
type SettleCharge = (id: number, charge: 'charged' | 'free', note: string, correct?: boolean) => Script<void>;

interface Call {
  readonly environment_id: number;
  readonly run_id: string | null;
  readonly row: number | null;
  readonly start_id: number | null;
  readonly meter: string;
  readonly charge: string;
  readonly units_charged: number | null;
}

/** Keeps every note about a call, newest first. */
export const PREPEND_NOTE = "reconciled = @note || coalesce('; before that: ' || reconciled, '')";

/** Records an unknown charge: for the call, its row and the limits of its attempt. */
export function callSettler(database: Sql): SettleCharge {
  const callOf = database.prepare<[number], Call>(
    'SELECT environment_id, run_id, row, start_id, meter, charge, units_charged FROM calls WHERE id = ?',
  );
  const reconcile = database.prepare(
    `UPDATE calls SET charge = @charge, units_charged = @units, in_doubt = CASE WHEN in_doubt = 2 OR @paidInVain = 1 THEN in_doubt ELSE 0 END, ${PREPEND_NOTE}
     WHERE id = @id AND (charge = 'unknown' OR (@correct = 1 AND charge IN ('charged', 'free') AND (reconciled IS NOT NULL OR in_doubt > 0)))`,
  );
  const addUnits = database.prepare('UPDATE rows SET units_charged = units_charged + ? WHERE run_id = ? AND row = ?');
  const addMoved = database.prepare('UPDATE runs SET units_moved = units_moved + ? WHERE id = ?');
  const spend = database.prepare(SPEND);
  const lessDrift = database.prepare(
    'UPDATE allowances SET drift_units = drift_units - @units WHERE environment_id = @environment AND anchor_call_id > @id',
  );
  const release = rowRelease(database);
  return function* (id, charge, note, correct = false) {
    const call = yield* callOf.get(id);
    if (call === undefined) return;
    const { meter, run_id, row, start_id } = call;
    const units =
      meter === 'unit'
        ? charge === 'charged'
          ? Math.max(1, call.units_charged ?? 1)
          : 0
        : charge === 'free'
          ? 0
          : null;
    // A paid call without an answer still counts: sending it again costs again. A charged report has been found.
    const paidInVain = charge === 'charged' && meter !== 'report' ? 1 : 0;
    if ((yield* reconcile.change({ id, charge, units, note, paidInVain, correct: correct ? 1 : 0 })) === 0) return;
    const more = (units ?? 0) - (call.units_charged ?? 0);
    // The row may be in a later run. The run that paid keeps the units.
    if (more !== 0 && run_id !== null && (yield* addUnits.change(more, run_id, row)) === 0)
      yield* addMoved.run(more, run_id);
    // The counts were compared before this correction, so the units it adds are no longer missing.
    if (more !== 0 && correct && (yield* wasCompared(database, id)))
      yield* lessDrift.run({ units: more, environment: call.environment_id, id });
    // While the charge was unknown, the call counted as spent.
    const calls = (charge === 'free' ? 0 : 1) - (call.charge === 'free' ? 0 : 1);
    const counted = call.units_charged ?? (call.charge === 'free' ? 0 : 1);
    if (calls !== 0)
      yield* spend.run(meter === 'unit' ? (units ?? 0) - counted : 0, meter === 'report' ? calls : 0, start_id);
    yield* release(id);
  };
}

/** Did the provider report remaining units of the same allowance both before and after the call? */
function* wasCompared(database: Sql, id: number): Script<boolean> {
  return (yield* readReportedUnits(database, [id])).some((told) => !told.renewed && missingUnits(told) >= 0);
}

const RELEASE = `UPDATE rows SET hold = NULL, hold_reason = NULL, next_at = NULL
  WHERE outcome = 'pending' AND hold = 'parked' AND hold_reason = 'in_doubt'`;

/** Frees the row that was parked for this call. */
export function rowRelease(database: Sql): (callId: number) => Script<readonly RowRef[]> {
  const release = database.prepare<[number], RowRef>(
    `${RELEASE} AND (run_id, row) = (SELECT ${WAITS_AT} FROM calls WHERE id = ?) RETURNING run_id AS runId, row`,
  );
  return (callId) => release.all(callId);
}

/**
 * Frees the rows that wait for a call of another row. Which call is not stored, so the next attempt decides. It reads all
 * rows of open runs.
 */
export const releaseOthers = (database: Sql): Script<readonly RowRef[]> =>
  database
    .prepare<[], RowRef>(
      `${RELEASE} AND run_id IN (SELECT id FROM runs WHERE state = 'open')
         AND (run_id, row) NOT IN (SELECT ${WAITS_AT} FROM calls WHERE in_doubt > 0 AND in_doubt = 1 AND calls.row IS NOT NULL)
       RETURNING run_id AS runId, row`,
    )
    .all();

interface Asked {
  readonly id: number;
  readonly environment: number;
  readonly startedAt: number;
}

interface Told {
  readonly id: number;
  readonly units: number;
  readonly at: number;
  readonly exact: number;
}

/** Remaining units before and after these calls. Calls without reported units or without a unit meter are left out. */
export function* readReportedUnits(database: Sql, ids: readonly number[]): Script<readonly ReportedUnits[]> {
  const list = JSON.stringify(ids);
  const asked = yield* database
    .prepare<[string], Asked>(
      `SELECT id, environment_id AS environment, started_at AS startedAt FROM calls
       WHERE meter = 'unit' AND id IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) ORDER BY environment_id, id`,
    )
    .all(list);
  const toldBy = (beside: '<' | '>', order: 'DESC' | 'ASC') =>
    database.prepare<[number, number, number], Told>(
      `SELECT id, remaining_units AS units, settled_at AS at, exact FROM calls
       WHERE environment_id = ? AND exact = 1 AND id ${beside} ? AND settled_at >= ? ORDER BY id ${order} LIMIT 1`,
    );
  const before = toldBy('<', 'DESC');
  const after = toldBy('>', 'ASC');
  // Without such an answer since, the lowest figure counts once nothing is in flight. It may lack the last charges.
  const lowest = database.prepare<[number, number], Told>(
    `SELECT (SELECT max(id) FROM calls WHERE calls.environment_id = allowances.environment_id) AS id,
       remaining_units AS units, observed_at AS at, 0 AS exact
     FROM allowances WHERE environment_id = ? AND remaining_units IS NOT NULL AND spent_until IS NULL AND observed_at >= ?
       AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.environment_id = allowances.environment_id AND settled_at IS NULL)`,
  );
  const between = database.prepare<[object], { known: number; otherUnknown: number }>(
    `SELECT CAST(coalesce(sum(units_charged) FILTER (WHERE charge = 'charged'), 0) AS BIGINT) AS known,
       count(*) FILTER (WHERE ${UNKNOWN_CHARGE} AND meter = 'unit') AS otherUnknown
     FROM calls WHERE environment_id = @environment AND id > @from AND id <= @to AND id NOT IN (SELECT CAST(value AS BIGINT) FROM json_each(@list))`,
  );
  const isDaily = database
    .prepare<[number], 1>('SELECT 1 FROM allowances WHERE environment_id = ? AND daily_limit IS NOT NULL')
    .pluck();
  // A figure that was reported with no other call in flight cannot rise while the allowance lasts.
  const rises = database
    .prepare<[object], 1>(
      `SELECT 1 FROM (
         SELECT remaining_units AS units, min(CASE WHEN exact = 1 THEN remaining_units END)
           OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS lowest
         FROM calls WHERE environment_id = @environment AND id >= @from AND id <= @to AND error_code IS NULL) AS told
       WHERE units > lowest LIMIT 1`,
    )
    .pluck();
  const spans: { readonly environment: number; readonly first: Told; last: Told; readonly calls: Asked[] }[] = [];
  for (const call of asked) {
    const { environment, id, startedAt } = call;
    const first = yield* before.get(environment, id, 0);
    // A later count is better: soon after a lost call the provider may still charge for it.
    const last =
      (yield* after.get(environment, id, startedAt + PROVIDER_GIVES_UP_MS)) ??
      (yield* after.get(environment, id, 0)) ??
      (yield* lowest.get(environment, startedAt));
    if (first === undefined || last === undefined) continue;
    const span = spans.at(-1);
    if (span?.environment !== environment || first.id >= span.last.id)
      spans.push({ environment, first, last, calls: [call] });
    else {
      span.calls.push(call);
      if (last.id > span.last.id) span.last = last;
    }
  }
  return yield* forEachItem(spans, function* ({ environment, first, last, calls }) {
    const counts = yield* between.get({ environment, from: first.id, to: last.id, list });
    return {
      calls: calls.map(({ id }) => id),
      from: first.units,
      to: last.units,
      toldAt: last.at,
      exact: last.exact === 1,
      ...(counts ?? { known: 0, otherUnknown: 0 }),
      lastStartedAt: Math.max(...calls.map(({ startedAt }) => startedAt)),
      renewed:
        ((yield* isDaily.get(environment)) === 1 && utcDay(first.at) !== utcDay(last.at)) ||
        (yield* rises.get({ environment, from: first.id, to: last.id })) !== undefined,
    };
  });
}

const utcDay = (at: number): number => Math.floor(at / 86_400_000);
