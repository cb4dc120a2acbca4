import { each, type Script, type Sql } from '../database.js';
import type { UnitsTold } from '../units-told.js';

interface Asked {
  readonly id: number;
  readonly environment: number;
  readonly startedAt: number;
}

interface Told {
  readonly id: number;
  readonly units: number;
  readonly at: number;
}

/** What remained before and after these calls; those that nobody has told about are left out, and what is not counted in units. */
export function* unitsTold(database: Sql, ids: readonly number[]): Script<readonly UnitsTold[]> {
  const list = JSON.stringify(ids);
  const asked = yield* database
    .prepare<[string], Asked>(
      `SELECT id, environment_id AS environment, started_at AS startedAt FROM calls
       WHERE meter = 'unit' AND id IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) ORDER BY id`,
    )
    .all(list);
  const toldBy = (beside: '<' | '>', order: 'DESC' | 'ASC') =>
    database.prepare<[number, number], Told>(
      `SELECT id, remaining_units AS units, settled_at AS at FROM calls
       WHERE environment_id = ? AND exact = 1 AND id ${beside} ? ORDER BY id ${order} LIMIT 1`,
    );
  const before = toldBy('<', 'DESC');
  const after = toldBy('>', 'ASC');
  const between = database.prepare<[object], { known: number; otherUnknown: number }>(
    `SELECT CAST(coalesce(sum(units_charged) FILTER (WHERE charge = 'charged'), 0) AS BIGINT) AS known,
       count(*) FILTER (WHERE charge = 'unknown' AND meter = 'unit') AS otherUnknown
     FROM calls WHERE environment_id = @environment AND id > @from AND id <= @to AND id NOT IN (SELECT CAST(value AS BIGINT) FROM json_each(@list))`,
  );
  const isDaily = database
    .prepare<[number], 1>('SELECT 1 FROM allowances WHERE environment_id = ? AND daily_limit IS NOT NULL')
    .pluck();
  const spans = new Map<string, { first: Told; last: Told; calls: Asked[] }>();
  for (const call of asked) {
    const first = yield* before.get(call.environment, call.id);
    const last = yield* after.get(call.environment, call.id);
    if (first === undefined || last === undefined) continue;
    const key = `${call.environment}:${first.id}`;
    const span = spans.get(key) ?? { first, last, calls: [] };
    span.calls.push(call);
    spans.set(key, span);
  }
  return yield* each(spans.values(), function* ({ first, last, calls }) {
    const environment = calls[0]?.environment ?? 0;
    const counts = yield* between.get({ environment, from: first.id, to: last.id, list });
    return {
      calls: calls.map(({ id }) => id),
      from: first.units,
      to: last.units,
      toldAt: last.at,
      ...(counts ?? { known: 0, otherUnknown: 0 }),
      lastStartedAt: Math.max(...calls.map(({ startedAt }) => startedAt)),
      renewed: (yield* isDaily.get(environment)) === 1 && utcDay(first.at) !== utcDay(last.at),
    };
  });
}

const utcDay = (at: number): number => Math.floor(at / 86_400_000);
