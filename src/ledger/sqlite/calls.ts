import { canonicalBaseUrl } from '../../domain/base-url.js';
import type { CallStore, OwnedUse } from '../calls.js';
import { decideMoney, decideRequest, type Intended } from '../intended.js';
import type { Intent } from '../intent.js';
import { parseStored } from '../stored-json.js';
import { allowanceStore } from './allowances.js';
import { Bodies } from './bodies.js';
import { callParams } from './cells.js';
import { contactStore } from './contact-counts.js';
import { disown } from './damaged-bodies.js';
import type { Connection } from './driver.js';
import { intentStates } from './intent-state.js';
import type { Packer } from './packer.js';
import { permissionStore } from './permission-use.js';
import type { Room } from './room.js';
import { settling } from './settle.js';
import { startStore } from './starts.js';
import type { BelievedTimes } from './times.js';
import type { Writer } from './writer.js';

/** Money. What must hold between two calls is read and written in one transaction. */
export function callStore(
  database: Connection,
  writer: Writer,
  times: BelievedTimes,
  packer: Packer,
  room: Room,
  onNote: (note: string) => void = () => {},
): CallStore & {
  /** Every settlement asked for so far is on disk, or has failed. */
  allSettled(): Promise<void>;
} {
  const bodies = new Bodies(database);
  const starts = startStore(database, writer);
  const allowances = allowanceStore(database, writer);
  const { settle, allSettled } = settling(database, writer, packer, allowances);
  const addEnvironment = database.prepare('INSERT INTO environments (api, name) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const selectEnvironment = database
    .prepare<[string, string], number>('SELECT id FROM environments WHERE api = ? AND name = ?')
    .pluck();
  const environment = (api: string, name: string) => selectEnvironment.get(api, canonicalBaseUrl(name));
  const findAnswer = database.prepare<
    [number, string, number],
    { callId: number; rawSha256: string; fetchedAt: number; params: string | null }
  >(
    `SELECT call_id AS callId, lower(hex(raw_sha256)) AS rawSha256, ${times.answeredAt} AS fetchedAt, params
     FROM answers JOIN calls ON calls.id = call_id
     WHERE answers.environment_id = ? AND answers.request_key = unhex(?) AND ${times.answeredAt} >= ? AND raw_sha256 IS NOT NULL`,
  );
  // Of late is enough, and a ledger of millions of calls is not read for it.
  const anyAnswer = database.prepare<[number], 1>(
    `SELECT 1 FROM calls WHERE id > (SELECT max(id) FROM calls) - 20000 AND environment_id = ?
       AND settled_at IS NOT NULL AND (error_code IS NULL OR error_class IN ('not_available', 'fail_row', 'park', 'block_operation')) AND charge <> 'owned' LIMIT 1`,
  );
  const answerOf = database.prepare<[number, string, number], 1>(
    `SELECT 1 FROM calls WHERE id > (SELECT max(id) FROM calls) - 20000 AND environment_id = ? AND operation = ? AND ${times.answeredAt} >= ?
       AND (error_code IS NULL OR error_class IN ('not_available', 'fail_row')) AND charge <> 'owned' LIMIT 1`,
  );
  // A call that was under way when the request was refused says nothing.
  const answeredSince = database.prepare<[number, string, string, number], 1>(
    `SELECT 1 FROM calls AS refused JOIN calls AS later
       ON later.id > refused.id AND later.environment_id = refused.environment_id AND later.operation = refused.operation
     WHERE refused.id > (SELECT max(id) FROM calls) - 20000 AND refused.environment_id = ? AND refused.operation = ?
       AND refused.request_key = unhex(?) AND refused.start_id < ? AND refused.error_class = 'block_operation'
       AND later.started_at >= refused.settled_at AND later.settled_at IS NOT NULL AND later.error_code IS NULL
       AND later.charge <> 'owned' LIMIT 1`,
  );
  const insertIntent = database.prepare(
    `INSERT INTO calls (start_id, environment_id, run_id, row, stage, operation, meter, subject_space, subject_id, request_key, attempt, started_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), ?, ?)`,
  );
  const use = useWriter(database);
  const disownBody = disown(database);
  const disownAnswer = database.prepare('DELETE FROM answers WHERE environment_id = ? AND request_key = unhex(?)');
  const states = intentStates(database, times);

  return {
    ...starts.store,
    ...allowances.store,
    ...permissionStore(database, writer),
    ...contactStore(database, writer),
    settle,
    allSettled,
    environment: (api, name) =>
      writer.write(() => {
        addEnvironment.run(api, canonicalBaseUrl(name));
        return environment(api, name) as number;
      }),
    findEnvironment: async (api, name) => environment(api, name),
    findAnswer: async (environmentId, requestKey, notBefore) => {
      const found = findAnswer.get(environmentId, requestKey, notBefore);
      if (found === undefined) return undefined;
      const { params, ...answer } = found;
      if (params === null || parseStored(params, callParams.fits) !== undefined) return answer;
      // No table can be read from it: like a damaged body it is asked for anew.
      if (!database.readonly) {
        await writer.write(() => void disownAnswer.run(environmentId, requestKey));
        onNote(`what call ${answer.callId} asked is damaged: its answer is not used, and asked for anew`);
      }
      return undefined;
    },
    readBody: async (sha256) => {
      const body = bodies.readSound(sha256);
      if (body === undefined && !database.readonly) {
        await writer.write(() => disownBody(sha256));
        onNote(`the stored answer ${sha256.slice(0, 12)}… is damaged: it is not used, and asked for anew`);
      }
      return body;
    },
    recordUse: (used) => writer.write(() => use(used)),
    intend: async (call, limits) => {
      if (writer.broken !== undefined) throw writer.broken;
      room.mustBeThere();
      return await writer.write((): Intended => {
        const { startId, environmentId, runId, row, operation, meter, requestKey, subject } = call;
        const state = states.of(call);
        const before = decideRequest(call, state.request);
        if (before !== 'go') return before;
        const money = state.money(limits);
        const verdict = decideMoney(meter, money, limits);
        if (verdict !== 'go') return verdict;
        const { lastInsertRowid } = insertIntent.run(
          startId,
          environmentId,
          runId,
          row,
          call.stage,
          operation,
          meter,
          subject?.space ?? null,
          subject?.id ?? null,
          requestKey,
          call.attempt,
          call.startedAt,
        );
        const id = Number(lastInsertRowid);
        const alone = meter === 'unit' && money.sharedInFlight === 0;
        const intent: Intent = { id, startId, environmentId, runId, row, operation, meter, requestKey, alone };
        return { kind: 'intent', intent };
      });
    },
    hasAnswered: async (environmentId) => anyAnswer.get(environmentId) !== undefined,
    wasAnswered: async (environmentId, operation, since) => answerOf.get(environmentId, operation, since) !== undefined,
    answeredSinceRefused: async ({ environmentId, operation, requestKey, startId }) =>
      answeredSince.get(environmentId, operation, requestKey, startId) !== undefined,
    refusal: async (call, limits, now) => {
      const verdict = decideMoney(call.meter, states.money(call, limits, now), limits);
      return verdict !== 'go' && verdict.kind === 'parked' ? verdict : undefined;
    },
    doubt: async (of) => states.doubt(of),
  };
}

/** The use of an owned answer stands among the calls: 0 units. */
export function useWriter(database: Connection): (use: OwnedUse) => void {
  const insert = database.prepare(
    `INSERT INTO calls (start_id, environment_id, run_id, row, stage, operation, meter, subject_space, subject_id, request_key, attempt,
       started_at, settled_at, duration_ms, charge, units_charged, raw_sha256)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), 0, ?, ?, 0, 'owned', 0, unhex(?))`,
  );
  return (use) =>
    void insert.run(
      use.startId,
      use.environmentId,
      use.runId,
      use.row,
      use.stage,
      use.operation,
      use.meter,
      use.subject?.space ?? null,
      use.subject?.id ?? null,
      use.requestKey,
      use.at,
      use.at,
      use.rawSha256,
    );
}
