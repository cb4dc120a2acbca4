import type { Script, Sql } from '../database.js';
import type { RowRef } from '../review.js';
import { missingUnits } from '../units-told.js';
import { SPEND } from './starts.js';
import { unitsTold } from './units-told.js';

/** `correct`: also where it was settled before; the last word stands. */
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

/** Every word about a call is kept, the last one first. */
export const SAID_LAST = "reconciled = @note || coalesce('; before that: ' || reconciled, '')";

/** Settles what a call has cost that nobody knew: for itself, its row and the budget of its start. */
export function callSettler(database: Sql): SettleCharge {
  const callOf = database.prepare<[number], Call>(
    'SELECT environment_id, run_id, row, start_id, meter, charge, units_charged FROM calls WHERE id = ?',
  );
  const reconcile = database.prepare(
    `UPDATE calls SET charge = @charge, units_charged = @units, in_doubt = CASE WHEN in_doubt = 2 OR @paidInVain = 1 THEN in_doubt ELSE 0 END, ${SAID_LAST}
     WHERE id = @id AND (charge = 'unknown' OR (@correct = 1 AND charge IN ('charged', 'free') AND (reconciled IS NOT NULL OR in_doubt > 0)))`,
  );
  const addUnits = database.prepare('UPDATE rows SET units_charged = units_charged + ? WHERE run_id = ? AND row = ?');
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
    // What was paid for and is not here still counts: sent again, it is paid for again. A report that was charged has
    // been found.
    const paidInVain = charge === 'charged' && meter !== 'report' ? 1 : 0;
    if ((yield* reconcile.change({ id, charge, units, note, paidInVain, correct: correct ? 1 : 0 })) === 0) return;
    const more = (units ?? 0) - (call.units_charged ?? 0);
    if (more !== 0 && run_id !== null) yield* addUnits.run(more, run_id, row);
    // The two counts were compared before this word: what it adds to ours is no longer missing there.
    if (more !== 0 && correct && (yield* wasCompared(database, id)))
      yield* lessDrift.run({ units: more, environment: call.environment_id, id });
    // It counted as spent while nobody knew.
    const calls = (charge === 'free' ? 0 : 1) - (call.charge === 'free' ? 0 : 1);
    const counted = call.units_charged ?? (call.charge === 'free' ? 0 : 1);
    if (calls !== 0)
      yield* spend.run(meter === 'unit' ? (units ?? 0) - counted : 0, meter === 'report' ? calls : 0, start_id);
    yield* release(id);
  };
}

/** Has the provider told, before and after the call, how many units remain, of the same allowance? */
function* wasCompared(database: Sql, id: number): Script<boolean> {
  return (yield* unitsTold(database, [id])).some((told) => !told.renewed && missingUnits(told) >= 0);
}

/** Once nothing keeps a call from being sent again, nothing keeps its row from going on. */
export function rowRelease(database: Sql): (callId: number) => Script<readonly RowRef[]> {
  const release = database.prepare<[number], RowRef>(
    `UPDATE rows SET hold = NULL, hold_reason = NULL, next_at = NULL
     WHERE hold = 'parked' AND hold_reason = 'in_doubt' AND (run_id, row) = (SELECT run_id, row FROM calls WHERE id = ?)
     RETURNING run_id AS runId, row`,
  );
  return (callId) => release.all(callId);
}
