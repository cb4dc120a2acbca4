import type { Script, Sql } from '../database.js';

/** Calls of a run whose charge nobody knows. There are few of them, and they have an index of their own. */
export function countUnknownCalls(database: Sql): (runId: string) => Script<number> {
  const counted = database
    .prepare<[string], number>(
      "SELECT count(*) FROM calls INDEXED BY calls_unknown WHERE charge = 'unknown' AND run_id = ?",
    )
    .pluck();
  return function* (runId) {
    return (yield* counted.get(runId)) ?? 0;
  };
}

/** Calls of a run that nothing is known of yet: under way, or lost with the process that sent them. */
export function countOpenCalls(database: Sql): (runId: string) => Script<number> {
  const counted = database
    .prepare<[string], number>(
      "SELECT count(*) FROM calls INDEXED BY calls_in_flight WHERE settled_at IS NULL AND meter <> 'free' AND run_id = ?",
    )
    .pluck();
  return function* (runId) {
    return (yield* counted.get(runId)) ?? 0;
  };
}
