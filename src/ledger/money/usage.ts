// What kybatch and the providers counted: calls, units, permissions, contacts, and the drift between the counts. It has
// over 500 lines, because all sums of calls are read and kept in one way.

import { type ContactCounts, driftOf, type PermissionUse, type UseSince } from '../../domain/account-usage.js';
import { KEY_CHECK } from '../../domain/outcomes.js';
import type { Meter } from '../../domain/provider.js';
import { isoTime } from '../../util/clock.js';
import type { Database, Script, Sql } from '../db/database.js';
import { parseStored, permissionOperations } from '../db/stored-json.js';
import type { AllowanceRecord, DrawnOn } from './calls.js';
import { UNKNOWN_CHARGE } from './intent.js';
import { type CountsCompared, type CountsSince, compareCounts } from './provider-count.js';

export interface V2Usage {
  readonly permissions: readonly PermissionUsage[];
  readonly contacts: readonly ContactUsage[];
}

export interface Allowances extends V2Usage {
  readonly environments: readonly EnvironmentUsage[];
}

export interface UsageReport extends Allowances {
  /** Calls that are in flight, or were when a process died. The next attempt tells them apart. */
  readonly underWay: number;
  readonly byDay: readonly UsageLine[];
  readonly byOperation: readonly UsageLine[];
  readonly byRun: readonly UsageLine[];
}

export interface PermissionUsage extends PermissionUse, UseSince {
  readonly environment: string;
  /** The operations that use it, from the pipeline of the last attempt. Null if it names none. */
  readonly operations: readonly string[] | null;
  readonly observedAt: number;
}

export interface ContactUsage extends ContactCounts {
  readonly environment: string;
  readonly observedAt: number;
}

export interface EnvironmentUsage extends Omit<AllowanceRecord, 'observedAt'> {
  readonly api: string;
  readonly name: string;
  /** Null: the provider has not reported its allowance yet. */
  readonly observedAt: number | null;
  readonly unknownCalls: number;
  /** Why the counts cannot be compared now. `driftUnits` is then the earlier result. */
  readonly notCompared: CountsCompared['notCompared'];
  readonly waitsFor: CountsCompared['waitsFor'];
  /** The part of `driftUnits` that the next answer may still explain. */
  readonly driftSinceAnchor: number;
}

/** Units that only the provider counted recently, beyond calls of unknown charge. */
export interface Drift {
  readonly api: string;
  readonly environment: string;
  /** The v2 permission. Null: units. */
  readonly permission: string | null;
  readonly units: number;
}

export interface UsageLine {
  readonly key: string;
  readonly api: string;
  readonly calls: number;
  readonly owned: number;
  readonly unitsCharged: number;
  readonly reports: number;
  readonly unknown: number;
}

/** Charged calls of one kind, on one day and in one run. */
export interface ChargedCalls {
  readonly day: string;
  readonly run: string;
  readonly api: string;
  readonly operation: string;
  readonly meter: Meter;
  readonly units: number;
  readonly calls: number;
}

export function* readV2Usage(database: Sql): Script<V2Usage> {
  return { permissions: yield* readPermissionUse(database), contacts: yield* readContactCounts(database) };
}

export function* allowancesOf(database: Sql, runId: string): Script<Allowances> {
  const used = yield* database
    .prepare<[string], { api: string; name: string }>(
      `SELECT environments.api AS api, environments.name AS name FROM run_environments
       JOIN environments ON environments.id = environment_id WHERE run_id = ?`,
    )
    .all(runId);
  const isUsed = (api: string, name: string) => used.some((one) => one.api === api && one.name === name);
  const { permissions, contacts } = yield* readV2Usage(database);
  const environments = yield* readEnvironments(database);
  return {
    environments: environments.filter(({ api, name }) => isUsed(api, name)),
    permissions: permissions.filter(({ environment }) => isUsed('v2', environment)),
    contacts: contacts.filter(({ environment }) => isUsed('v2', environment)),
  };
}

/**
 * Units that only these providers counted since a time, beyond calls of unknown charge since then. Those are listed
 * elsewhere, and earlier ones belong to counts that were compared before.
 */
