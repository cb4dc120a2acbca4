import type { AllowanceRecord, CallStore, Closure, ObservedAllowance } from '../calls.js';
import type { Database, Script, Sql } from '../database.js';
import type { Doubtful } from '../doubt.js';
import type { Intent } from '../intent.js';
import { judgeLostCalls, type LostCall } from '../lost-calls.js';
import { callSettler } from './call-settler.js';
import { doubtReader } from './in-doubt.js';

type AllowanceStore = Pick<CallStore, 'allowance' | 'close' | 'settleLost'>;

export interface Allowances {
  readonly store: AllowanceStore;
  /** Written inside the transaction of a settlement. */
  observe(
    call: Pick<Intent, 'id' | 'environmentId'>,
    seen: ObservedAllowance,
    alone: boolean,
    now: number,
  ): Script<void>;
}

/** What may be spent, what the provider said about it, and what lost calls turn out to have cost. */
export function allowanceStore(database: Database): Allowances {
  const insertClosure = database.prepare(
    `INSERT INTO closures (environment_id, operation, reason, until, message, closed_at, last_start_id)
     VALUES (?, ?, ?, ?, ?, ?, (SELECT coalesce(max(id), 0) FROM starts))`,
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
    yield* insertClosure.run(
      environmentId,
      closure.operation,
      closure.reason,
      closure.until,
      closure.message,
      closure.closedAt,
    );
    if (closure.operation === null && closure.reason === 'allowance')
      yield* markSpent.run({ environmentId, at: closure.closedAt, until: closure.until ?? Number.MAX_SAFE_INTEGER });
  }

  return {
    *observe({ id, environmentId }, seen, alone, now) {
      const before = alone ? yield* read.get(environmentId) : undefined;
      yield* observe(environmentId, seen, alone, now);
      if (alone && seen.remainingUnits !== null)
        yield* anchors.anchor(before, environmentId, id, seen.remainingUnits, now);
      if (seen.available !== 0) return;
      const message = 'the v1 allowance is spent: 0 units remain';
      yield* close(environmentId, {
        operation: null,
        reason: 'allowance',
        until: seen.resetAt,
        message,
        closedAt: now,
      });
    },
    store: {
      allowance: (environmentId) => database.read(() => read.get(environmentId)),
      close: (environmentId, closure) =>
        database.write(() => close(environmentId, closure), { environments: [environmentId] }),
      settleLost: (of, charge, note) => database.write(() => anchors.settleDoubt(of, charge, note)),
    },
  };
}

/**
 * Answers overtake each other, so the lowest figure is the newest, unless it is exact: then no other call was under
 * way. A figure from before the allowance came back is no figure.
 */
function observation(database: Sql) {
  const save = database.prepare(
    `INSERT INTO allowances (environment_id, observed_at, remaining_units, available, daily_limit, daily_remaining, reset_at, raw)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (environment_id) DO UPDATE SET observed_at = excluded.observed_at,
       remaining_units = CASE
         WHEN excluded.remaining_units IS NULL THEN allowances.remaining_units
         WHEN ? = 1 OR allowances.remaining_units IS NULL OR allowances.reset_at <= excluded.observed_at THEN excluded.remaining_units
         ELSE min(allowances.remaining_units, excluded.remaining_units) END,
       available = CASE
         WHEN excluded.available IS NULL THEN allowances.available
         WHEN ? = 1 OR allowances.available IS NULL OR allowances.reset_at <= excluded.observed_at THEN excluded.available
         ELSE min(allowances.available, excluded.available) END,
       daily_limit = excluded.daily_limit, daily_remaining = excluded.daily_remaining, reset_at = excluded.reset_at, raw = excluded.raw,
       spent_until = CASE WHEN excluded.remaining_units IS NULL THEN allowances.spent_until END`,
  );
  return (environmentId: number, seen: ObservedAllowance, alone: boolean, now: number): Script<void> =>
    save.run(
      environmentId,
      now,
      seen.remainingUnits,
      seen.available,
      seen.dailyLimit,
      seen.dailyRemaining,
      seen.resetAt,
      seen.raw,
      alone ? 1 : 0,
      alone ? 1 : 0,
    );
}

/** Settles lost calls: by the units that remain, or by what else has told. */
function anchorWriter(database: Sql) {
  const chargedSince = database
    .prepare<[number, number, number], number>(
      `SELECT CAST(coalesce(sum(units_charged * 1.0), 0) AS BIGINT) FROM calls WHERE environment_id = ? AND id > ? AND id <= ? AND charge = 'charged'`,
    )
    .pluck();
  const lostSince = database.prepare<[number, number, number], LostCall & { id: number }>(
    "SELECT id, started_at AS startedAt, http_status AS httpStatus FROM calls WHERE environment_id = ? AND charge = 'unknown' AND id > ? AND id < ? ORDER BY id",
  );
  const doubts = doubtReader(database);
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
    /** One lost call can be told apart; of several, which one it was is not known. */
    *settleDoubt(of: Doubtful, charge: 'charged' | 'free', note: string): Script<void> {
      const [only, ...others] = yield* doubts.calls(of);
      if (only !== undefined && others.length === 0) yield* settleCall(only, charge, note);
    },
  };
}
