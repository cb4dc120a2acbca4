import { type CountsSince, compareCounts } from '../counts-compared.js';
import type { Script, Sql } from '../database.js';
import type { EnvironmentUsage } from '../usage.js';

type Told = Omit<EnvironmentUsage, 'notCompared' | 'waitsFor'> & CountsSince;

/** What each provider said about its units, and what our books differ from it by. */
export function* readEnvironments(database: Sql): Script<readonly EnvironmentUsage[]> {
  const told = database.prepare<[], Told>(
    `SELECT api, name, observed_at AS observedAt, remaining_units AS remainingUnits, daily_limit AS dailyLimit,
       daily_remaining AS dailyRemaining, reset_at AS resetAt, raw, spent_until AS spentUntil, anchor_call_id AS anchorCallId,
       anchor_units AS anchorUnits, coalesce(drift_units, 0) AS driftUnits,
       (SELECT count(*) FROM calls WHERE environment_id = environments.id AND charge = 'unknown') AS unknownCalls,
       (SELECT settled_at FROM calls WHERE id = anchor_call_id) AS anchoredAt,
       (SELECT CAST(coalesce(sum(units_charged * 1.0), 0) AS BIGINT) FROM calls
        WHERE environment_id = environments.id AND id > anchor_call_id AND charge = 'charged') AS known,
       (SELECT count(*) FROM calls WHERE environment_id = environments.id AND settled_at IS NULL) AS underWay,
       (SELECT max(id) FROM calls WHERE environment_id = environments.id AND id > anchor_call_id AND charge = 'unknown') AS lostCallId,
       (SELECT max(started_at) FROM calls WHERE environment_id = environments.id AND id > anchor_call_id AND charge = 'unknown') AS lostStartedAt
     FROM environments LEFT JOIN allowances ON allowances.environment_id = environments.id
     ORDER BY environments.id`,
  );
  return (yield* told.all()).map(({ anchoredAt, known, underWay, lostCallId, lostStartedAt, ...environment }) => {
    const since = { ...environment, anchoredAt, known, underWay, lostCallId, lostStartedAt };
    const { missing, ...compared } = compareCounts(since);
    return { ...environment, driftUnits: environment.driftUnits + missing, ...compared };
  });
}
