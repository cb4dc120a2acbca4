// Read-only queries for commands such as `status`, `usage` and `runs`.

import type { UnitCounts } from '../domain/account-usage.js';
import type { ApiName } from '../domain/provider.js';
import type { RunSnapshot, SnapshotPart } from './answers/snapshot.js';
import { AHEAD_MS, type ClockAhead } from './clock-ahead.js';
import { type Database, type Script, type Sql, statements } from './db/database.js';
import { attemptOutages, parseStored } from './db/stored-json.js';
import type { OutageNote } from './money/calls.js';
import { UNKNOWN_CHARGE, WAITS, WAITS_AT } from './money/intent.js';
import { LEFT_OPEN } from './money/read-intent-state.js';
import type { UnknownCharge } from './money/unknown-charges.js';
import {
  type Allowances,
  allowancesOf,
  type CallSum,
  type ChargedCalls,
  chargedAmong,
  type Drift,
  driftSince,
  type KeptCalls,
  keptSums,
  readEnvironments,
  readV2Usage,
  spentOn,
  sumsWhere,
  type UsageReport,
  usageLines,
  type V2Usage,
} from './money/usage.js';
import { SPENT_WITHIN_LIMITS } from './rows/attempts.js';
import { countOpenCalls } from './rows/read-rows.js';

export interface KnownRun {
  /** Including summed calls. */
  readonly calls: number;
  /** When an attempt last worked on it. For a process that died: the end of its lease. Null: unknown. */
  readonly heardAt: number | null;
}

/** The queries, and a consistent view of a run. */
export interface LedgerQueries extends ReturnType<typeof ledgerQueries> {
  /** Undefined if there is no such run. The caller closes it. */
  snapshot(runId: string, part?: SnapshotPart): Promise<RunSnapshot | undefined>;
}

export interface AnsweredRequest {
  readonly params: string;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}

export interface CallCount {
  readonly api: string;
  readonly operation: string;
  /** `ok`, `owned`, `under_way`, or the class of the error. */
  readonly class: string;
  /** Null: no response, or not sent. */
  readonly httpStatus: number | null;
  readonly count: number;
}

/** Null if nothing was stored, or it has not ended. */
export interface LastAttempt {
  readonly id: number;
  readonly begunAt: number;
  readonly given: string | null;
  readonly ending: string | null;
  /** Counted against its limits, including calls of helpers. */
  readonly unitsSpent: number;
  readonly reportsSpent: number;
}

/** An attempt on a list. `ending`: as JSON, null if it runs or died. */
export interface PastAttempt extends Omit<LastAttempt, 'id'> {
  readonly runId: string;
}

export interface KnownEnvironment {
  readonly api: ApiName;
  readonly name: string;
  readonly answers: number;
}

export interface CallsSince {
  readonly calls: number;
  readonly units: number;
  readonly reports: number;
}

export interface AttemptSpending {
  readonly units: number;
  readonly reports: number;
  /** Calls of unknown charge: lost, or failed without a documented free failure. */
  readonly unknown: number;
  /** The part that would have cost a unit or a report. It counts against the limits. */
  readonly unknownInBudget: number;
}

export const NO_SPENDING: AttemptSpending = { units: 0, reports: 0, unknown: 0, unknownInBudget: 0 };

export interface RunActivity {
  readonly calls: number;
  readonly owned: number;
  readonly reports: number;
  readonly firstCallAt: number | null;
  readonly lastCallAt: number | null;
  /** When the newest bought answer came. */
  readonly lastAnswerAt: number | null;
  readonly settledSince: number;
  /** Calls that may cost and are in flight, or were lost with their process. */
  readonly underWay: number;
  /** Rows that wait because a report may be lost, and when the search for the last one ends. */
  readonly looking: { readonly rows: number; readonly until: number | null };
  /** When the first parked row may continue. */
  readonly parkedUntil: number | null;
  /** With the first row of each code, and its line. */
  readonly failures: readonly {
    readonly code: string;
    readonly count: number;
    readonly row: number;
    readonly line: number;
  }[];
}

export interface WorkerAtWork {
  readonly worker: string;
  readonly leads: boolean;
  readonly since: number;
  /** It is renewed continuously. */
  readonly leaseUntil: number;
  /** Calls it has sent that are still in flight. */
  readonly underWay: number;
  readonly calls: number;
}

