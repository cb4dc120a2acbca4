// Reads the state that decides whether a call may be sent.

import { REPEATS_ALIKE } from '../../domain/errors.js';
import { KEY_CHECK } from '../../domain/outcomes.js';
import { AssumptionFailed, type Script, type Sql } from '../db/database.js';
import { SHARES_LIMITS } from '../rows/attempts.js';
import type { Closure } from './calls.js';
import type { Limits, MoneyState, NewCall, RequestState, UnknownCharges, UnknownChargesOf } from './intent.js';

type Counted = Pick<NewCall, 'attemptId' | 'environmentId' | 'operation' | 'meter'>;

interface Flights {
  readonly shared: number;
  readonly own: number;
}

type Seen = [
  alive: 0 | 1,
  unitsSpent: number,
  reportsSpent: number,
  available: number | null,
  resetAt: number | null,
  anyClosure: 0 | 1,
  anyInFlight: 0 | 1,
  underWay: 0 | 1,
  answered: 0 | 1,
  anyUnknownCharge: 0 | 1,
  purse: number,
];

const UNKNOWN_ATTEMPT: Seen = [0, 0, 0, null, null, 0, 0, 0, 0, 0, 0];
const NO_REQUEST = '';

/**
 * With more units left than can be in flight, calls in flight need no count: an attempt has at most 256.
 * docs/developers/performance.md, "Cost of the ledger", has the measurement.
 */
const MORE_THAN_IN_FLIGHT = 10_000;

