import type { Closure } from '../calls.js';
import type { Connection } from './driver.js';

/**
 * Which closures hold for a start. What was refused without a time is tried again by the next start, once. What was refused
 * until a time holds for later starts of runs, too: they would be refused again, and v2 does not say that this is free. A
 * time beyond two days is no day's limit, and not believed. A person who calls by hand may know better.
 */
export const HOLDS = (start: string): string => `(last_start_id >= ${start} OR
  reason = 'allowance' AND until - closed_at <= 172800000 AND (SELECT run_id FROM starts WHERE starts.id = ${start}) IS NOT NULL)`;

export interface Closures {
  close(environmentId: number, closure: Closure): void;
  /** The provider has answered, or says that there is more: what had run out has not. `operation`: null for all. */
  lift(environmentId: number, operation: string | null): void;
}

export function closureWriter(database: Connection): Closures {
  const insert = database.prepare(
    `INSERT INTO closures (environment_id, operation, reason, until, message, closed_at, last_start_id)
     VALUES (?, ?, ?, ?, ?, ?, (SELECT coalesce(max(id), 0) FROM starts))`,
  );
  const drop = database.prepare('DELETE FROM closures WHERE environment_id = ? AND operation IS ?');
  const liftAll = database.prepare(
    "DELETE FROM closures WHERE environment_id = @environmentId AND reason = 'allowance' AND (@operation IS NULL OR operation IS NULL OR operation = @operation)",
  );
  const markSpent = database.prepare(
    `INSERT INTO allowances (environment_id, observed_at, spent_until) VALUES (@environmentId, @at, @until)
     ON CONFLICT (environment_id) DO UPDATE SET observed_at = excluded.observed_at, spent_until = excluded.spent_until`,
  );
  return {
    close(environmentId, { operation, reason, until, message, closedAt }) {
      drop.run(environmentId, operation);
      insert.run(environmentId, operation, reason, until, message, closedAt);
      if (operation === null && reason === 'allowance')
        markSpent.run({ environmentId, at: closedAt, until: until ?? Number.MAX_SAFE_INTEGER });
    },
    lift: (environmentId, operation) => void liftAll.run({ environmentId, operation }),
  };
}

/** Those whose time has come, and those of a clock that was ahead. */
export function pastClosures(database: Connection): (now: number) => void {
  const drop = database.prepare('DELETE FROM closures WHERE until <= @now OR closed_at > @now');
  return (now) => void drop.run({ now });
}