export interface AttemptActivity {
  readonly begunAt: number;
  /** It is running now. Null if only its lease can tell. */
  readonly alive: boolean | null;
  /** It is renewed continuously. A past time means a frozen or dead process. */
  readonly leaseUntil: number;
  /** Null if it did not end regularly. */
  readonly endedAt: number | null;
  /** When it last sent a call or got an answer, else when it began. */
  readonly lastHeardAt: number;
  /** The same for all that share its limits, even after it. */
  readonly lastCallAt: number;
  /** Rows finished since then, without invalid rows. */
  readonly settledRows: number;
  /** Recent calls with temporary failures, by code. A refusal or a missing record is an answer. */
  readonly failedCalls: readonly { readonly code: string; readonly count: number }[];
  /** All rows it finished, and all calls it sent. */
  readonly rowsInAll: number;
  readonly callsInAll: number;
  /** The outages it waits for, or ended in if they last. */
  readonly outages: readonly OutageNote[];
  /** How it ended, as JSON. Null if it did not, or nothing was stored. */
  readonly ending: string | null;
}

export function ledgerQueries(database: Database, now: number, clock = () => now) {
  const { count, row, rows, value } = statements(database);
  const known = row<[object], KnownRun & { listed: 0 | 1 }>(
    `SELECT EXISTS (SELECT 1 FROM runs WHERE id = @runId) AS listed,
       (SELECT count(*) FROM calls WHERE run_id = @runId)
         + (SELECT CAST(coalesce(sum(calls + owned), 0) AS BIGINT) FROM summed_calls WHERE run_id = @runId) AS calls,
       (SELECT max(CASE WHEN died = 1 OR ended_at IS NULL THEN lease_until ELSE ended_at END) FROM starts WHERE run_id = @runId) AS heardAt`,
  );
  const idle = row<[object], 1>(
    `SELECT 1 FROM runs JOIN starts ON starts.id = led_by
     WHERE runs.id = @runId AND (ended_at IS NOT NULL OR lease_until < @now)`,
  );
  const workers = rows<[object], Omit<WorkerAtWork, 'leads'> & { leads: 0 | 1 }>(
    `SELECT coalesce(worker, '') AS worker,
       id = (SELECT led_by FROM runs WHERE runs.id = @runId) AS leads, begun_at AS since, lease_until AS leaseUntil,
       (SELECT count(*) FROM calls WHERE calls.run_id = @runId AND start_id = starts.id AND settled_at IS NULL) AS underWay,
       (SELECT count(*) FROM calls WHERE calls.run_id = @runId AND start_id = starts.id AND (charge IS NULL OR charge <> 'owned')) AS calls
     FROM starts WHERE run_id = @runId AND ended_at IS NULL AND lease_until >= @now ORDER BY purse_id IS NOT NULL, id`,
  );
  const spent = row<[object], AttemptSpending>(
    `SELECT CAST(coalesce(sum(units_charged * 1.0), 0) AS BIGINT) AS units, count(*) FILTER (WHERE meter = 'report' AND charge = 'charged') AS reports,
       count(*) FILTER (WHERE (${UNKNOWN_CHARGE}) OR (${LEFT_OPEN})) AS unknown,
       count(*) FILTER (WHERE ((${UNKNOWN_CHARGE}) OR (${LEFT_OPEN})) AND meter IN ('unit', 'report')) AS unknownInBudget
     FROM calls WHERE ${SPENT_WITHIN_LIMITS}`,
  );
  const callsOf = rows<[object], CallCount>(
    `SELECT api, operation, CASE WHEN charge = 'owned' THEN 'owned' WHEN settled_at IS NULL THEN 'under_way' ELSE coalesce(error_class, 'ok') END AS class,
       http_status AS httpStatus, count(*) AS count
     FROM calls JOIN environments ON environments.id = environment_id WHERE run_id = @runId AND ${SPENT_WITHIN_LIMITS}
     GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 NULLS FIRST`,
  );
  const ahead = row<[number], ClockAhead>(
    `SELECT count(*) AS answers, coalesce(max(settled_at), 0) AS latestAt FROM calls WHERE settled_at > ? AND EXISTS (SELECT 1 FROM answers
       WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key AND call_id = calls.id)`,
  );
  const databaseBytes = value<[], number>('SELECT pg_database_size(current_database())');
  return {
    /** Undefined: there never was such a run. A deleted run is known by its calls. */
    knownOf: async (runId: string): Promise<KnownRun | undefined> => {
      const { listed = 0, calls = 0, heardAt = null } = (await known({ runId })) ?? {};
      return listed === 1 || calls > 0 ? { calls, heardAt } : undefined;
    },
    /** When an attempt last got past the guards. An attempt reads its list, even if nothing is due. `resume` reads none. */
    lastAttemptAt: value<[], number | null>(
      `SELECT max(at) FROM (SELECT max(created_at) AS at FROM runs UNION ALL SELECT max(seen_at) FROM portfolios
         UNION ALL SELECT max(begun_at) FROM starts WHERE run_id IS NOT NULL) AS attempts`,
    ),
    /** The run has no leader, and its deferred rows go to helpers when they are due. */
    isPutOff: async (runId: string) => database.isShared && (await idle({ runId, now: clock() })) !== undefined,
    /** The processes that work on a run, leader first. Empty if one process has the ledger for itself. */
    workers: async (runId: string): Promise<readonly WorkerAtWork[]> =>
      database.isShared
        ? (await workers({ runId, now: clock() })).map((worker) => ({ ...worker, leads: worker.leads === 1 }))
        : [],
    /** Where answers come from, and the number of stored answers of each. */
    environments: rows<[], KnownEnvironment>(
      `SELECT api, name, (SELECT count(*) FROM answers WHERE environment_id = environments.id) AS answers FROM environments
       ORDER BY environments.id`,
    ),
    /** What the calls of an attempt have cost, as far as known. `isOver`: its calls in flight are lost. */
    spent: async (attemptId: number, isOver = database.hasNoWorkers()) => {
      // A lease outlives its process by up to half a minute. The lock does not.
      const at = isOver ? Number.MAX_SAFE_INTEGER : clock();
      return (await spent({ purse: attemptId, now: at })) ?? NO_SPENDING;
    },
    /** Answers in use that are dated in the future. Scans all calls. */
    clockAhead: async (): Promise<ClockAhead | undefined> => {
      const found = await ahead(now + AHEAD_MS);
      return found?.answers ? found : undefined;
    },
    /** The calls of an attempt on a run, counted by result. */
    callsOf: (runId: string, attemptId: number) => callsOf({ runId, purse: attemptId }),
    /** With the charged calls that prices apply to. `kept`, here and below: sums of calls that a page keeps. */
    usage: (kept?: KeptCalls): Promise<UsageReport & { readonly charged: readonly ChargedCalls[] }> =>
      database.read(() => readUsage(database, kept)),
    /** Charged calls of a run, of an attempt, or since a day. */
    charged: async (of: ChargedOf, kept?: KeptCalls) =>
      chargedAmong(await database.read(() => sumsOf(database, of, kept))),
    /** The calls that began since a day, and what they have cost. */
    callsSince: async (since: number, kept?: KeptCalls): Promise<CallsSince> => {
      const { sent: calls, units, reports } = spentOn(await database.read(() => sumsOf(database, { since }, kept)));
      return { calls, units, reports };
    },
    /** What all providers report as used and left, beside kybatch's own counts. */
    countsTold: () => database.read(() => countsTold(database)),
    /** v1's units, as last reported, without a count of calls. Undefined: not reported yet. */
    unitsTold: row<[], UnitCounts>(
      `SELECT remaining_units AS remainingUnits, daily_limit AS dailyLimit, daily_remaining AS dailyRemaining
       FROM allowances JOIN environments ON environments.id = environment_id WHERE api = 'v1' ORDER BY environment_id LIMIT 1`,
    ),
    /** v2's counts only. */
    toldByV2: (): Promise<V2Usage> => database.read(() => readV2Usage(database)),
    allowances: (runId: string) => database.read(() => allowancesOf(database, runId)),
    /** Units charged for all calls, as far as known. Scans all calls. */
    unitsCharged: count<[]>('SELECT CAST(coalesce(sum(units_charged * 1.0), 0) AS BIGINT) FROM calls'),
    /** The size of the server's database. Undefined if the ledger is a file. */
    databaseBytes: async () => (database.isShared ? await databaseBytes() : undefined),
    /** Units since then that only these providers counted. */
    driftSince: (providers: readonly string[], since: number): Promise<readonly Drift[]> =>
      database.read(() => driftSince(database, providers, since)),
    /** Activity of a run. `since` bounds the count of recently finished rows. */
    activity: (runId: string, since: number, kept?: KeptCalls) =>
      database.read(() => readActivity(database, runId, since, kept)),
    /**
     * The attempt that works on a run, or did last. Undefined if there was none. `since` bounds the recent failures.
     * Without it nothing is counted.
     */
    atWork: (runId: string, since?: number) => database.read(() => readAtWork(database, clock(), runId, since)),
    /** The settings and ending of the last attempt on a run, as JSON. Undefined if there was none. */
    lastAttempt: row<[runId: string], LastAttempt>(
      `SELECT id, begun_at AS begunAt, given, ending, units_spent AS unitsSpent, reports_spent AS reportsSpent
       FROM starts WHERE run_id = ? AND purse_id IS NULL ORDER BY id DESC LIMIT 1`,
    ),
    /** The last attempts on the runs of a portfolio, the newest first. */
    attempts: rows<[portfolioId: number, atMost: number], PastAttempt>(
      `SELECT run_id AS runId, begun_at AS begunAt, given, ending, units_spent AS unitsSpent, reports_spent AS reportsSpent
       FROM starts JOIN runs ON runs.id = run_id WHERE portfolio_id = ? AND purse_id IS NULL ORDER BY starts.id DESC LIMIT ?`,
    ),
    /** The process of the last attempt on a run: machine and number. */
    processOf: value<[runId: string], string | null>(
      'SELECT worker FROM starts WHERE run_id = ? AND purse_id IS NULL ORDER BY id DESC LIMIT 1',
    ),
    runOfProcess: value<[worker: string], string>(
      'SELECT run_id FROM starts WHERE worker = ? AND run_id IS NOT NULL ORDER BY id DESC LIMIT 1',
    ),
    /** The stored options of that attempt. A run without one: those of the last attempt on its portfolio. */
    lastGiven: value<[of: { runId: string }], string | null>(
      `SELECT given FROM starts JOIN runs ON runs.id = run_id
       WHERE purse_id IS NULL AND (run_id = @runId OR portfolio_id = (SELECT portfolio_id FROM runs WHERE id = @runId))
       ORDER BY CASE WHEN run_id = @runId THEN 0 ELSE 1 END, starts.id DESC LIMIT 1`,
    ),
    /** The newest stored answer to each request of an operation, oldest first. Scans all calls. */
    answersTo: rows<[environmentId: number, operation: string], AnsweredRequest>(
      `SELECT calls.params, lower(hex(calls.raw_sha256)) AS rawSha256, calls.settled_at AS fetchedAt
       FROM calls JOIN answers ON answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key AND answers.call_id = calls.id
       WHERE calls.environment_id = ? AND calls.operation = ? AND calls.params IS NOT NULL AND calls.raw_sha256 IS NOT NULL
       ORDER BY calls.id`,
    ),
    /** Calls of unknown charge, newest first. */
    unknownCharges: rows<[limit: number], UnknownCharge>(
      `SELECT calls.id AS id, api, environments.name AS environment, operation, ${WAITS.run} AS runId, ${WAITS.row} AS row, line, started_at AS startedAt,
         calls.error_code AS errorCode
       FROM calls INDEXED BY calls_unknown JOIN environments ON environments.id = environment_id
         LEFT JOIN rows ON (rows.run_id, rows.row) = (${WAITS_AT})
       WHERE ${UNKNOWN_CHARGE} ORDER BY calls.id DESC LIMIT ?`,
    ),
  };
}