export function* driftSince(database: Sql, providers: readonly string[], since: number): Script<readonly Drift[]> {
  const environments = (yield* readEnvironments(database)).filter(({ name }) => providers.includes(name));
  const permissions = (yield* readPermissionUse(database)).filter((use) => providers.includes(use.environment));
  const found: Drift[] = [];
  for (const told of environments) {
    if (told.driftUnits <= 0) continue;
    const { missing, unknown } = yield* missingSince(database, told, since);
    const units = Math.min(told.driftUnits, told.driftSinceAnchor + missing) - unknown;
    if (units > 0) found.push({ api: told.api, environment: told.name, permission: null, units });
  }
  // One permission may be counted by day and by plan.
  const byPermission = new Map<string, Drift>();
  for (const told of permissions) {
    const units = told.observedAt < since ? 0 : (driftOf(told) ?? 0);
    const { environment, permission } = told;
    const key = `${environment} ${permission}`;
    if (units > (byPermission.get(key)?.units ?? 0))
      byPermission.set(key, { api: 'v2', environment, permission, units });
  }
  return [...found, ...byPermission.values()];
}

type Told = Omit<EnvironmentUsage, 'notCompared' | 'waitsFor' | 'driftSinceAnchor'> & CountsSince;

/** Each provider's reported units, and the difference to the ledger. */
export function* readEnvironments(database: Sql): Script<readonly EnvironmentUsage[]> {
  const told = database.prepare<[], Told>(
    `SELECT api, name, observed_at AS observedAt, remaining_units AS remainingUnits, daily_limit AS dailyLimit,
       daily_remaining AS dailyRemaining, reset_at AS resetAt, raw, spent_until AS spentUntil, anchor_call_id AS anchorCallId,
       anchor_units AS anchorUnits, coalesce(drift_units, 0) AS driftUnits,
       (SELECT count(*) FROM calls WHERE environment_id = environments.id AND ${UNKNOWN_CHARGE}) AS unknownCalls,
       (SELECT settled_at FROM calls WHERE id = anchor_call_id) AS anchoredAt,
       (SELECT CAST(coalesce(sum(units_charged * 1.0), 0) AS BIGINT) FROM calls
        WHERE environment_id = environments.id AND id > anchor_call_id AND charge = 'charged') AS known,
       (SELECT count(*) FROM calls WHERE environment_id = environments.id AND settled_at IS NULL) AS underWay,
       (SELECT max(id) FROM calls WHERE environment_id = environments.id AND id > anchor_call_id AND ${UNKNOWN_CHARGE}) AS lostCallId,
       (SELECT max(started_at) FROM calls WHERE environment_id = environments.id AND id > anchor_call_id AND ${UNKNOWN_CHARGE}) AS lostStartedAt
     FROM environments LEFT JOIN allowances ON allowances.environment_id = environments.id
     ORDER BY environments.id`,
  );
  return (yield* told.all()).map(({ anchoredAt, known, underWay, lostCallId, lostStartedAt, ...environment }) => {
    const since = { ...environment, anchoredAt, known, underWay, lostCallId, lostStartedAt };
    const { missing, ...compared } = compareCounts(since);
    const driftUnits = environment.driftUnits + missing;
    return { ...environment, driftUnits, driftSinceAnchor: missing, ...compared };
  });
}

/**
 * Units that only the provider counted since a time, and the calls of unknown charge. Each exact answer is compared with
 * the one before. If more units remain than before, the allowance was reset and nothing is compared.
 */
