import { LedgerError } from '../../domain/errors.js';
import type { CallStore, Settlement } from '../calls.js';
import type { Database, Script, Sql } from '../database.js';
import { mayHaveCost } from '../intended.js';
import type { Intent } from '../intent.js';
import type { Allowances } from './allowances.js';
import { Bodies } from './bodies.js';
import type { Packed } from './pack.js';
import type { Packer } from './packer.js';
import { SPEND } from './starts.js';

/** Call, units, bytes, owned answer and allowance in one transaction, once the body is packed. */
export function settling(
  database: Database,
  packer: Packer,
  allowances: Allowances,
): Pick<CallStore, 'settle'> & { readonly allSettled: () => Promise<void> } {
  const script = settlementWriter(database, allowances);
  const write = (intent: Intent, settlement: Settlement, packed: Packed | null) =>
    database.write(() => script(intent, settlement, packed), { environments: [intent.environmentId] });
  /** Those whose body is being packed. */
  const away = new Set<Promise<boolean>>();
  return {
    settle: (intent, settlement) => {
      const packed = packBody(packer, settlement.body);
      if (!(packed instanceof Promise)) return write(intent, settlement, packed);
      const settled = packed.then((ready) => write(intent, settlement, ready));
      away.add(settled);
      const done = () => away.delete(settled);
      settled.then(done, done);
      return settled;
    },
    async allSettled() {
      await Promise.allSettled(away);
    },
  };
}

/** Not settled, in words for which no index stands: the one of open calls is full of those that have just been settled. */
const OPEN = 'coalesce(settled_at, 0) = 0';

function settlementWriter(database: Sql, allowances: Allowances) {
  const bodies = new Bodies(database);
  const settleCall = database.prepare(
    `UPDATE calls SET settled_at = ?, duration_ms = ?, http_status = ?, error_class = ?, error_code = ?, request_id = ?,
       charge = ?, units_charged = ?, in_doubt = ?, remaining_units = ?, exact = ?, raw_sha256 = unhex(?), params = ?,
       replaces = (SELECT call_id FROM answers WHERE answers.environment_id = ? AND answers.request_key = unhex(?))
     WHERE id = ? AND start_id = ? AND ${OPEN}`,
  );
  const saveAnswer = database.prepare(
    `INSERT INTO answers (environment_id, request_key, call_id) VALUES (?, unhex(?), ?)
     ON CONFLICT (environment_id, request_key) DO UPDATE SET call_id = excluded.call_id`,
  );
  const addUnits = database.prepare('UPDATE rows SET units_charged = units_charged + ? WHERE run_id = ? AND row = ?');
  const spend = database.prepare(SPEND);
  const laterUnit = database.prepare<[number, number], 1>(
    "SELECT 1 FROM calls WHERE id > ? AND environment_id = ? AND meter = 'unit' AND (charge IS NULL OR charge <> 'owned') LIMIT 1",
  );
  return function* (intent: Intent, settlement: Settlement, packed: Packed | null): Script<boolean> {
    const { settledAt, charge, unitsCharged, answer, allowance } = settlement;
    const sha256 = packed?.sha256 ?? null;
    const isOwned = answer !== null && sha256 !== null;
    // Only a success says what remains after it: a gateway that refuses may not know.
    const alone =
      allowance !== null &&
      settlement.errorCode === null &&
      intent.alone &&
      (yield* laterUnit.get(intent.id, intent.environmentId)) === undefined;
    const changes = yield* settleCall.change(
      settledAt,
      settlement.durationMs,
      settlement.httpStatus,
      settlement.errorClass,
      settlement.errorCode,
      settlement.requestId,
      charge,
      unitsCharged,
      settlement.inDoubt ? 1 : 0,
      settlement.remainingUnits,
      alone && settlement.remainingUnits !== null ? 1 : 0,
      sha256,
      answer?.params ?? null,
      // Only an answer that is kept takes the place of another.
      isOwned ? intent.environmentId : null,
      intent.requestKey,
      intent.id,
      intent.startId,
    );
    // A start that was taken over stores nothing: its intent is not its own any more.
    if (changes === 0) return false;
    if (packed !== null) yield* bodies.store(packed, settledAt);
    if (unitsCharged !== null && unitsCharged > 0 && intent.runId !== null)
      yield* addUnits.run(unitsCharged, intent.runId, intent.row);
    const { units, reports } = mayHaveCost(intent.meter, settlement);
    if (units + reports > 0) yield* spend.run(units, reports, intent.startId);
    if (isOwned) yield* saveAnswer.run(intent.environmentId, intent.requestKey, intent.id);
    if (allowance !== null) yield* allowances.observe(intent, allowance, alone, settledAt);
    return true;
  };
}

/** What cannot be packed cannot be written. */
function packBody(packer: Packer, body: Buffer | null): Packed | null | Promise<Packed> {
  const fail = (cause: unknown): never => {
    throw new LedgerError(cause);
  };
  if (body === null) return null;
  try {
    const packed = packer.pack(body);
    return packed instanceof Promise ? packed.catch(fail) : packed;
  } catch (cause) {
    return Promise.reject(new LedgerError(cause));
  }
}