type ChargedOf = { readonly run: string } | { readonly attempt: number } | { readonly since: number };

const BEGAN_SINCE = 'calls.id >= @first AND started_at >= @since';

/** The calls of a run, of an attempt, or since a day, summed by kind. */
function* sumsOf(database: Database, of: ChargedOf, kept?: KeptCalls): Script<readonly CallSum[]> {
  if ('attempt' in of) return yield* sumsWhere(database, SPENT_WITHIN_LIMITS, { purse: of.attempt });
  // PostgreSQL numbers calls before they are visible, so a later reading could miss some.
  if (kept !== undefined && !database.isShared)
    return (yield* keptSums(database, kept)).filter(({ run, day }) =>
      'run' in of ? run === of.run : Number(day) >= Math.floor(of.since / DAY_MS),
    );
  if ('run' in of) return yield* sumsWhere(database, 'run_id = @run', of);
  return yield* sumsWhere(database, BEGAN_SINCE, { ...of, first: yield* firstCallSince(database, of.since) });
}

const DAY_MS = 86_400_000;

/** Calls are numbered as they begin, so that the first one since a time is found by halves, without an index. */
function* firstCallSince(database: Sql, since: number): Script<number> {
  const next = database.prepare<[number], { id: number; at: number }>(
    'SELECT id, started_at AS at FROM calls WHERE id >= ? ORDER BY id LIMIT 1',
  );
  const last = database.prepare<[], number>('SELECT coalesce(max(id), 0) FROM calls').pluck();
  let [low, high] = [1, ((yield* last.get()) ?? 0) + 1];
  while (low < high) {
    const call = yield* next.get(Math.floor((low + high) / 2));
    if (call === undefined || call.at >= since - CLOCKS_DIFFER_MS) high = Math.floor((low + high) / 2);
    else low = call.id + 1;
  }
  return low;
}

