import type { CallStore } from '../calls.js';
import type { Database, Script, Sql } from '../database.js';
import { parseStored } from '../stored-json.js';
import type { PermissionUsage } from '../usage.js';
import { permissionOperations } from './cells.js';

/** What v2 counts (V2-3): as it last said, beside what it said when the last run was started, and what we have sent since. */
export function permissionStore(database: Database): Pick<CallStore, 'keepPermissions'> {
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
  // What the provider does not count any more is not shown any more.
  const forget = database.prepare('DELETE FROM permission_use WHERE environment_id = ? AND observed_at <> ?');
  const countOurs = ourCalls(database);
  return {
    keepPermissions: (environmentId, use, at, start) =>
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

/** Notes what we have sent since the last start, beside each count whose operations are known. The calls are read once. */
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

export function* readPermissionUse(database: Sql): Script<readonly PermissionUsage[]> {
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
    // What cannot be read is as if nobody had said it: `kybatch doctor --deep` names it, and the next start says it anew.
    operations: operations === null ? null : (parseStored(operations, permissionOperations.fits) ?? null),
  }));
}