function* missingSince(
  database: Sql,
  { api, name, anchorCallId }: Pick<EnvironmentUsage, 'api' | 'name' | 'anchorCallId'>,
  since: number,
): Script<{ readonly missing: number; readonly unknown: number }> {
  const missing = database
    .prepare<[object], number>(
      `SELECT CAST(coalesce(sum(before - remaining - charged), 0) AS BIGINT) FROM (
         SELECT remaining, lag(remaining) OVER (ORDER BY id) AS before, charged - lag(charged) OVER (ORDER BY id) AS charged FROM (
           SELECT calls.id AS id, exact, remaining_units AS remaining,
             sum(CASE WHEN charge = 'charged' THEN units_charged * 1.0 ELSE 0 END) OVER (ORDER BY calls.id) AS charged
           FROM calls JOIN environments ON environments.id = environment_id
           WHERE api = @api AND name = @name AND calls.id >= @from) AS sent
         WHERE exact = 1) AS told
       WHERE before - remaining - charged > 0`,
    )
    .pluck();
  const unknown = database
    .prepare<[object], number>(
      `SELECT count(*) FROM calls JOIN environments ON environments.id = environment_id
       WHERE api = @api AND name = @name AND calls.id > @from AND ${UNKNOWN_CHARGE}`,
    )
    .pluck();
  const lastBefore = database
    .prepare<[object], number>(
      `SELECT coalesce(max(calls.id), 0) FROM calls JOIN environments ON environments.id = environment_id
       WHERE api = @api AND name = @name AND exact = 1 AND settled_at < @since`,
    )
    .pluck();
  const from = (yield* lastBefore.get({ api, name, since })) ?? 0;
  return {
    missing: (yield* missing.get({ api, name, from })) ?? 0,
    // The anchor may be earlier: the provider was still working on a call after it.
    unknown: (yield* unknown.get({ api, name, from: Math.min(from, anchorCallId ?? from) })) ?? 0,
  };
}

/** v2's counts (V2-3): now, at the beginning of the last run, and the calls sent since. */
export function permissionStore(database: Database) {
  const save = database.prepare(
    `INSERT INTO permission_use (environment_id, permission, permission_name, metric, name, used, total, extra, observed_at)
     VALUES (@environmentId, @permission, @permissionName, @metric, @name, @used, @total, @extra, @at)
     ON CONFLICT (environment_id, permission, metric) DO UPDATE SET permission_name = excluded.permission_name,
       name = excluded.name, used = excluded.used, total = excluded.total, extra = excluded.extra, observed_at = excluded.observed_at`,
  );
  const begin = database.prepare(
    `UPDATE permission_use SET used_at_start = used, operations = @operations,
       last_call_before = (SELECT coalesce(max(id), 0) FROM calls)
     WHERE environment_id = @environmentId AND permission = @permission AND metric = @metric`,
  );
  // Deletes counts that the provider no longer reports.
  const forget = database.prepare('DELETE FROM permission_use WHERE environment_id = ? AND observed_at <> ?');
  const countOurs = ourCalls(database);
  return {
    /** Stores all of v2's counts. `start` marks the beginning of a run, with which later counts are compared. */
    keepPermissions: (
      environmentId: number,
      use: readonly PermissionUse[],
      at: number,
      start?: { readonly drawnOn: DrawnOn },
    ) =>
      database.write(function* () {
        for (const count of use) {
          const { permission, permissionName, metric, name, used, total, extra } = count;
          yield* save.run({ environmentId, permission, permissionName, metric, name, used, total, extra, at });
          if (start === undefined) continue;
          const drawing = Object.hasOwn(start.drawnOn, permission) ? start.drawnOn[permission] : undefined;
          const operations = drawing === undefined ? null : JSON.stringify(drawing);
          yield* begin.run({ environmentId, permission, metric, operations });
        }
        yield* forget.run(environmentId, at);
        yield* countOurs(environmentId);
      }),
  };
}

interface Sent {
  readonly operation: string;
  readonly answered: number;
  readonly failed: number;
}

/**
 * Records the calls sent since the last attempt beside each count whose operations are known. The calls are read once.
 */
