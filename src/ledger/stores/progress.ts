import { ROW_OUTCOMES, type RowOutcome, unreachedStatus } from '../../domain/outcomes.js';
import type { Script, Sql } from '../database.js';
import type { Checkpoint, Progress, RefusalNote } from '../runs.js';
import { parseStored } from '../stored-json.js';
import { rowStages } from './cells.js';
import { countUnknownCalls } from './costs-unknown.js';
import { STILL_LISTED } from './row-states.js';

/** How far the rows of a run have come. */
export function progressReader(database: Sql): (runId: string) => Script<Progress> {
  // The units as fractions: a damaged figure must not make the sum overflow.
  const progress = database.prepare<[string], ProgressRow>(
    `SELECT outcome, hold, hold_reason, stages, count(*) FILTER (WHERE outcome <> 'pending' OR ${STILL_LISTED}) AS count,
       CAST(sum(units_charged * 1.0) AS INTEGER) AS units, count(*) FILTER (WHERE error_code = 'PURGED') AS purged
     FROM rows WHERE run_id = ? GROUP BY outcome, hold, hold_reason, stages`,
  );
  const unknownCalls = countUnknownCalls(database);
  const moved = database.prepare<[string], number>('SELECT units_moved FROM runs WHERE id = ?').pluck();
  const refusals = database.prepare<[string], RefusalNote>(
    `SELECT errors.stage, errors.code, errors.message FROM rows JOIN errors USING (run_id, row)
     WHERE run_id = ? AND hold = 'parked' AND hold_reason = 'scope' AND errors.class = 'block_operation'
     GROUP BY 1, 2, 3 ORDER BY max(errors.id) DESC LIMIT 3`,
  );
  // The statuses are compared as text: they may be damaged.
  const refusedRows = database
    .prepare<[string], number>(
      `SELECT count(DISTINCT row) FROM rows JOIN errors USING (run_id, row)
       WHERE run_id = ? AND errors.class = 'block_operation' AND errors.code = 'FORBIDDEN'
         AND instr(stages, CASE WHEN errors.stage = 'resolve' THEN '' ELSE '"' || errors.stage || '"' END || ':"not_available"') > 0`,
    )
    .pluck();
  return function* (runId) {
    const counted = toProgress(yield* progress.all(runId));
    const unitsCharged = counted.unitsCharged + ((yield* moved.get(runId)) ?? 0);
    const isAnyMissing = Object.values(counted.stages).some(({ not_available: rows = 0 }) => rows > 0);
    return {
      ...counted,
      unitsCharged,
      unknownCalls: yield* unknownCalls(runId),
      refusals: counted.parkedReasons.scope === undefined ? [] : yield* refusals.all(runId),
      refusedRows: isAnyMissing ? ((yield* refusedRows.get(runId)) ?? 0) : 0,
    };
  };
}

export interface ProgressRow {
  readonly outcome: RowOutcome;
  readonly hold: Checkpoint['hold'];
  readonly hold_reason: string | null;
  readonly stages: string;
  readonly count: number;
  readonly units: number;
  readonly purged: number;
}

export function toProgress(all: readonly ProgressRow[]): Omit<Progress, 'refusals' | 'refusedRows' | 'unknownCalls'> {
  const byOutcome = Object.fromEntries(ROW_OUTCOMES.map((outcome) => [outcome, 0])) as Record<RowOutcome, number>;
  const parkedReasons: Record<string, number> = {};
  const stages: Record<string, Record<string, number>> = {};
  let waiting = 0;
  let parked = 0;
  const unitsCharged = all.reduce((sum, { units }) => sum + units, 0);
  const groups = all.filter(({ count }) => count > 0);
  for (const group of groups) {
    byOutcome[group.outcome] += group.count;
    if (group.hold === 'waiting') waiting += group.count;
    if (group.hold === 'parked') {
      parked += group.count;
      const reason = group.hold_reason ?? 'unknown';
      parkedReasons[reason] = (parkedReasons[reason] ?? 0) + group.count;
    }
  }
  // A row whose statuses are damaged still counts: what its stages have come to is not known.
  const statuses = groups.map((group) => parseStored(group.stages, rowStages.fits));
  for (const stage of new Set(statuses.flatMap((reached) => Object.keys(reached ?? {})))) {
    const counts: Record<string, number> = {};
    stages[stage] = counts;
    for (const [index, { outcome, count }] of groups.entries()) {
      const reached = statuses[index];
      const status = reached === undefined ? 'unreadable' : (reached[stage] ?? unreachedStatus(outcome));
      counts[status] = (counts[status] ?? 0) + count;
    }
  }
  const purged = all.reduce((sum, group) => sum + group.purged, 0);
  return { byOutcome, waiting, parked, parkedReasons, unitsCharged, purged, stages };
}