/** Machines that share a ledger may disagree by this much. */
const CLOCKS_DIFFER_MS = 3_600_000;

function* readActivity(database: Database, runId: string, since: number, kept?: KeptCalls): Script<RunActivity> {
  const { calls, owned, reports, firstCallAt, lastCallAt, lastAnswerAt } = spentOn(
    yield* sumsOf(database, { run: runId }, kept),
  );
  // Each part reads only its rows: an index has them in the order of their outcomes.
  const counted = database.prepare<
    [object],
    Pick<RunActivity, 'settledSince' | 'parkedUntil'> & { failed: number; looking: number; lookUntil: number | null }
  >(
    `SELECT (SELECT count(*) FROM rows WHERE run_id = @runId AND updated_at >= @since AND outcome NOT IN ('pending', 'invalid')) AS settledSince,
       (SELECT count(*) FROM rows WHERE run_id = @runId AND outcome = 'failed') AS failed,
       min(next_at) FILTER (WHERE hold = 'parked') AS parkedUntil,
       count(*) FILTER (WHERE hold = 'waiting' AND look_until IS NOT NULL) AS looking, max(look_until) FILTER (WHERE hold = 'waiting') AS lookUntil
     FROM rows WHERE run_id = @runId AND outcome = 'pending' AND hold IS NOT NULL`,
  );
  const failures = database.prepare<[string], RunActivity['failures'][number]>(
    `SELECT error_code AS code, count(*) AS count, min(row) AS row, min(line) AS line FROM rows
     WHERE run_id = ? AND outcome = 'failed' AND error_code IS NOT NULL GROUP BY error_code ORDER BY count(*) DESC, min(row) LIMIT 10`,
  );
  const rows = yield* counted.get({ runId, since });
  return {
    ...{ calls, owned, reports, firstCallAt, lastCallAt, lastAnswerAt },
    settledSince: rows?.settledSince ?? 0,
    underWay: yield* countOpenCalls(database)(runId),
    looking: { rows: rows?.looking ?? 0, until: rows?.lookUntil ?? null },
    parkedUntil: rows?.parkedUntil ?? null,
    failures: rows?.failed ? yield* failures.all(runId) : [],
  };
}