/** Read inside the transaction of an intent. */
export function intentStates(database: Sql) {
  // One statement, because every call runs it. Rare states are only detected here and read separately.
  const look = database
    .prepare<unknown[], Seen>(
      `SELECT own.ended_at IS NULL, purse.units_spent, purse.reports_spent, available, reset_at,
         EXISTS (SELECT 1 FROM closures WHERE environment_id = asked.environment AND last_start_id >= purse.id),
         EXISTS (SELECT 1 FROM calls WHERE settled_at IS NULL AND environment_id = asked.environment AND meter = ?),
         EXISTS (SELECT 1 FROM calls WHERE settled_at IS NULL AND environment_id = asked.environment AND request_key = asked.key),
         EXISTS (SELECT 1 FROM answers JOIN calls ON calls.id = call_id
           WHERE answers.environment_id = asked.environment AND answers.request_key = asked.key AND calls.settled_at >= ? AND raw_sha256 IS NOT NULL),
         EXISTS (SELECT 1 FROM calls WHERE environment_id = asked.environment AND request_key = asked.key AND in_doubt > 0), purse.id
       FROM (SELECT ? AS environment, unhex(?) AS key, ? AS start) AS asked
       JOIN starts AS own ON own.id = asked.start JOIN starts AS purse ON purse.id = coalesce(own.purse_id, own.id)
       LEFT JOIN allowances ON environment_id = asked.environment`,
    )
    .raw();
  // Each attempt tries again operations that were refused in an earlier one.
  const closures = database.prepare<[number, number, string, number], Closure>(
    `SELECT operation, reason, until, message, closed_at AS closedAt FROM closures
     WHERE environment_id = ? AND last_start_id >= ? AND (operation IS NULL OR operation = ?) AND (until IS NULL OR until > ?)
     ORDER BY closed_at LIMIT 1`,
  );
  const inFlight = database.prepare<[object], Flights>(
    `SELECT count(*) AS shared, count(*) FILTER (WHERE ${SHARES_LIMITS}) AS own
     FROM calls WHERE settled_at IS NULL AND environment_id = @environmentId AND meter = @meter`,
  );
  // The same report may be in flight in another form.
  const reportUnderWay = database
    .prepare<[number, string, string], 1>(
      `SELECT 1 FROM calls WHERE settled_at IS NULL AND environment_id = ? AND meter = 'report' AND subject_space = ? AND subject_id = ?`,
    )
    .pluck();
  const { unknownCharges } = unknownChargeReader(database);
  /** The attempt whose limits each attempt shared when it began. */
  const purses = new Map<number, number>();
  /** Environments that had few units left when last read. */
  const nearlySpent = new Set<number>();
  const lookFor = ({ attemptId, environmentId, meter }: Counted, requestKey: string, reusableSince: number) =>
    look.get(meter, reusableSince, environmentId, requestKey, attemptId);
  function* see(call: Counted, requestKey: string, reusableSince: number): Script<Seen> {
    const seen = (yield* lookFor(call, requestKey, reusableSince)) ?? UNKNOWN_ATTEMPT;
    if (!purses.has(call.attemptId)) purses.set(call.attemptId, seen[10]);
    return seen;
  }
  const isLedAnew = (attemptId: number, seen: Seen): boolean => purses.get(attemptId) !== seen[10];
  function isToBeCounted({ environmentId, meter }: Counted, seen: Seen, limits: Limits, now: number): boolean {
    const unitsLeft = unitsLeftOf(seen, now);
    const { unitsEach = 1, unitsEachInFlight = unitsEach } = limits;
    const enough = MORE_THAN_IN_FLIGHT * Math.max(unitsEach, unitsEachInFlight);
    const isLittle = meter === 'unit' && unitsLeft !== null && unitsLeft < enough;
    if (meter === 'unit') nearlySpent[isLittle ? 'add' : 'delete'](environmentId);
    return isLittle || budgetOf(meter, limits) !== null;
  }
  function* money(call: Counted, seen: Seen, limits: Limits, now: number): Script<MoneyState> {
    const { environmentId, operation, meter } = call;
    const [, , , , , anyClosure, , , , , purse] = seen;
    const isCounted = isToBeCounted(call, seen, limits, now);
    const flights = isCounted ? yield* inFlight.get({ purse, environmentId, meter }) : undefined;
    const closure = anyClosure === 1 ? yield* closures.get(environmentId, purse, operation, now) : undefined;
    return moneyOf(seen, flights, closure, now);
  }

  return {
    unknownCharges,
    /** Registers an attempt of this process and the attempt whose limits it shares. */
    begun: (attemptId: number, purse: number) => {
      purses.set(attemptId, purse);
    },
    /**
     * Reads the state and writes the intent in one round trip. It assumes that there is no closure and no unknown charge.
     */
    *guess<T>(call: NewCall, limits: Limits, write: Script<T>) {
      const { attemptId, environmentId, meter, requestKey, reusableSince, startedAt } = call;
      const purse = purses.get(attemptId);
      if (purse === undefined) throw new AssumptionFailed();
      const own = lookFor(call, requestKey, reusableSince);
      const mayCount = budgetOf(meter, limits) !== null || (meter === 'unit' && nearlySpent.has(environmentId));
      const count = mayCount ? [inFlight.get({ purse, environmentId, meter })] : [];
      const answers = yield* database.together<unknown[]>(own, ...count, write);
      const seen = (answers[0] ?? UNKNOWN_ATTEMPT) as Seen;
      // Without a count, the written record comes second.
      const flights = mayCount ? (answers[1] as Flights | undefined) : undefined;
      const written = answers.at(-1) as T;
      const [alive, , , , , anyClosure, , underWay, answered, anyUnknownCharge] = seen;
      const isUncounted = isToBeCounted(call, seen, limits, startedAt) && flights === undefined;
      if (isUncounted || anyClosure + anyUnknownCharge > 0) throw new AssumptionFailed();
      const request: RequestState = {
        alive: alive === 1,
        hasNewLeader: isLedAnew(attemptId, seen),
        underWay: underWay === 1,
        answered: answered === 1,
        unknownCharges: undefined,
      };
      return { request, money: moneyOf(seen, flights, undefined, startedAt), written };
    },
    *money(call: Counted, limits: Limits, now: number) {
      return yield* money(call, yield* see(call, NO_REQUEST, Number.POSITIVE_INFINITY), limits, now);
    },
    /** Earlier calls for the same request, of any attempt. */
    *of(call: NewCall) {
      const { environmentId, requestKey, meter, subject } = call;
      const seen = yield* see(call, requestKey, call.reusableSince);
      const [alive, , , , , , , underWay, answered, anyUnknownCharge] = seen;
      const report = meter === 'report' && subject !== null;
      const sameReport = report && (yield* reportUnderWay.get(environmentId, subject.space, subject.id)) === 1;
      const request: RequestState = {
        alive: alive === 1,
        hasNewLeader: isLedAnew(call.attemptId, seen),
        underWay: underWay === 1 || sameReport,
        answered: answered === 1,
        unknownCharges: anyUnknownCharge === 1 || report ? yield* unknownCharges(call) : undefined,
      };
      return { request, money: (limits: Limits) => money(call, seen, limits, call.startedAt) };
    },
  };
}

const budgetOf = (meter: Counted['meter'], { units, reports }: Limits): number | null =>
  meter === 'unit' ? units : meter === 'report' ? reports : null;

const unitsLeftOf = ([, , , available, resetAt]: Seen, now: number): number | null =>
  resetAt !== null && resetAt <= now ? null : available;

function moneyOf(seen: Seen, flights: Flights | undefined, closure: Closure | undefined, now: number): MoneyState {
  const [, unitsSpent, reportsSpent, , , , anyInFlight] = seen;
  const { shared, own } = flights ?? { shared: anyInFlight, own: anyInFlight };
  return {
    closure,
    unitsSpent,
    reportsSpent,
    unitsInFlight: own,
    reportsInFlight: own,
    sharedInFlight: shared,
    unitsLeft: unitsLeftOf(seen, now),
  };
}