function ourCalls(database: Sql): (environmentId: number) => Script<void> {
  const since = database.prepare<[number, number], Sent>(
    `SELECT operation, count(*) FILTER (WHERE error_code IS NULL AND charge <> 'unknown') AS answered,
       count(*) FILTER (WHERE error_code IS NOT NULL OR charge = 'unknown') AS failed
     FROM calls WHERE id > ? AND environment_id = ? AND settled_at IS NOT NULL AND charge <> 'owned' GROUP BY operation`,
  );
  const kept = database.prepare<[number], { operations: string; before: number }>(
    `SELECT DISTINCT operations, last_call_before AS before FROM permission_use
     WHERE environment_id = ? AND operations IS NOT NULL AND last_call_before IS NOT NULL`,
  );
  const note = database.prepare(
    `UPDATE permission_use SET calls_answered = ?, calls_failed = ?
     WHERE environment_id = ? AND operations = ? AND last_call_before = ?`,
  );
  const clear = database.prepare(
    'UPDATE permission_use SET calls_answered = NULL, calls_failed = NULL WHERE environment_id = ?',
  );
  return function* (environmentId) {
    yield* clear.run(environmentId);
    const all = yield* kept.all(environmentId);
    const sent = new Map<number, Sent[]>();
    for (const { before } of all) if (!sent.has(before)) sent.set(before, yield* since.all(before, environmentId));
    for (const { operations, before } of all) {
      const drawing = parseStored(operations, permissionOperations.fits);
      if (drawing === undefined) continue;
      const ours = (sent.get(before) ?? []).filter(({ operation }) => drawing.includes(operation));
      const answered = ours.reduce((sum, calls) => sum + calls.answered, 0);
      const failed = ours.reduce((sum, calls) => sum + calls.failed, 0);
      yield* note.run(answered, failed, environmentId, operations, before);
    }
  };
}

type Stored = Omit<PermissionUsage, 'operations'> & { readonly operations: string | null };

function* readPermissionUse(database: Sql): Script<readonly PermissionUsage[]> {
  const stored = yield* database
    .prepare<[], Stored>(
      `SELECT environments.name AS environment, permission, permission_name AS permissionName,
         metric, permission_use.name AS name, used, total, extra,
         used_at_start AS usedAtStart, operations, calls_answered AS callsAnswered, calls_failed AS callsFailed,
         observed_at AS observedAt
       FROM permission_use JOIN environments ON environments.id = environment_id ORDER BY environment_id, permission, metric`,
    )
    .all();
  return stored.map(({ operations, ...use }) => ({
    ...use,
    // Unreadable JSON counts as absent: `kybatch doctor --deep` reports it, and the next attempt replaces it.
    operations: operations === null ? null : (parseStored(operations, permissionOperations.fits) ?? null),
  }));
}

/** Contacts that v2 says were revealed (V2-14): the last requested range of each provider. */
export function contactStore(database: Database) {
  const save = database.prepare(
    `INSERT INTO contact_counts (environment_id, date_from, date_to, email_count, phone_count, extra, observed_at)
     VALUES (@environmentId, @dateFrom, @dateTo, @emailCount, @phoneCount, @extra, @at)
     ON CONFLICT (environment_id) DO UPDATE SET date_from = excluded.date_from, date_to = excluded.date_to,
       email_count = excluded.email_count, phone_count = excluded.phone_count, extra = excluded.extra, observed_at = excluded.observed_at`,
  );
  return {
    /** Stores how many contacts v2 says were revealed in the last requested date range. */
    keepContacts: (environmentId: number, counts: ContactCounts, at: number) =>
      database.write(() => save.run({ ...counts, environmentId, at })),
  };
}

const readContactCounts = (database: Sql): Script<readonly ContactUsage[]> =>
  database
    .prepare<[], ContactUsage>(
      `SELECT environments.name AS environment, date_from AS dateFrom, date_to AS dateTo, email_count AS emailCount,
         phone_count AS phoneCount, extra, observed_at AS observedAt
       FROM contact_counts JOIN environments ON environments.id = environment_id ORDER BY environment_id`,
    )
    .all();

const DAY_MS = 86_400_000;

/** kybatch polls the watch before it knows whether there will be a run. */
const NO_RUN = "CASE WHEN substr(operation, 1, 5) = 'watch' THEN '(watch)' ELSE '(by hand)' END";

