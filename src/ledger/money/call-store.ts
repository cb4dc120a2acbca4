import { LedgerError } from '../../domain/errors.js';
import { canonicalBaseUrl } from '../../domain/urls.js';
import { type Message, message } from '../../util/message-parts.js';
import { Bodies, type Packed, type Packer } from '../answers/bodies.js';
import type { CorrectedTimes } from '../clock-ahead.js';
import { AssumptionFailed, type Database, type Script, type Sql } from '../db/database.js';
import { callParams } from '../db/json-columns.js';
import { parseStored } from '../db/stored-json.js';
import { discardBody } from '../health.js';
import { attemptStore, SPEND } from '../rows/attempts.js';
import { type AllowanceWriter, allowanceStore } from './allowances.js';
import type { CallStore, Settlement, StoredAnswerUse } from './calls.js';
import {
  decideMoney,
  decideRequest,
  type Intent,
  type IntentOutcome,
  type MoneyState,
  possibleCost,
} from './intent.js';
import { intentStates } from './read-intent-state.js';
import { contactStore, permissionStore } from './usage.js';

/** Checks that depend on other calls run in the same transaction as the write. */
export function callStore(
  database: Database,
  times: CorrectedTimes,
  packer: Packer,
  onNote: (note: Message) => void = () => {},
): CallStore & {
  /** Resolves when every call completed so far is on disk or has failed. */
  allSettled(): Promise<void>;
} {
  const bodies = new Bodies(database);
  const attempts = attemptStore(database);
  const allowances = allowanceStore(database);
  const { settle, allSettled } = settling(database, packer, allowances);
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
  // Reads only recent calls: a ledger may hold millions.
  const anyAnswer = database.prepare<[number], 1>(
    `SELECT 1 FROM calls WHERE id > (SELECT max(id) FROM calls) - 20000 AND environment_id = ?
       AND settled_at IS NOT NULL AND (error_code IS NULL OR error_class IN ('not_available', 'fail_row', 'park', 'block_operation')) AND charge <> 'owned' LIMIT 1`,
  );
  const unitPrices = database.prepare<[number], { operation: string; units: number }>(
    `SELECT operation, units_charged AS units FROM calls WHERE id IN (
       SELECT max(id) FROM calls WHERE id > (SELECT max(id) FROM calls) - 20000 AND environment_id = ? AND meter = 'unit'
         AND charge = 'charged' AND units_charged IS NOT NULL GROUP BY operation)`,
  );
  const answerOf = database.prepare<[number, string, number], 1>(
    `SELECT 1 FROM calls WHERE id > (SELECT max(id) FROM calls) - 20000 AND environment_id = ? AND operation = ? AND ${times.answeredAt} >= ?
       AND (error_code IS NULL OR error_class IN ('not_available', 'fail_row')) AND charge <> 'owned' LIMIT 1`,
  );
  // A call that was in flight during the refusal proves nothing.
  const answeredSince = database.prepare<[number, string, string, number], 1>(
    `SELECT 1 FROM calls AS refused JOIN calls AS later
       ON later.id > refused.id AND later.environment_id = refused.environment_id AND later.operation = refused.operation
     WHERE refused.id > (SELECT max(id) FROM calls) - 20000 AND refused.environment_id = ? AND refused.operation = ?
       AND refused.request_key = unhex(?) AND refused.start_id < ? AND refused.error_class = 'block_operation'
       AND later.started_at >= refused.settled_at AND later.settled_at IS NOT NULL AND later.error_code IS NULL
       AND later.charge <> 'owned' LIMIT 1`,
  );
  const attemptsInVain = database
    .prepare<[object], number>(
      `SELECT count(DISTINCT start_id) FROM calls WHERE run_id = @runId AND row = @row AND request_key = unhex(@requestKey)
         AND start_id <> @attemptId AND error_class = 'retry' AND id > coalesce((SELECT max(id) FROM calls AS good
           WHERE good.run_id = @runId AND good.row = @row AND good.request_key = unhex(@requestKey)
             AND good.settled_at IS NOT NULL AND good.error_code IS NULL), 0)`,
    )
    .pluck();
  const insertIntent = database
    .prepare<unknown[], number>(
      `INSERT INTO calls (start_id, environment_id, run_id, row, stage, operation, meter, subject_space, subject_id, request_key, attempt, started_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), ?, ?) RETURNING id`,
    )
    .pluck();
  const withdraw = database.prepare('DELETE FROM calls WHERE id = ? AND start_id = ? AND settled_at IS NULL');
  const use = useWriter(database);
  const disownBody = discardBody(database);
  const disownAnswer = database.prepare('DELETE FROM answers WHERE environment_id = ? AND request_key = unhex(?)');
  const states = intentStates(database, times);

  return {
    ...attempts.store,
    async begin(attempt) {
      const id = await attempts.store.begin(attempt);
      states.begun(id, attempt.purse ?? id);
      return id;
    },
    ...allowances.store,
    ...permissionStore(database),
    ...contactStore(database),
    settle,
    allSettled,
    environment: (api, name) =>
      database.write(function* () {
        yield* addEnvironment.run(api, canonicalBaseUrl(name));
        return (yield* environment(api, name)) as number;
      }),
    findEnvironment: (api, name) => database.read(() => environment(api, name)),
    findAnswer: async (environmentId, requestKey, notBefore) => {
      const found = await database.read(() => findAnswer.get(environmentId, requestKey, notBefore));
      if (found === undefined) return undefined;
      const { params, ...answer } = found;
      if (params === null || parseStored(params, callParams.fits) !== undefined) return answer;
      // The parameters cannot be parsed, so the answer is bought again, as with a damaged body.
      if (!database.readonly) {
        await database.write(() => disownAnswer.run(environmentId, requestKey));
        onNote(
          message(
            'STORED_CALL_DAMAGED',
            `the request of call ${answer.callId} is damaged. Its answer is not used and is bought again`,
          ),
        );
      }
      return undefined;
    },
    readBody: async (sha256) => {
      const body = await database.read(() => bodies.readSound(sha256));
      if (body === undefined && !database.readonly) {
        await database.write(() => disownBody(sha256));
        onNote(
          message(
            'STORED_ANSWER_DAMAGED',
            `the stored answer ${sha256.slice(0, 12)}… is damaged. It is not used and is bought again`,
          ),
        );
      }
      return body;
    },
    recordUse: (used) => database.write(() => use(used), { environments: [used.environmentId] }),
    intend: async (call, limits) => {
      if (database.broken !== undefined) throw database.broken;
      database.mustHaveRoom();
      const { attemptId, environmentId, runId, row, operation, meter, requestKey, subject } = call;
      const insert = () =>
        insertIntent.get(
          attemptId,
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
      const intended = (id: number | undefined, { sharedInFlight }: MoneyState): IntentOutcome => {
        const alone = meter === 'unit' && sharedInFlight === 0;
        const intent = { id: id as number, attemptId, environmentId, runId, row, operation, meter, requestKey, alone };
        return { kind: 'intent', intent };
      };
      return await database.write(
        function* (mayGuess): Script<IntentOutcome> {
          if (mayGuess) {
            const { request, money, written } = yield* states.guess(call, limits, insert());
            if (decideRequest(call, request) === 'go' && decideMoney(meter, money, limits) === 'go')
              return intended(written, money);
            throw new AssumptionFailed();
          }
          const state = yield* states.of(call);
          const before = decideRequest(call, state.request);
          if (before !== 'go') return before;
          const money = yield* state.money(limits);
          const verdict = decideMoney(meter, money, limits);
          return verdict === 'go' ? intended(yield* insert(), money) : verdict;
        },
        // The same report may be in flight in another form, which needs a separate look-up.
        { environments: [environmentId], turn: meter === 'report' ? 'own' : 'guess' },
      );
    },
    withdraw: ({ id, attemptId, environmentId }) =>
      database.write(() => withdraw.run(id, attemptId), { environments: [environmentId] }),
    unitPrices: async (environmentId) => {
      const found = await database.read(() => unitPrices.all(environmentId));
      return new Map(found.map(({ operation, units }) => [operation, units]));
    },
    hasAnswered: async (environmentId) => (await database.read(() => anyAnswer.get(environmentId))) !== undefined,
    wasAnswered: async (environmentId, operation, since) =>
      (await database.read(() => answerOf.get(environmentId, operation, since))) !== undefined,
    answeredSinceRefused: async ({ environmentId, operation, requestKey, attemptId }) =>
      (await database.read(() => answeredSince.get(environmentId, operation, requestKey, attemptId))) !== undefined,
    attemptsInVain: async ({ runId, row, requestKey, attemptId }) =>
      (await database.read(() => attemptsInVain.get({ runId, row, requestKey, attemptId }))) ?? 0,
    refusal: async (call, limits, now) => {
      const verdict = decideMoney(call.meter, await database.read(() => states.money(call, limits, now)), limits);
      return verdict !== 'go' && verdict.kind === 'parked' ? verdict : undefined;
    },
    unknownCharges: (of) => database.read(() => states.unknownCharges(of)),
  };
}

/** The reuse of a stored answer is recorded as a call of 0 units. */
export function useWriter(database: Sql): (use: StoredAnswerUse) => Script<void> {
  const insert = database.prepare(
    `INSERT INTO calls (start_id, environment_id, run_id, row, stage, operation, meter, subject_space, subject_id, request_key, attempt,
       started_at, settled_at, duration_ms, charge, units_charged, raw_sha256)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?), 0, ?, ?, 0, 'owned', 0, unhex(?))`,
  );
  return (use) =>
    insert.run(
      use.attemptId,
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

/** Writes call, units, body, stored answer and allowance in one transaction, after the body is packed. */
function settling(
  database: Database,
  packer: Packer,
  allowances: AllowanceWriter,
): Pick<CallStore, 'settle'> & { readonly allSettled: () => Promise<void> } {
  const script = settlementWriter(database, allowances);
  const write = (intent: Intent, settlement: Settlement, packed: Packed | null) =>
    database.write(() => script(intent, settlement, packed), { environments: [intent.environmentId] });
  /** Settlements whose body is being packed. */
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

/** Written so that no index matches: the index of open calls is full of calls that have just completed. */
const OPEN = 'coalesce(settled_at, 0) = 0';

function settlementWriter(database: Sql, allowances: AllowanceWriter) {
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
    const isStored = answer !== null && sha256 !== null;
    // Only a success reports reliable remaining units. A gateway that refuses may not know them.
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
      // Only a stored answer replaces another.
      isStored ? intent.environmentId : null,
      intent.requestKey,
      intent.id,
      intent.attemptId,
    );
    // An attempt that was taken over writes nothing: another attempt has its intent.
    if (changes === 0) return false;
    if (packed !== null) yield* bodies.store(packed, settledAt);
    if (unitsCharged !== null && unitsCharged > 0 && intent.runId !== null)
      yield* addUnits.run(unitsCharged, intent.runId, intent.row);
    const { units, reports } = possibleCost(intent.meter, settlement);
    if (units + reports > 0) yield* spend.run(units, reports, intent.attemptId);
    if (isStored) yield* saveAnswer.run(intent.environmentId, intent.requestKey, intent.id);
    if (allowance !== null) yield* allowances.observe(intent, allowance, alone, settledAt);
    return true;
  };
}

/** A body that cannot be packed cannot be written, so the ledger reports an error. */
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
