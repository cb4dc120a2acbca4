import { isoTime } from '../../util/iso-time.js';
import type { Script, Sql } from '../database.js';
import type { UsageLine } from '../usage.js';

/** What `usage` groups by. */
type UsageKey = 'day' | 'operation' | 'run';

const DAY_MS = 86_400_000;

/** The watch is asked before it is known whether there will be a run. */
const NO_RUN = "CASE WHEN substr(operation, 1, 5) = 'watch' THEN '(watch)' ELSE '(by hand)' END";

/** A day is its number, as text: SQLite and PostgreSQL have no word in common that writes a date. */
const OF_CALL: Readonly<Record<UsageKey, string>> = {
  day: `CAST(started_at / ${DAY_MS} AS TEXT)`,
  operation: 'operation',
  run: `coalesce(run_id, ${NO_RUN})`,
};

const OF_SUM: Readonly<Record<UsageKey, string>> = {
  day: 'day',
  operation: 'operation',
  run: `CASE WHEN run_id = '' THEN ${NO_RUN} ELSE run_id END`,
};

interface Sum {
  readonly environmentId: number;
  readonly day: string;
  readonly operation: string;
  readonly runId: string;
  readonly calls: number;
  readonly owned: number;
}

/**
 * Takes calls out, and leaves their number by day, operation and run: `usage` says the same before and after. Only for
 * calls that cost no unit, and whose charge is in no doubt. `which` selects their IDs.
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

/** All calls that were settled, those too that were summed up. Days are told from the last on, whatever `order` says. */
export function* usageLines(database: Sql, key: UsageKey, order: string): Script<readonly UsageLine[]> {
  const lines = yield* database
    .prepare<[], UsageLine>(
      `SELECT key, api, CAST(sum(calls) AS BIGINT) AS calls, CAST(sum(owned) AS BIGINT) AS owned, CAST(sum(units) AS BIGINT) AS unitsCharged,
         CAST(sum(unknown) AS BIGINT) AS unknown
       FROM (
         SELECT ${OF_CALL[key]} AS key, environment_id, count(*) FILTER (WHERE charge <> 'owned') AS calls,
           count(*) FILTER (WHERE charge = 'owned') AS owned, CAST(coalesce(sum(units_charged * 1.0), 0) AS BIGINT) AS units,
           count(*) FILTER (WHERE charge = 'unknown') AS unknown
         FROM calls WHERE settled_at IS NOT NULL GROUP BY 1, 2
         UNION ALL SELECT ${OF_SUM[key]}, environment_id, calls, owned, 0, 0 FROM summed_calls) AS used
       JOIN environments ON environments.id = environment_id GROUP BY 1, 2 ORDER BY ${order}`,
    )
    .all();
  return key === 'day' ? byDate(lines) : lines;
}

/** A day of which some calls were summed up and others were not is one line. */
function byDate(lines: readonly UsageLine[]): readonly UsageLine[] {
  const dates = new Map<string, UsageLine>();
  for (const line of lines) {
    const key = dateOf(line.key);
    const place = `${key} ${line.api}`;
    const before = dates.get(place);
    dates.set(place, before === undefined ? { ...line, key } : added(before, line));
  }
  return [...dates.values()].sort((a, b) => inOrder(b.key, a.key) || inOrder(a.api, b.api));
}

const added = (to: UsageLine, more: UsageLine): UsageLine => ({
  ...to,
  calls: to.calls + more.calls,
  owned: to.owned + more.owned,
  unitsCharged: to.unitsCharged + more.unitsCharged,
  unknown: to.unknown + more.unknown,
});

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** In UTC. What was summed up is a date already. */
function dateOf(day: string): string {
  if (!/^-?\d+$/.test(day)) return day;
  const time = isoTime(Number(day) * DAY_MS);
  // A year of more than four digits no clock has told.
  return time !== null && /^\d{4}-/.test(time) ? time.slice(0, 10) : 'damaged';
}