/** A call that is open although its attempt has ended. */
export const LEFT_OPEN = `settled_at IS NULL AND meter <> 'free' AND calls.stage IS DISTINCT FROM '${KEY_CHECK}'
  AND NOT EXISTS (SELECT 1 FROM starts WHERE starts.id = start_id AND ended_at IS NULL AND lease_until >= @now)`;

/**
 * A later answer settles the question. in_doubt is 2 if a person allowed the request again: the call no longer counts
 * against the cap. kybatch still looks for a report before it generates another.
 */
export const UNANSWERED = `in_doubt > 0 AND id > coalesce((SELECT call_id FROM answers
  WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key), 0)`;

/** Unanswered calls for one request that may have been charged. */
const OF_REQUEST = `FROM calls WHERE environment_id = @environmentId AND request_key = unhex(@requestKey) AND ${UNANSWERED}`;

/** A report is identified by its company, whatever else was requested with it. */
const OF_REPORT = `FROM calls WHERE environment_id = @environmentId AND subject_space = @space AND subject_id = @id
  AND meter = 'report' AND ${UNANSWERED}`;

/**
 * It was or may have been charged, and brought no usable answer: no response, a success that cannot be read, or a
 * charged failure. Each counts against `lost_answer_tries`. "in_doubt > 0" selects the index.
 */
export const LOST = `in_doubt > 0 AND in_doubt = 1
  AND (http_status IS NULL OR http_status BETWEEN 200 AND 299 OR charge = 'charged')`;

const FAILED = `in_doubt = 1 AND http_status NOT BETWEEN 200 AND 299 AND charge = 'unknown'`;

const COUNTS = `SELECT count(*) FILTER (WHERE ${LOST}) AS lost,
  count(*) FILTER (WHERE ${FAILED}) AS failed,
  count(*) FILTER (WHERE ${FAILED} AND start_id = @attemptId) AS failedNow,
  count(DISTINCT start_id) FILTER (WHERE ${FAILED} AND start_id <> @attemptId) AS failedAttempts,
  count(*) FILTER (WHERE in_doubt = 1 AND error_code IN (${REPEATS_ALIKE.map((code) => `'${code}'`).join()})) AS malformed,
  coalesce(max(settled_at), 0) AS lastEndedAt`;

const NO_UNKNOWN_CHARGES: UnknownCharges = {
  lost: 0,
  failed: 0,
  failedNow: 0,
  failedAttempts: 0,
  malformed: 0,
  lastEndedAt: 0,
};
const NO_ATTEMPT = 0;

export function unknownChargeReader(database: Sql) {
  const ofRequest = {
    counts: database.prepare<[object], UnknownCharges>(`${COUNTS} ${OF_REQUEST}`),
    ids: database.prepare<[object], number>(`SELECT id ${OF_REQUEST}`).pluck(),
  };
  const ofReport = {
    counts: database.prepare<[object], UnknownCharges>(`${COUNTS} ${OF_REPORT}`),
    ids: database.prepare<[object], number>(`SELECT id ${OF_REPORT}`).pluck(),
  };
  const openCalls = database
    .prepare<[object], number>(
      `SELECT count(*) FROM calls WHERE settled_at IS NULL AND environment_id = @environmentId AND request_key = unhex(@requestKey)`,
    )
    .pluck();
  const asked = ({ environmentId, requestKey, meter, subject, attemptId = NO_ATTEMPT }: UnknownChargesOf) =>
    meter === 'report' && subject !== null
      ? { by: ofReport, values: { environmentId, attemptId, ...subject } }
      : { by: ofRequest, values: { environmentId, attemptId, requestKey } };
  return {
    *unknownCharges(of: UnknownChargesOf): Script<UnknownCharges> {
      const { by, values } = asked(of);
      const counts = (yield* by.counts.get(values)) ?? NO_UNKNOWN_CHARGES;
      const open = of.attemptId === undefined && by === ofRequest ? yield* openCalls.get(values) : undefined;
      return { ...counts, lost: counts.lost + (open ?? 0) };
    },
    calls(of: UnknownChargesOf): Script<readonly number[]> {
      const { by, values } = asked(of);
      return by.ids.all(values);
    },
  };
}

/** For answers about to be deleted. They settled earlier lost calls, whose question must not reopen. */
export function clearUnknownCharges(database: Sql, goneCalls: string, parameter: string | number): Script<void> {
  return database
    .prepare(
      `UPDATE calls SET in_doubt = 0 WHERE in_doubt > 0 AND EXISTS (SELECT 1 FROM answers WHERE answers.environment_id = calls.environment_id
         AND answers.request_key = calls.request_key AND answers.call_id > calls.id AND answers.call_id IN (${goneCalls}))`,
    )
    .run(parameter);
}
