import type { DamagedRecord } from '../health.js';
import type { Connection } from './driver.js';

/**
 * What CHECK constraints would refuse to write. SQLite's own check leaves them out on a connection that only reads, so
 * they are asked one by one, as the schema has them.
 */
export function brokenConstraint(database: Connection): string | undefined {
  const tables = database
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE '%CHECK (%'",
    )
    .all();
  for (const { name, sql } of tables)
    for (const [, condition = ''] of sql.matchAll(/CHECK \(((?:[^()]|\([^()]*\))*)\)/g)) {
      const broken = database
        .prepare<[], number>(`SELECT count(*) FROM "${name}" WHERE NOT (${condition})`)
        .pluck()
        .get();
      if (broken !== undefined && broken > 0) return `CHECK constraint failed in ${name} (${condition})`;
    }
  return undefined;
}

/** Records that point to some which are not there. */
export function strayRecords(database: Connection): readonly DamagedRecord[] {
  return database
    .prepare<[], { table: string; parent: string; count: number }>(
      'SELECT "table", parent, count(*) AS count FROM pragma_foreign_key_check GROUP BY 1, 2',
    )
    .all()
    .map(({ table, parent, count }) => ({
      what: `${count} of ${table} point to ${parent} that are not there`,
      remedy: { kind: 'restore' },
    }));
}