/** A day is its number, as text: SQLite and PostgreSQL share no date formatting. */
const OF_CALL = {
  day: `CAST(started_at / ${DAY_MS} AS TEXT)`,
  run: `coalesce(run_id, CASE WHEN stage = '${KEY_CHECK}' THEN '(key check)' END, ${NO_RUN})`,
};

const OF_SUM = { run: `CASE WHEN run_id = '' THEN ${NO_RUN} ELSE run_id END` };

interface Sum {
  readonly environmentId: number;
  readonly day: string;
  readonly operation: string;
  readonly runId: string;
  readonly calls: number;
  readonly owned: number;
}

/**
 * Deletes calls and keeps their number by day, operation and run, so that `usage` shows the same. Only for calls that
 * cost no unit and whose charge is known. `which` selects their IDs.
 */
export function callSummer(database: Sql, which: string): (given: object) => Script<number> {
  const sums = database.prepare<[object], Sum>(
    `SELECT environment_id AS environmentId, ${OF_CALL.day} AS day, operation, coalesce(run_id, '') AS runId,
       count(*) FILTER (WHERE charge <> 'owned') AS calls, count(*) FILTER (WHERE charge = 'owned') AS owned
     FROM calls WHERE id IN (${which}) GROUP BY 1, 2, 3, 4`,
  );
  const add = database.prepare(
    `INSERT INTO summed_calls (environment_id, day, operation, run_id, calls, owned)
     VALUES (@environmentId, @day, @operation, @runId, @calls, @owned)
     ON CONFLICT (environment_id, day, operation, run_id)
       DO UPDATE SET calls = summed_calls.calls + excluded.calls, owned = summed_calls.owned + excluded.owned`,
  );
  const remove = database.prepare(`DELETE FROM calls WHERE id IN (${which})`);
  return function* (given) {
    for (const sum of yield* sums.all(given)) yield* add.run({ ...sum, day: dateOf(sum.day) });
    return yield* remove.change(given);
  };
}

/** Calls of one day, run, provider, operation, meter and charge. */
export interface CallSum {
  /** The day as a number, in a text. Of a summed call: the date. */
  readonly day: string;
  readonly run: string;
  readonly api: string;
  readonly operation: string;
  readonly meter: Meter;
  /** Null: in flight. */
  readonly charge: string | null;
  readonly calls: number;
  readonly units: number;
  /** Those with unknown charge, without key checks. */
  readonly unknown: number;
  /** The ID of the newest call. 0: it was summed. */
  readonly newest: number;
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  /** When the newest bought answer came. */
  readonly lastAnswerAt: number | null;
}

const IS_BOUGHT = "charge <> 'owned' AND raw_sha256 IS NOT NULL AND error_code IS NULL";

export const sumsWhere = (database: Sql, where: string, given: object): Script<CallSum[]> =>
  database
    .prepare<[object], CallSum>(
      `SELECT day, run, api, operation, meter, charge, calls, units, unknown, newest, first_at AS firstAt, last_at AS lastAt, answer_at AS lastAnswerAt
       FROM (SELECT ${OF_CALL.day} AS day, ${OF_CALL.run} AS run, environment_id, operation, meter, charge, count(*) AS calls,
           CAST(coalesce(sum(units_charged * 1.0), 0) AS BIGINT) AS units, count(*) FILTER (WHERE ${UNKNOWN_CHARGE}) AS unknown,
           max(id) AS newest, min(started_at) AS first_at, max(started_at) AS last_at, max(settled_at) FILTER (WHERE ${IS_BOUGHT}) AS answer_at
         FROM calls WHERE ${where} GROUP BY 1, 2, 3, 4, 5, 6) AS sums
       JOIN environments ON environments.id = environment_id`,
    )
    .all(given);

/**
 * Sums of calls that a process keeps, for `keptSums`. A call counts here when it and all before it are settled and its
 * charge is final. Such a call never changes. If some are deleted, `summed_calls` grows and all are counted again.
 */
export class KeptCalls {
  until = 0;
  basis = '';
  readonly sums = new Map<string, CallSum>();
}

