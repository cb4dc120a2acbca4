import { type CountsSince, compareCounts } from '../counts-compared.js';
import type { Script, Sql } from '../database.js';
import type { EnvironmentUsage } from '../usage.js';

type Told = Omit<EnvironmentUsage, 'notCompared' | 'waitsFor' | 'driftSinceAnchor'> & CountsSince;

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
    const driftUnits = environment.driftUnits + missing;
    return { ...environment, driftUnits, driftSinceAnchor: missing, ...compared };
  });
}

/**
 * Units that the provider has counted since a time and we have not. Each answer that came alone is compared with the one
 * before it. If more units remain than before, the allowance was renewed, and there is nothing to compare.
 */
export function* driftBetweenAnswers(
  database: Sql,
  { api, name }: Pick<EnvironmentUsage, 'api' | 'name'>,
  since: number,
): Script<number> {
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
  const lastBefore = database
    .prepare<[object], number>(
      `SELECT coalesce(max(calls.id), 0) FROM calls JOIN environments ON environments.id = environment_id
       WHERE api = @api AND name = @name AND exact = 1 AND settled_at < @since`,
    )
    .pluck();
  const from = (yield* lastBefore.get({ api, name, since })) ?? 0;
  return (yield* missing.get({ api, name, from })) ?? 0;
}