function* readAtWork(
  database: Database,
  now: number,
  runId: string,
  since: number | undefined,
): Script<AttemptActivity | undefined> {
  const attempt = yield* database
    .prepare<
      [string],
      Pick<AttemptActivity, 'begunAt' | 'leaseUntil' | 'endedAt' | 'ending'> & {
        id: number;
        open: number;
        outages: string;
      }
    >(
      `SELECT id, begun_at AS begunAt, lease_until AS leaseUntil, CASE WHEN died = 0 THEN ended_at END AS endedAt, ended_at IS NULL AS open, coalesce(outages, '[]') AS outages, ending
       FROM starts WHERE run_id = ? AND purse_id IS NULL ORDER BY id DESC LIMIT 1`,
    )
    .get(runId);
  if (attempt === undefined) return undefined;
  const settled = database.prepare<[object], { settledRows: number; rowsInAll: number }>(
    `SELECT count(*) FILTER (WHERE updated_at >= @from) AS settledRows, count(*) AS rowsInAll
     FROM rows WHERE run_id = @runId AND updated_at >= @begunAt AND outcome NOT IN ('pending', 'invalid')`,
  );
  const failed = database.prepare<[object], { code: string; count: number }>(
    `SELECT error_code AS code, count(*) AS count FROM calls
     WHERE calls.id >= @recent AND run_id || '' = @runId AND settled_at >= @from AND error_class IN ('retry', 'slow_down') AND error_code IS NOT NULL
     GROUP BY error_code ORDER BY count(*) DESC, 1 LIMIT 5`,
  );
  // A lost call is recorded long after: the time it was sent is the last sign of life.
  const sent = database.prepare<[object], { calls: number; lastHeardAt: number | null; lastCallAt: number | null }>(
    `SELECT count(*) AS calls, max(CASE WHEN start_id = @purse THEN started_at + coalesce(duration_ms, 0) END) AS lastHeardAt,
       max(started_at + coalesce(duration_ms, 0)) AS lastCallAt
     FROM calls WHERE run_id = @runId AND ${SPENT_WITHIN_LIMITS} AND (charge IS NULL OR charge <> 'owned')`,
  );
  const ofHelpers = database
    .prepare<[object], string>(
      'SELECT outages FROM starts WHERE run_id = @runId AND id <> @id AND ended_at IS NULL AND lease_until >= @now AND outages IS NOT NULL ORDER BY id',
    )
    .pluck();
  const { id, begunAt, leaseUntil, endedAt, open, outages, ending } = attempt;
  const nothing = { calls: 0, lastHeardAt: null, lastCallAt: null };
  const isCounted = since !== undefined;
  const { calls, lastHeardAt, lastCallAt } = (isCounted && (yield* sent.get({ runId, purse: id }))) || nothing;
  const from = Math.max(since ?? now, begunAt);
  // The newest calls are read by their numbers, as the index of the run leads to all of them.
  const recent = isCounted ? yield* firstCallSince(database, from) : 0;
  const of = { runId, begunAt, from, recent };
  const alive = open === 1 && (database.isShared ? leaseUntil >= now : database.isLocked());
  // Unreadable outage notes are skipped: they must not prevent `status`.
  const read = (noted: string) => parseStored(noted, attemptOutages.fits) ?? [];
  const own = alive === false ? yield* lasting(database, read(outages)) : read(outages);
  return {
    begunAt,
    leaseUntil,
    endedAt,
    ending,
    outages: [...own, ...(database.isShared ? yield* ofHelpers.all({ runId, id, now }) : []).flatMap(read)],
    lastHeardAt: lastHeardAt ?? begunAt,
    lastCallAt: lastCallAt ?? begunAt,
    alive,
    ...((isCounted && (yield* settled.get(of))) || { settledRows: 0, rowsInAll: 0 }),
    callsInAll: calls,
    failedCalls: isCounted ? yield* failed.all(of) : [],
  };
}

