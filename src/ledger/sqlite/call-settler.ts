import type { RowRef } from '../review.js';
import type { Connection } from './driver.js';

type SettleCharge = (id: number, charge: 'charged' | 'free', note: string) => void;

/** Settles what a call has cost that nobody knew: for itself, its row and the budget of its start. */
export function callSettler(database: Connection): SettleCharge {
  const callOf = database.prepare<
    [number],
    { run_id: string | null; row: number | null; start_id: number | null; meter: string }
  >('SELECT run_id, row, start_id, meter FROM calls WHERE id = ?');
  const reconcile = database.prepare(
    `UPDATE calls SET charge = @charge, units_charged = @units, in_doubt = iif(in_doubt = 2 OR @paidInVain, in_doubt, 0), reconciled = @note
     WHERE id = @id AND charge = 'unknown'`,
  );
  const addUnits = database.prepare('UPDATE rows SET units_charged = units_charged + ? WHERE run_id = ? AND row = ?');
  const giveBack = database.prepare(
    `UPDATE starts SET units_spent = units_spent - (@meter = 'unit'), reports_spent = reports_spent - (@meter = 'report')
     WHERE id = @start`,
  );
  const release = rowRelease(database);
  return (id, charge, note) => {
    const call = callOf.get(id);
    if (call === undefined) return;
    const units = call.meter === 'unit' ? (charge === 'charged' ? 1 : 0) : charge === 'free' ? 0 : null;
    // What was paid for and is not here still counts: sent again, it is paid for again. A report that was charged has
    // been found.
    const paidInVain = charge === 'charged' && call.meter !== 'report' ? 1 : 0;
    if (reconcile.run({ id, charge, units, note, paidInVain }).changes === 0) return;
    if (units !== null && units > 0 && call.run_id !== null) addUnits.run(units, call.run_id, call.row);
    // It counted as spent while nobody knew.
    if (charge === 'free') giveBack.run({ meter: call.meter, start: call.start_id });
    release(id);
  };
}

/** Once nothing keeps a call from being sent again, nothing keeps its row from going on. */
export function rowRelease(database: Connection): (callId: number) => readonly RowRef[] {
  const release = database.prepare<[number], RowRef>(
    `UPDATE rows SET hold = NULL, hold_reason = NULL, next_at = NULL
     WHERE hold = 'parked' AND hold_reason = 'in_doubt' AND (run_id, row) = (SELECT run_id, row FROM calls WHERE id = ?)
     RETURNING run_id AS runId, row`,
  );
  return (callId) => release.all(callId);
}
