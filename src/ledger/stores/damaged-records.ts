import type { Script, Sql, StoredTexts } from '../database.js';
import type { DamagedRecord, Remedy } from '../health.js';
import { placeInWords, type StoredPlace } from '../stored-json.js';
import { ALL_CELLS, Cells } from './cells.js';
import { misnumberedRuns } from './row-numbers.js';

/** Every record that does not hold together: texts that cannot be read, and pointers to what is not there. */
export function* damagedRecords(database: Sql, stored: StoredTexts): Script<readonly DamagedRecord[]> {
  const isJson = ({ table, column }: { readonly table: string; readonly column: string }) =>
    ALL_CELLS.some((cell) => cell.table === table && cell.column === column);
  const places = [
    ...(yield* new Cells({ stored }).damaged(database, ALL_CELLS)),
    ...stored.damagedTexts(isJson),
    ...stored.damagedTimes(),
  ];
  const texts = places.map((place) => ({
    what: `${placeInWords(place)} cannot be read`,
    remedy: remedyFor(place),
  }));
  return [...texts, ...(yield* misnumberedRuns(database)), ...(yield* danglingIn(database))];
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

function* danglingIn(database: Sql): Script<readonly DamagedRecord[]> {
  const found: DamagedRecord[] = [];
  for (const { what, sql, remedy } of DANGLING)
    for (const id of yield* database.prepare<[], string | number>(sql).pluck().all())
      found.push({ what: what(id), remedy });
  return found;
}

interface Dangling {
  readonly what: (id: string | number) => string;
  readonly remedy: Remedy;
  readonly sql: string;
}

const DANGLING: readonly Dangling[] = [
  {
    what: (id) => `the stored body of call ${id} is missing (calls.raw_sha256)`,
    remedy: ASK_ANEW,
    sql: `SELECT id FROM calls WHERE raw_sha256 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM bodies WHERE sha256 = raw_sha256) ORDER BY id`,
  },
  {
    what: (id) =>
      `the owned answer ${id}… points to a call that is not there, or that asked something else (answers.call_id)`,
    remedy: ASK_ANEW,
    sql: `SELECT substr(lower(hex(answers.request_key)), 1, 12) FROM answers LEFT JOIN calls ON calls.id = call_id
      AND calls.environment_id = answers.environment_id AND calls.request_key = answers.request_key
      WHERE calls.id IS NULL ORDER BY answers.environment_id, answers.request_key`,
  },
  // What a call is charged is bounded when it is settled; a figure beyond is none that was written.
  {
    what: (id) => `calls.units_charged of call ${id} is no number of units`,
    remedy: { kind: 'restore' },
    sql: 'SELECT id FROM calls WHERE units_charged NOT BETWEEN 0 AND 1000000000 ORDER BY id',
  },
];