/** Calls whose charge may still be recorded or corrected. Each condition has an index. */
const MAY_CHANGE = `SELECT id FROM calls INDEXED BY calls_unknown WHERE charge = 'unknown'
  UNION SELECT id FROM calls INDEXED BY calls_in_doubt WHERE in_doubt > 0
  UNION SELECT id FROM calls INDEXED BY calls_reconciled WHERE reconciled IS NOT NULL`;

/** The sums of all calls. Only those since the last reading are read, and those that may change. */
export function* keptSums(database: Sql, kept: KeptCalls): Script<readonly CallSum[]> {
  const basis = database
    .prepare<[object], string>(
      `SELECT coalesce((SELECT started_at FROM calls WHERE id = @until), 0) || ' ' || (SELECT coalesce(sum(calls + owned), 0) FROM summed_calls)
         || ' ' || (SELECT count(*) || ' ' || coalesce(sum(id), 0) FROM (${MAY_CHANGE}) AS open WHERE id <= @until)`,
    )
    .pluck();
  const settled = database
    .prepare<[], number>(
      `SELECT coalesce((SELECT min(id) - 1 FROM calls INDEXED BY calls_in_flight WHERE settled_at IS NULL), (SELECT max(id) FROM calls), 0)`,
    )
    .pluck();
  if ((yield* basis.get({ until: kept.until })) !== kept.basis) {
    kept.sums.clear();
    kept.until = 0;
  }
  const from = kept.until;
  const until = Math.max(from, (yield* settled.get()) ?? 0);
  for (const sum of yield* sumsWhere(database, `id > @from AND id <= @until AND id NOT IN (${MAY_CHANGE})`, {
    from,
    until,
  })) {
    const key = JSON.stringify([sum.day, sum.run, sum.api, sum.operation, sum.meter, sum.charge]);
    const before = kept.sums.get(key);
    kept.sums.set(key, before === undefined ? sum : addedSum(before, sum));
  }
  kept.until = until;
  kept.basis = (yield* basis.get({ until })) ?? '';
  return [
    ...kept.sums.values(),
    ...(yield* sumsWhere(database, 'id > @until', { until })),
    ...(yield* sumsWhere(database, `id <= @until AND id IN (${MAY_CHANGE})`, { until })),
  ];
}

/** The later sum has the later times. */
const addedSum = (sum: CallSum, later: CallSum): CallSum => ({
  ...sum,
  calls: sum.calls + later.calls,
  units: sum.units + later.units,
  newest: Math.max(sum.newest, later.newest),
  firstAt: least(sum.firstAt, later.firstAt),
  lastAt: greatest(sum.lastAt, later.lastAt),
  lastAnswerAt: greatest(sum.lastAnswerAt, later.lastAnswerAt),
});

const least = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
const greatest = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

const total = (sums: readonly CallSum[], of: 'calls' | 'units'): number => sums.reduce((all, sum) => all + sum[of], 0);

const isSent = ({ charge }: CallSum): boolean => charge !== null && charge !== 'owned';
const isReport = ({ charge, meter }: CallSum): boolean => charge === 'charged' && meter === 'report';

/** What the calls of a run, or those that began since a day, have cost. */
export function spentOn(sums: readonly CallSum[]) {
  return {
    calls: total(sums, 'calls'),
    sent: total(sums.filter(isSent), 'calls'),
    owned: total(
      sums.filter(({ charge }) => charge === 'owned'),
      'calls',
    ),
    units: total(sums, 'units'),
    reports: total(sums.filter(isReport), 'calls'),
    firstCallAt: sums.map(({ firstAt }) => firstAt).reduce(least, null),
    lastCallAt: sums.map(({ lastAt }) => lastAt).reduce(greatest, null),
    lastAnswerAt: sums.map(({ lastAnswerAt }) => lastAnswerAt).reduce(greatest, null),
  };
}

export function chargedAmong(sums: readonly CallSum[]): readonly ChargedCalls[] {
  const charged = new Map<string, ChargedCalls>();
  for (const { day, run, api, operation, meter, units, calls, charge } of sums) {
    if (charge !== 'charged') continue;
    const key = JSON.stringify([day, run, api, operation, meter]);
    const before = charged.get(key) ?? { units: 0, calls: 0 };
    const counted = { units: before.units + units, calls: before.calls + calls };
    charged.set(key, { day: dateOf(day), run, api, operation, meter, ...counted });
  }
  return [...charged.values()];
}

