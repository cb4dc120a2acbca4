import type { DamagedRecord, Remedy } from '../health.js';
import { placeInWords, type StoredPlace } from '../stored-json.js';
import { ALL_CELLS, Cells } from './cells.js';
import { damagedTexts, damagedTimes } from './damaged-values.js';
import type { Connection } from './driver.js';
import { misnumberedRuns } from './row-numbers.js';

/** Every record that does not hold together: texts that cannot be read, and pointers to what is not there. */
export function damagedRecords(database: Connection): readonly DamagedRecord[] {
  const isJson = ({ table, column }: { readonly table: string; readonly column: string }) =>
    ALL_CELLS.some((cell) => cell.table === table && cell.column === column);
  const places = [
    ...new Cells(database).damaged(ALL_CELLS),
    ...damagedTexts(database, isJson),
    ...damagedTimes(database),
  ];
  const texts = places.map((place) => ({
    what: `${placeInWords(place)} cannot be read`,
    remedy: remedyFor(place),
  }));
  return [...texts, ...misnumberedRuns(database), ...danglingIn(database)];
}

function remedyFor({ table, column, run, id }: StoredPlace): Remedy {
  if (table === 'calls' && column === 'params') return ASK_ANEW;
  if (table === 'calls') return { kind: 'restore' };
  if (table === 'starts' && !column.endsWith('_at')) return { kind: 'none_needed' };
  // The next look at /metrics writes it anew.
  if (table === 'permission_use' || table === 'contact_counts') return { kind: 'none_needed' };
  if ((table === 'decisions' || table === 'held_decisions') && id !== null) return { kind: 'withdraw', decision: id };
  return run === null ? { kind: 'restore' } : { kind: 'drop_run', run };
}

const ASK_ANEW = { kind: 'ask_anew' } as const;

function danglingIn(database: Connection): readonly DamagedRecord[] {
  const asked = DANGLING.flatMap(({ what, sql }) =>
    database
      .prepare<[], string | number>(sql)
      .pluck()
      .all()
      .map((id) => ({ what: what(id), remedy: ASK_ANEW })),
  );
  const figures = FIGURES.flatMap(({ what, sql }) =>
    database
      .prepare<[], string | number>(sql)
      .pluck()
      .all()
      .map((id) => ({ what: what(id), remedy: { kind: 'restore' as const } })),
  );
  const strays = database
    .prepare<[], { table: string; parent: string; count: number }>(
      'SELECT "table", parent, count(*) AS count FROM pragma_foreign_key_check GROUP BY 1, 2',
    )
    .all()
    .map(({ table, parent, count }) => ({
      what: `${count} of ${table} point to ${parent} that are not there`,
      remedy: { kind: 'restore' as const },
    }));
  return [...asked, ...figures, ...strays];
}

const DANGLING: readonly { readonly what: (id: string | number) => string; readonly sql: string }[] = [
  {
    what: (id) => `the stored body of call ${id} is missing (calls.raw_sha256)`,
    sql: 'SELECT id FROM calls WHERE raw_sha256 IS NOT NULL AND raw_sha256 NOT IN (SELECT sha256 FROM bodies) ORDER BY id',
  },
  {
    what: (id) =>
      `the owned answer ${id}… points to a call that is not there, or that asked something else (answers.call_id)`,
    sql: `SELECT substr(lower(hex(answers.request_key)), 1, 12) FROM answers LEFT JOIN calls ON calls.id = call_id
      AND calls.environment_id = answers.environment_id AND calls.request_key = answers.request_key WHERE calls.id IS NULL`,
  },
];

/** What a call is charged is bounded when it is settled; a figure beyond is none that was written. */
const FIGURES: typeof DANGLING = [
  {
    what: (id) => `calls.units_charged of call ${id} is no number of units`,
    sql: 'SELECT id FROM calls WHERE units_charged NOT BETWEEN 0 AND 1000000000 ORDER BY id',
  },
];

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
