import type { UsageLine } from '../usage.js';
import type { Connection } from './driver.js';

/** What `usage` groups by. */
type UsageKey = 'day' | 'operation' | 'run';

/** The watch is asked before it is known whether there will be a run. */
const NO_RUN = "iif(operation GLOB 'watch*', '(watch)', '(by hand)')";

const OF_CALL: Readonly<Record<UsageKey, string>> = {
  day: "coalesce(strftime('%Y-%m-%d', started_at / 1000, 'unixepoch'), 'damaged')",
  operation: 'operation',
  run: `coalesce(run_id, ${NO_RUN})`,
};

const OF_SUM: Readonly<Record<UsageKey, string>> = {
  day: 'day',
  operation: 'operation',
  run: `iif(run_id = '', ${NO_RUN}, run_id)`,
};

/**
 * Takes calls out, and leaves their number by day, operation and run: `usage` says the same before and after. Only for
 * calls that cost no unit, and whose charge is in no doubt. `which` selects their IDs.
 */
export function callSummer(database: Connection, which: string): (given: object) => number {
  const sum = database.prepare(
    `INSERT INTO summed_calls (environment_id, day, operation, run_id, calls, owned)
       SELECT environment_id, ${OF_CALL.day}, operation, coalesce(run_id, ''), sum(charge <> 'owned'), sum(charge = 'owned')
       FROM calls WHERE id IN (${which}) GROUP BY 1, 2, 3, 4
     ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, owned = owned + excluded.owned`,
  );
  const remove = database.prepare(`DELETE FROM calls WHERE id IN (${which})`);
  return (given) => {
    sum.run(given);
    return remove.run(given).changes;
  };
}

/** All calls that were settled, those too that were summed up. */
export const usageLines = (database: Connection, key: UsageKey, order: string): readonly UsageLine[] =>
  database
    .prepare<[], UsageLine>(
      `SELECT key, api, sum(calls) AS calls, sum(owned) AS owned, sum(units) AS unitsCharged, sum(unknown) AS unknown FROM (
         SELECT ${OF_CALL[key]} AS key, environment_id, sum(charge <> 'owned') AS calls, sum(charge = 'owned') AS owned,
           CAST(total(units_charged) AS INTEGER) AS units, sum(charge = 'unknown') AS unknown
         FROM calls WHERE settled_at IS NOT NULL GROUP BY 1, 2
         UNION ALL SELECT ${OF_SUM[key]}, environment_id, calls, owned, 0, 0 FROM summed_calls)
       JOIN environments ON environments.id = environment_id GROUP BY 1, 2 ORDER BY ${order}`,
    )
    .all();
