import { LedgerError } from '../../domain/errors.js';
import type { ApiName } from '../../domain/provider.js';
import { canonicalBaseUrl } from '../../domain/urls.js';
import { type Message, message } from '../../util/message-parts.js';
import { Bodies, type Packed, type Packer } from '../answers/bodies.js';
import { AHEAD_MS } from '../clock-ahead.js';
import { AssumptionFailed, type Database, type Script, type Sql, statements } from '../db/database.js';
import { callParams, parseStored } from '../db/stored-json.js';
import { discardBody } from '../health.js';
import { attemptStore, SPEND } from '../rows/attempts.js';
import { type AllowanceStore, allowanceStore } from './allowances.js';
import type { NewAttempt, RefusedRequest, Settlement, StoredAnswer, StoredAnswerUse } from './calls.js';
import {
  type CallContext,
  decideMoney,
  decideRequest,
  type Intent,
  type IntentOutcome,
  type Limits,
  type MoneyState,
  type NewCall,
  possibleCost,
  type UnknownCharges,
  type UnknownChargesOf,
} from './intent.js';
import { intentStates } from './read-intent-state.js';
import { contactStore, permissionStore } from './usage.js';

export type CallStore = Omit<ReturnType<typeof callStore>, 'allSettled'>;

/** Checks that depend on other calls run in the same transaction as the write. */
export function callStore(database: Database, packer: Packer, onNote: (note: Message) => void = () => {}) {
  const { count, row, rows } = statements(database);
  const bodies = new Bodies(database);
  const attempts = attemptStore(database);
  const { observe, ...allowanceMethods } = allowanceStore(database);
  const { settle, allSettled } = settling(database, packer, { observe });
  const addEnvironment = database.prepare('INSERT INTO environments (api, name) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const selectEnvironment = database
    .prepare<[string, string], number>('SELECT id FROM environments WHERE api = ? AND name = ?')
    .pluck();
  const environment = (api: string, name: string) => selectEnvironment.get(api, canonicalBaseUrl(name));
  const findAnswer = row<[number, string, number], StoredAnswer & { params: string | null }>(
    `SELECT call_id AS callId, lower(hex(raw_sha256)) AS rawSha256, calls.settled_at AS fetchedAt, params
     FROM answers JOIN calls ON calls.id = call_id
     WHERE answers.environment_id = ? AND answers.request_key = unhex(?) AND calls.settled_at >= ? AND raw_sha256 IS NOT NULL`,
  );
  // Reads only recent calls: a ledger may hold millions.
  const anyAnswer = row<[number], 1>(
    `SELECT 1 FROM calls WHERE id > (SELECT max(id) FROM calls) - 20000 AND environment_id = ?
       AND settled_at IS NOT NULL AND (error_code IS NULL OR error_class IN ('not_available', 'fail_row', 'park', 'block_operation')) AND charge <> 'owned' LIMIT 1`,
  );
  const unitPrices = rows<[number], { operation: string; units: number }>(
    `SELECT operation, units_charged AS units FROM calls WHERE id IN (
       SELECT max(id) FROM calls WHERE id > (SELECT max(id) FROM calls) - 20000 AND environment_id = ? AND meter = 'unit'
         AND charge = 'charged' AND units_charged IS NOT NULL GROUP BY operation)`,
  );
  const answerOf = row<[number, string, number], 1>(
    `SELECT 1 FROM calls WHERE id > (SELECT max(id) FROM calls) - 20000 AND environment_id = ? AND operation = ? AND settled_at >= ?
       AND (error_code IS NULL OR error_class IN ('not_available', 'fail_row')) AND charge <> 'owned' LIMIT 1`,
  );
  // A call that was in flight during the refusal proves nothing.
  const answeredSince = row<[number, string, string, number], 1>(
    `SELECT 1 FROM calls AS refused JOIN calls AS later
       ON later.id > refused.id AND later.environment_id = refused.environment_id AND later.operation = refused.operation
     WHERE refused.id > (SELECT max(id) FROM calls) - 20000 AND refused.environment_id = ? AND refused.operation = ?
       AND refused.request_key = unhex(?) AND refused.start_id < ? AND refused.error_class = 'block_operation'
       AND later.started_at >= refused.settled_at AND later.settled_at IS NOT NULL AND later.error_code IS NULL
       AND later.charge <> 'owned' LIMIT 1`,
  );
  const anyLost = row<[], 1>(
    'SELECT 1 FROM calls WHERE in_doubt > 0 UNION ALL SELECT 1 FROM calls WHERE settled_at IS NULL LIMIT 1',
  );
  const attemptsInVain = count<[object]>(
    `SELECT count(DISTINCT start_id) FROM calls WHERE run_id = @runId AND row = @row AND request_key = unhex(@requestKey)
       AND start_id <> @attemptId AND error_class = 'retry' AND id > coalesce((SELECT max(id) FROM calls AS good
         WHERE good.run_id = @runId AND good.row = @row AND good.request_key = unhex(@requestKey)
           AND good.settled_at IS NOT NULL AND good.error_code IS NULL), 0)`,
  );
  const insertIntent = database
    .prepare<[object], number>(
      `INSERT INTO calls (start_id, environment_id, run_id, row, stage, operation, meter, subject_space, subject_id, request_key, attempt, started_at)
       VALUES (@attemptId, @environmentId, @runId, @row, @stage, @operation, @meter, @space, @subjectId, unhex(@requestKey), @attempt, @startedAt) RETURNING id`,
    )
    .pluck();
  const withdraw = database.prepare('DELETE FROM calls WHERE id = ? AND start_id = ? AND settled_at IS NULL');
  const use = useWriter(database);
  const disownBody = discardBody(database);
  const disownAnswer = database.prepare('DELETE FROM answers WHERE environment_id = ? AND request_key = unhex(?)');
  const states = intentStates(database);

  return {
    ...attempts,
    /** Begins an attempt: its intents are leased until `leaseUntil`. Its ID fences the calls it completes. */
    async begin(attempt: NewAttempt) {
      const id = await attempts.begin(attempt);
      states.begun(id, attempt.purse ?? id);
      return id;
    },
    ...allowanceMethods,
    ...permissionStore(database),
    ...contactStore(database),
    /** Where answers come from. All spellings of a base URL are one environment. */
    environment: (api: ApiName, name: string) =>
      database.write(function* () {
        yield* addEnvironment.run(api, canonicalBaseUrl(name));
        return (yield* environment(api, name)) as number;
      }),
    /** Reads only: an unused environment is not created. */
    findEnvironment: (api: ApiName, name: string) => database.read(() => environment(api, name)),
    /** The newest stored answer to this request, unless it is older than `notBefore`. */
    findAnswer: async (
      environmentId: number,
      requestKey: string,
      notBefore: number,
    ): Promise<StoredAnswer | undefined> => {
      const found = await findAnswer(environmentId, requestKey, notBefore);
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
    readBody: async (sha256: string) => {
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
    /** Records the reuse of a stored answer outside of any row. Rows record their own. */
    recordUse: (used: StoredAnswerUse) => database.write(() => use(used), { environments: [used.environmentId] }),
    /**
     * Checks the attempt, earlier calls for the same request, the allowance and the limits. Then records the call before
     * it is sent. A returned intent survives a crash: it is the reservation.
     */
    intend: async (call: NewCall, limits: Limits): Promise<IntentOutcome> => {
      if (database.broken !== undefined) throw database.broken;
      database.mustHaveRoom();
      const { attemptId, environmentId, runId, row, operation, meter, requestKey, subject } = call;
      const insert = () => insertIntent.get({ ...call, space: subject?.space ?? null, subjectId: subject?.id ?? null });
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
    /**
     * Writes call, units, body, stored answer and allowance in one transaction. If no other call was in flight, the
     * remaining units decide about lost calls (V1-5). False if another attempt took over: nothing was written.
     */
    settle,
    /** A run buys everything again: answers from the future count as older than it. */
    dateBack: (createdAt: number) =>
      database.write(() =>
        database
          .prepare('UPDATE calls SET settled_at = ? WHERE settled_at > ?')
          .run(createdAt - 1, createdAt + AHEAD_MS),
      ),
    /** Resolves when every call completed so far is on disk or has failed. */
    allSettled,
    /** Removes the intent of a free call that needs no record. */
    withdraw: ({ id, attemptId, environmentId }: Intent) =>
      database.write(() => withdraw.run(id, attemptId), { environments: [environmentId] }),
    /** Operation → the units of its newest charged call, among recent calls. */
    unitPrices: async (environmentId: number): Promise<ReadonlyMap<string, number>> =>
      new Map((await unitPrices(environmentId)).map(({ operation, units }) => [operation, units])),
    /** Has the provider answered any call recently? Its own refusals count as answers. */
    hasAnswered: async (environmentId: number) => (await anyAnswer(environmentId)) !== undefined,
    /** Was the operation answered since this time, for any row? A refusal does not count. */
    wasAnswered: async (environmentId: number, operation: string, since: number) =>
      (await answerOf(environmentId, operation, since)) !== undefined,
    /** Was this request refused in an earlier attempt, and the operation answered for another request since? */
    answeredSinceRefused: async ({ environmentId, operation, requestKey, attemptId }: RefusedRequest) =>
      (await answeredSince(environmentId, operation, requestKey, attemptId)) !== undefined,
    /** The number of earlier attempts in which this row's request failed since its last answer. */
    attemptsInVain: ({
      runId,
      row: number,
      requestKey,
      attemptId,
    }: Pick<CallContext, 'runId' | 'row' | 'requestKey'> & { readonly attemptId: number }) =>
      attemptsInVain({ runId, row: number, requestKey, attemptId }),
    /** The check of `intend` without the write. Undefined if the call may be sent now or soon. */
    refusal: async (
      call: Pick<NewCall, 'attemptId' | 'environmentId' | 'operation' | 'meter'>,
      limits: Limits,
      now: number,
    ): Promise<Extract<IntentOutcome, { kind: 'parked' }> | undefined> => {
      const verdict = decideMoney(call.meter, await database.read(() => states.money(call, limits, now)), limits);
      return verdict !== 'go' && verdict.kind === 'parked' ? verdict : undefined;
    },
    /** Is any call without an answer known? */
    hasLostCalls: async () => (await anyLost()) !== undefined,
    /** Calls since the last answer that may have been charged and must not simply be repeated. */
    unknownCharges: (of: UnknownChargesOf): Promise<UnknownCharges> => database.read(() => states.unknownCharges(of)),
  };
}

/** The reuse of a stored answer is recorded as a call of 0 units. */
export function useWriter(database: Sql): (use: StoredAnswerUse) => Script<void> {
  const insert = database.prepare(
    `INSERT INTO calls (start_id, environment_id, run_id, row, stage, operation, meter, subject_space, subject_id, request_key, attempt,
       started_at, settled_at, duration_ms, charge, units_charged, raw_sha256)
     VALUES (@attemptId, @environmentId, @runId, @row, @stage, @operation, @meter, @space, @subjectId, unhex(@requestKey), 0,
       @at, @at, 0, 'owned', 0, unhex(@rawSha256))`,
  );
  return (use) => insert.run({ ...use, space: use.subject?.space ?? null, subjectId: use.subject?.id ?? null });
}

/** Writes call, units, body, stored answer and allowance in one transaction, after the body is packed. */
function settling(database: Database, packer: Packer, allowances: Pick<AllowanceStore, 'observe'>) {
  const script = settlementWriter(database, allowances);
  const write = (intent: Intent, settlement: Settlement, packed: Packed | null) =>
    database.write(() => script(intent, settlement, packed), { environments: [intent.environmentId] });
  /** Settlements whose body is being packed. */
  const away = new Set<Promise<boolean>>();
  return {
    settle: (intent: Intent, settlement: Settlement): Promise<boolean> => {
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

function settlementWriter(database: Sql, allowances: Pick<AllowanceStore, 'observe'>) {
  const bodies = new Bodies(database);
  const settleCall = database.prepare(
    `UPDATE calls SET settled_at = @settledAt, duration_ms = @durationMs, http_status = @httpStatus, error_class = @errorClass,
       error_code = @errorCode, request_id = @requestId, charge = @charge, units_charged = @unitsCharged, in_doubt = @inDoubt,
       remaining_units = @remainingUnits, exact = @exact, raw_sha256 = unhex(@sha256), params = @params,
       replaces = (SELECT call_id FROM answers WHERE answers.environment_id = @replacedIn AND answers.request_key = unhex(@requestKey))
     WHERE id = @id AND start_id = @attemptId AND ${OPEN}`,
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
    const { settledAt, unitsCharged, answer, allowance } = settlement;
    const sha256 = packed?.sha256 ?? null;
    const isStored = answer !== null && sha256 !== null;
    // Only a success reports reliable remaining units. A gateway that refuses may not know them.
    const alone =
      allowance !== null &&
      settlement.errorCode === null &&
      intent.alone &&
      (yield* laterUnit.get(intent.id, intent.environmentId)) === undefined;
    const changes = yield* settleCall.change({
      ...settlement,
      ...intent,
      inDoubt: settlement.inDoubt ? 1 : 0,
      exact: alone && settlement.remainingUnits !== null ? 1 : 0,
      sha256,
      params: answer?.params ?? null,
      // Only a stored answer replaces another.
      replacedIn: isStored ? intent.environmentId : null,
    });
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