/** The outages that an attempt ended in: those of operations that have not answered since, in any attempt. */
function* lasting(database: Sql, noted: readonly OutageNote[]): Script<readonly OutageNote[]> {
  const answered = database.prepare<[object], 1>(
    `SELECT 1 FROM calls JOIN environments ON environments.id = environment_id WHERE calls.id >= @first AND settled_at > @since
       AND api = @api AND operation = @operation AND charge <> 'owned' AND error_class IS NULL LIMIT 1`,
  );
  const found: OutageNote[] = [];
  for (const outage of noted) {
    const { row, api, operation, since } = outage;
    // A call of one row waits only while its attempt works.
    if (row !== undefined) continue;
    const first = yield* firstCallSince(database, since);
    if ((yield* answered.get({ first, since, api, operation })) === undefined) found.push(outage);
  }
  return found;
}

function* countsTold(database: Sql): Script<Allowances> {
  return { environments: yield* readEnvironments(database), ...(yield* readV2Usage(database)) };
}

function* readUsage(database: Database, kept?: KeptCalls) {
  const underWay = database.prepare<[], number>('SELECT count(*) FROM calls WHERE settled_at IS NULL').pluck();
  return {
    underWay: (yield* underWay.get()) ?? 0,
    ...(yield* usageLines(database, database.isShared ? undefined : kept)),
    ...(yield* countsTold(database)),
  };
}
