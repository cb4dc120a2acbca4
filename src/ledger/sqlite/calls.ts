import { randomUUID } from 'node:crypto';
import { LedgerError } from '../../domain/errors.js';
import type { AllowanceRecord, Doubt, Intent, Ledger, OwnedAnswer, Settlement, UnknownCall } from '../ledger.js';
import { Bodies } from './bodies.js';
import type { Connection } from './open.js';
import type { Packed } from './pack.js';
import type { Packer } from './packer.js';
import type { Room } from './room.js';
import type { Writer } from './writer.js';

type CallStore = Pick<
  Ledger,
  | 'findAnswer'
  | 'readBody'
  | 'intend'
  | 'settle'
  | 'recordOwnedUse'
  | 'flagLostIntents'
  | 'inDoubt'
  | 'unknownCharges'
  | 'reconcile'
  | 'allowance'
  | 'saveAllowance'
  | 'chargedSince'
  | 'unitsOfRun'
  | 'chargedCalls'
>;

export function callStore(
  database: Connection,
  writer: Writer,
  packer: Packer,
  room: Room,
): CallStore & {
  /** Every settlement asked for so far is on disk, or has failed. */
  allSettled(): Promise<void>;
} {
  const bodies = new Bodies(database);
  // One token per process: whoever took over from a frozen process has another.
  const token = randomUUID();
  const findAnswer = database.prepare<[number, string, number], OwnedAnswer>(
    `SELECT call_id AS callId, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt
     FROM answers JOIN calls ON calls.id = call_id
     WHERE answers.environment_id = ? AND answers.request_key = unhex(?) AND settled_at >= ? AND raw_sha256 IS NOT NULL`,
  );
  const insertIntent = database.prepare(
    `INSERT INTO calls (token, environment_id, run_id, row, stage, operation, request_key, attempt, started_at)
     VALUES (?, ?, ?, ?, ?, ?, unhex(?), ?, ?)`,
  );
  const settleCall = database.prepare(
    `UPDATE calls SET settled_at = ?, duration_ms = ?, http_status = ?, error_class = ?, error_code = ?, request_id = ?,
       charge = ?, units_charged = ?, remaining_units = ?, raw_sha256 = unhex(?), params = ?
     WHERE id = ? AND token = ? AND settled_at IS NULL`,
  );
  const saveAnswer = database.prepare(
    `INSERT INTO answers (environment_id, request_key, call_id) VALUES (?, unhex(?), ?)
     ON CONFLICT (environment_id, request_key) DO UPDATE SET call_id = excluded.call_id`,
  );
  const addUnits = database.prepare('UPDATE rows SET units_charged = units_charged + ? WHERE run_id = ? AND row = ?');
  const insertOwned = database.prepare(
    `INSERT INTO calls (token, environment_id, run_id, row, stage, operation, request_key, attempt, started_at, settled_at, duration_ms,
       charge, units_charged, raw_sha256)
     VALUES (?, ?, ?, ?, ?, ?, unhex(?), 0, ?, ?, 0, 'owned', 0, unhex(?))`,
  );
  const flagLost = database.prepare(
    `UPDATE calls SET settled_at = ?, charge = 'unknown', error_class = 'retry', error_code = 'PROCESS_DIED'
     WHERE settled_at IS NULL AND token <> ?`,
  );
  // An answer since then is what the lost calls were for.
  const inDoubt = database.prepare<[number, string, number, string], Doubt>(
    `SELECT count(*) - count(http_status) AS lost, count(http_status) AS answered,
       coalesce(max(started_at), 0) AS lastStartedAt,
       coalesce(max(iif(error_code = 'PROCESS_DIED', started_at, settled_at)), 0) AS lastEndedAt
     FROM calls WHERE environment_id = ? AND request_key = unhex(?) AND charge = 'unknown'
       AND id > coalesce((SELECT call_id FROM answers WHERE environment_id = ? AND request_key = unhex(?)), 0)`,
  );
  // Looked up once, and kept up to date by this process, which alone writes: nearly always there is no doubt at all.
  const anyUnknown = database.prepare<[], number>("SELECT 1 FROM calls WHERE charge = 'unknown' LIMIT 1").pluck();
  let mayDoubt: boolean | undefined;
  const unknown = database.prepare<[number], UnknownCall>(
    "SELECT id, operation, started_at AS startedAt FROM calls WHERE environment_id = ? AND charge = 'unknown' ORDER BY id",
  );
  const callOf = database.prepare<[number], { run_id: string | null; row: number | null }>(
    'SELECT run_id, row FROM calls WHERE id = ?',
  );
  const reconcile = database.prepare(
    "UPDATE calls SET charge = ?, units_charged = ?, reconciled = ? WHERE id = ? AND charge = 'unknown'",
  );
  const allowance = database.prepare<[number], AllowanceRecord>(
    `SELECT observed_at AS observedAt, remaining_units AS remainingUnits, daily_limit AS dailyLimit, daily_remaining AS dailyRemaining,
       reset_at AS resetAt, raw, spent_until AS spentUntil, anchor_call_id AS anchorCallId, anchor_units AS anchorUnits, drift_units AS driftUnits
     FROM allowances WHERE environment_id = ?`,
  );
  const saveAllowance = database.prepare(
    `INSERT INTO allowances (environment_id, observed_at, remaining_units, daily_limit, daily_remaining, reset_at, raw, spent_until,
       anchor_call_id, anchor_units, drift_units)
     VALUES (@environmentId, @observedAt, @remainingUnits, @dailyLimit, @dailyRemaining, @resetAt, @raw, @spentUntil,
       @anchorCallId, @anchorUnits, @driftUnits)
     ON CONFLICT (environment_id) DO UPDATE SET observed_at = excluded.observed_at, remaining_units = excluded.remaining_units,
       daily_limit = excluded.daily_limit, daily_remaining = excluded.daily_remaining, reset_at = excluded.reset_at, raw = excluded.raw,
       spent_until = excluded.spent_until, anchor_call_id = excluded.anchor_call_id, anchor_units = excluded.anchor_units,
       drift_units = excluded.drift_units`,
  );
  const chargedSince = database
    .prepare<[number, number, number], number>(
      `SELECT coalesce(sum(units_charged), 0) FROM calls
       WHERE environment_id = ? AND id > ? AND id <= ? AND charge = 'charged'`,
    )
    .pluck();
  const unitsOfRun = database
    .prepare<[string], number>(
      `SELECT coalesce(sum(coalesce(units_charged, charge = 'unknown')), 0)
       FROM calls JOIN environments ON environments.id = environment_id WHERE run_id = ? AND api = 'v1'`,
    )
    .pluck();
  const chargedCalls = database
    .prepare<[string, string], number>(
      "SELECT count(*) FROM calls WHERE run_id = ? AND operation = ? AND charge IN ('charged', 'unknown')",
    )
    .pluck();

  const settle = (intent: Intent, settlement: Settlement, packed: Packed | null): Promise<boolean> =>
    writer.write(() => {
      const { settledAt, charge, unitsCharged, answer } = settlement;
      const sha256 = packed?.sha256 ?? null;
      const { changes } = settleCall.run(
        settledAt,
        settlement.durationMs,
        settlement.httpStatus,
        settlement.errorClass,
        settlement.errorCode,
        settlement.requestId,
        charge,
        unitsCharged,
        settlement.remainingUnits,
        sha256,
        answer?.params ?? null,
        intent.id,
        intent.token,
      );
      // A process that was taken over stores nothing: its intent is not its own any more.
      if (changes === 0) return false;
      if (charge === 'unknown') mayDoubt = true;
      if (packed !== null) bodies.store(packed, settledAt);
      if (unitsCharged !== null && unitsCharged > 0 && intent.runId !== null)
        addUnits.run(unitsCharged, intent.runId, intent.row);
      if (answer !== null && sha256 !== null) saveAnswer.run(intent.environmentId, intent.requestKey, intent.id);
      return true;
    });
  /** Those whose body is being packed. */
  const settling = new Set<Promise<boolean>>();

  return {
    findAnswer: async (environmentId, requestKey, notBefore) => findAnswer.get(environmentId, requestKey, notBefore),
    readBody: async (sha256) => bodies.read(sha256),
    intend: async (intent) => {
      // An answer that could not be written down must not be bought. Those under way are still tried.
      if (writer.broken !== undefined) throw writer.broken;
      room.mustBeThere();
      return await writer.write((): Intent => {
        const { environmentId, runId, row, stage, operation, requestKey, attempt, startedAt } = intent;
        const { lastInsertRowid } = insertIntent.run(
          token,
          environmentId,
          runId,
          row,
          stage,
          operation,
          requestKey,
          attempt,
          startedAt,
        );
        return { ...intent, id: Number(lastInsertRowid), token };
      });
    },
    settle: (intent, settlement) => {
      const packed = packBody(packer, settlement.body);
      if (!(packed instanceof Promise)) return settle(intent, settlement, packed);
      const settled = packed.then((ready) => settle(intent, settlement, ready));
      settling.add(settled);
      const done = () => settling.delete(settled);
      settled.then(done, done);
      return settled;
    },
    async allSettled() {
      await Promise.allSettled(settling);
    },
    recordOwnedUse: (use) =>
      writer.write(() => {
        insertOwned.run(
          token,
          use.environmentId,
          use.runId,
          use.row,
          use.stage,
          use.operation,
          use.requestKey,
          use.at,
          use.at,
          use.rawSha256,
        );
      }),
    flagLostIntents: (now) =>
      writer.write(() => {
        mayDoubt = undefined;
        return flagLost.run(now, token).changes;
      }),
    inDoubt: async (environmentId, requestKey) => {
      mayDoubt ??= anyUnknown.get() !== undefined;
      const doubt = mayDoubt && inDoubt.get(environmentId, requestKey, environmentId, requestKey);
      return doubt || { lost: 0, answered: 0, lastStartedAt: 0, lastEndedAt: 0 };
    },
    unknownCharges: async (environmentId) => unknown.all(environmentId),
    reconcile: (_environmentId, calls, charge, note) =>
      writer.write(() => {
        const units = charge === 'charged' ? 1 : 0;
        for (const id of calls) {
          if (reconcile.run(charge, units, note, id).changes === 0 || units === 0) continue;
          const call = callOf.get(id);
          if (call?.run_id != null) addUnits.run(units, call.run_id, call.row);
        }
      }),
    allowance: async (environmentId) => allowance.get(environmentId),
    saveAllowance: (environmentId, record) => writer.write(() => void saveAllowance.run({ environmentId, ...record })),
    chargedSince: async (environmentId, callId, upToCallId) => chargedSince.get(environmentId, callId, upToCallId) ?? 0,
    unitsOfRun: async (runId) => unitsOfRun.get(runId) ?? 0,
    chargedCalls: async (runId, operation) => chargedCalls.get(runId, operation) ?? 0,
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
