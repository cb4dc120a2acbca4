import type { CallStore } from '../calls.js';
import type { PermissionUsage } from '../reading.js';
import type { Connection } from './driver.js';
import type { Writer } from './writer.js';

/** What v2 counts (V2-3): as it last said, beside what it said when the last run was started. */
export function permissionStore(database: Connection, writer: Writer): Pick<CallStore, 'keepPermissions'> {
  const save = database.prepare(
    `INSERT INTO permission_use (environment_id, permission, metric, name, used, total, used_at_start, observed_at)
     VALUES (@environmentId, @permission, @metric, @name, @used, @total, iif(@when = 'start', @used, NULL), @at)
     ON CONFLICT DO UPDATE SET name = excluded.name, used = excluded.used, total = excluded.total, observed_at = excluded.observed_at,
       used_at_start = iif(@when = 'start', excluded.used, used_at_start)`,
  );
  // What the provider does not count any more is not shown any more.
  const forget = database.prepare('DELETE FROM permission_use WHERE environment_id = ? AND observed_at <> ?');
  return {
    keepPermissions: (environmentId, use, when, at) =>
      writer.write(() => {
        for (const { permission, metric, name, used, total } of use)
          save.run({ environmentId, permission, metric, name, used, total, when, at });
        forget.run(environmentId, at);
      }),
  };
}

export const readPermissionUse = (database: Connection): readonly PermissionUsage[] =>
  database
    .prepare<[], PermissionUsage>(
      `SELECT environments.name AS environment, permission, metric, permission_use.name AS name, used, total,
         used_at_start AS usedAtStart, observed_at AS observedAt
       FROM permission_use JOIN environments ON environments.id = environment_id ORDER BY environment_id, permission, metric`,
    )
    .all();