interface UsageLines extends Pick<UsageReport, 'byDay' | 'byOperation' | 'byRun'> {
  readonly charged: readonly ChargedCalls[];
}

/** All completed calls, including summed ones: by day, the newest first, by operation, and by run. They are read once. */
export function* usageLines(database: Sql, kept?: KeptCalls): Script<UsageLines> {
  const sums =
    kept === undefined ? yield* sumsWhere(database, 'settled_at IS NOT NULL', {}) : yield* keptSums(database, kept);
  // Of the summed calls, only those of the watch were charged. They have no run.
  const summed = yield* database
    .prepare<[], CallSum>(
      `SELECT day, ${OF_SUM.run} AS run, api, operation, 'not_told' AS meter, kind AS charge, number AS calls, 0 AS units, 0 AS unknown,
         0 AS newest, NULL AS firstAt, NULL AS lastAt, NULL AS lastAnswerAt
       FROM (SELECT day, run_id, environment_id, operation, CASE WHEN run_id = '' THEN 'charged' ELSE 'free' END AS kind, calls AS number FROM summed_calls
         UNION ALL SELECT day, run_id, environment_id, operation, 'owned', owned FROM summed_calls WHERE owned > 0) AS summed
       JOIN environments ON environments.id = environment_id`,
    )
    .all();
  const used = [...sums.filter(({ charge }) => charge !== null), ...summed];
  const newest = new Map<string, number>();
  for (const calls of used) newest.set(calls.run, Math.max(newest.get(calls.run) ?? 0, calls.newest));
  const isRun = (key: string) => Number(!key.startsWith('('));
  // The IDs of runs of one day have no order. Calls without a run are last.
  const runsInOrder = (a: string, b: string) =>
    isRun(b) - isRun(a) || (newest.get(b) ?? 0) - (newest.get(a) ?? 0) || inOrder(b, a);
  return {
    byDay: summedBy(used, ({ day }) => dateOf(day)).sort((a, b) => inOrder(b.key, a.key) || inOrder(a.api, b.api)),
    byOperation: summedBy(used, ({ operation }) => operation).sort(
      (a, b) => inOrder(a.api, b.api) || inOrder(a.key, b.key),
    ),
    byRun: summedBy(used, ({ run }) => run).sort((a, b) => runsInOrder(a.key, b.key) || inOrder(a.api, b.api)),
    charged: chargedAmong(used).toSorted(
      (a, b) => inOrder(a.day, b.day) || inOrder(a.operation, b.operation) || inOrder(a.run, b.run),
    ),
  };
}

function summedBy(used: readonly CallSum[], keyOf: (calls: CallSum) => string): UsageLine[] {
  const groups = new Map<string, CallSum[]>();
  for (const sum of used) {
    const place = `${keyOf(sum)} ${sum.api}`;
    const group = groups.get(place);
    if (group === undefined) groups.set(place, [sum]);
    else group.push(sum);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { sent: calls, owned, units: unitsCharged, reports } = spentOn(group);
    const unknown = group.reduce((all, sum) => all + sum.unknown, 0);
    return [{ key: keyOf(first), api: first.api, calls, owned, unitsCharged, reports, unknown }];
  });
}

/** The charged calls that prices apply to. `where` selects calls. */
export function* chargedCalls(database: Sql, where: string, given: object): Script<readonly ChargedCalls[]> {
  return chargedAmong(yield* sumsWhere(database, `charge = 'charged' AND ${where}`, given));
}

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** In UTC. Summed calls already have a date. */
function dateOf(day: string): string {
  if (!/^-?\d+$/.test(day)) return day;
  const time = isoTime(Number(day) * DAY_MS);
  // A year of more than four digits is a damaged time.
  return time !== null && /^\d{4}-/.test(time) ? time.slice(0, 10) : 'damaged';
}
