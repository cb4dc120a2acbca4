// Results of the health checks, and the check for damaged answers and records.

import type { ExitCode } from '../domain/errors.js';
import { Bodies } from './answers/bodies.js';
import type { Script, Sql, StoredTexts } from './db/database.js';
import { ALL_JSON_COLUMNS, JsonColumns } from './db/json-columns.js';
import { damagedRunError, placeInWords, type StoredPlace } from './db/stored-json.js';

/** A stored answer whose bytes do not match its digest. */
export interface DamagedAnswer {
  readonly callId: number;
  readonly rawSha256: string;
  readonly api: string;
  readonly operation: string;
  /** JSON. Null if the answer was never stored for reuse. */
  readonly params: string | null;
  readonly runId: string | null;
  readonly row: number | null;
  /** It is the newest answer to its request, so the tables use it. */
  readonly owned: boolean;
}

export type DatabaseHealth =
  /** `note`: a sign that there was more. */
  | { readonly state: 'absent'; readonly note?: string | undefined }
  /** `isUnused`: no process has worked beside it, as in a backup. */
  | { readonly state: 'sound'; readonly note?: string | undefined; readonly isUnused?: boolean }
  | { readonly state: 'no_driver'; readonly detail: string }
  /** It could not be read, which says nothing about the file. */
  | { readonly state: 'unusable'; readonly detail: string; readonly exit: ExitCode }
  | { readonly state: 'newer' | 'older'; readonly schema: number }
  | { readonly state: 'damaged'; readonly detail: string; readonly wayOut?: string | undefined };

/** A stored record that cannot be read, or that refers to a missing one. */
export interface DamagedRecord {
  readonly what: string;
  readonly remedy: Remedy;
}

/**
 * What to do. `ask_anew`: the answer is bought again when needed. `drop_run`: delete its run. `withdraw`: decide again.
 * `none_needed`: only `status` shows it.
 */
export type Remedy =
  | { readonly kind: 'ask_anew' | 'restore' | 'none_needed' }
  | { readonly kind: 'drop_run'; readonly run: string }
  | { readonly kind: 'withdraw'; readonly decision: number };

export interface DeepHealth {
  readonly bodies: number;
  readonly damaged: readonly DamagedAnswer[];
  readonly records: readonly DamagedRecord[];
}

/** The state of a database server. */
export interface ServerHealth {
  /** Without its password. */
  readonly name: string;
  readonly version: string;
  readonly role: string;
  readonly roundTripMs: number;
  /** How far its clock is ahead of this machine's. Negative: behind. Leases are compared across machines. */
  readonly clockAheadMs: number;
  readonly ledger: SchemaFound;
  /** May this role create or update schemas (`kybatch ledger migrate`)? */
  readonly mayMigrate: boolean;
  readonly rightsMissing: readonly MissingRight[];
  /** The tightest of the limits of server, database and role. */
  readonly connections: {
    readonly whose: 'server' | 'database' | 'role';
    readonly used: number;
    readonly most: number;
  };
  readonly isEncrypted: boolean;
  /** Traffic stays on this machine. */
  readonly isLocal: boolean;
  /** A standby, or a server set to read-only. */
  readonly isReadOnly: boolean;
  /** Settings that can lose a confirmed commit. */
  readonly unsafeSettings: readonly string[];
}

/** Clocks that differ by more cannot tell whether a worker is alive. */
export const SKEW_MS = 5000;

/** `has`: 0 if there is none, null if this role may not look. */
export interface SchemaFound {
  readonly has: number | null;
  readonly needs: number;
}

export interface MissingRight {
  /** For example `INSERT on kybatch.calls, kybatch.rows`. */
  readonly what: string;
  /** The statement that grants it, for the owner. */
  readonly grant: string;
}

/** Compares every stored body with its digest. */
export function* findDamagedAnswers(database: Sql): Script<{
  readonly bodies: number;
  readonly damaged: readonly DamagedAnswer[];
}> {
  const bodies = new Bodies(database);
  const digests = yield* bodies.digests();
  // The call that bought it: reuses have no parameters.
  const callsOf = database.prepare<[string], Omit<DamagedAnswer, 'owned'> & { owned: number }>(
    `SELECT calls.id AS callId, lower(hex(raw_sha256)) AS rawSha256, api, operation, params, run_id AS runId, row,
       EXISTS (SELECT 1 FROM answers WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key
         AND call_id = calls.id) AS owned
     FROM calls JOIN environments ON environments.id = environment_id WHERE raw_sha256 = unhex(?) AND charge <> 'owned' ORDER BY calls.id`,
  );
  const damaged: DamagedAnswer[] = [];
  for (const sha256 of digests)
    if ((yield* bodies.readSound(sha256)) === undefined)
      for (const call of yield* callsOf.all(sha256)) damaged.push({ ...call, owned: call.owned === 1 });
  return { bodies: digests.length, damaged: damaged.toSorted((a, b) => a.callId - b.callId) };
}

/**
 * A damaged body is no answer, so its answer is no longer reused. Its digest becomes free for the same bytes to be
 * stored again. The calls stay, because they were paid for.
 */
export function discardBody(database: Sql): (sha256: string) => Script<void> {
  const statements = [
    'DELETE FROM answers WHERE call_id IN (SELECT id FROM calls WHERE raw_sha256 = unhex(?))',
    'UPDATE calls SET raw_sha256 = NULL, params = NULL WHERE raw_sha256 = unhex(?)',
    'DELETE FROM bodies WHERE sha256 = unhex(?)',
  ];
  return function* (sha256) {
    for (const sql of statements) yield* database.prepare(sql).run(sha256);
  };
}

/** Unreadable texts, and references to missing records. */
export function* findDamagedRecords(database: Sql, stored: StoredTexts): Script<readonly DamagedRecord[]> {
  const isJson = ({ table, column }: { readonly table: string; readonly column: string }) =>
    ALL_JSON_COLUMNS.some((cell) => cell.table === table && cell.column === column);
  const places = [
    ...(yield* new JsonColumns({ stored }).damaged(database, ALL_JSON_COLUMNS)),
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
  // The next call of /metrics replaces it.
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
    what: (id) => `the call of the stored answer ${id}… is missing, or has another request (answers.call_id)`,
    remedy: ASK_ANEW,
    sql: `SELECT substr(lower(hex(answers.request_key)), 1, 12) FROM answers LEFT JOIN calls ON calls.id = call_id
      AND calls.environment_id = answers.environment_id AND calls.request_key = answers.request_key
      WHERE calls.id IS NULL ORDER BY answers.environment_id, answers.request_key`,
  },
  // Charges are bounded when they are recorded, so a larger figure is damage.
  {
    what: (id) => `calls.units_charged of call ${id} is not a number of units`,
    remedy: { kind: 'restore' },
    sql: 'SELECT id FROM calls WHERE units_charged NOT BETWEEN 0 AND 1000000000 ORDER BY id',
  },
];

interface Misnumbered {
  readonly run: string;
  readonly said: number;
  readonly count: number;
  readonly first: number | null;
  readonly last: number | null;
}

/**
 * Finds runs whose row numbers or row count are wrong. A row with a number outside is never handed out, and a wrong
 * count is never reached, so the run would hang. Runs still being read are left out. Numbers are unique by the table's
 * key. Rows of a portfolio's run move to later runs: there its members tell which rows must exist.
 */
const NUMBERED = `SELECT runs.id AS run, row_count AS said, count(row) AS count, min(row) AS first, max(row) AS last
  FROM runs LEFT JOIN rows ON run_id = runs.id
  WHERE runs.state IN ('open', 'finished')`;
const ARE_NOT_ALL = `GROUP BY runs.id HAVING CASE
    WHEN portfolio_id IS NULL THEN count(row) <> row_count OR (count(row) > 0 AND (min(row) <> 1 OR max(row) <> count(row)))
    ELSE count(row) > row_count OR min(row) < 1 END
  ORDER BY runs.id`;

interface Lost {
  readonly run: string;
  readonly row: number;
  readonly count: number;
}

/** Rows that members use and that are missing. */
const LOST = `SELECT members.run_id AS run, min(run_row) AS row, count(*) AS count FROM members
  WHERE NOT EXISTS (SELECT 1 FROM rows WHERE rows.run_id = members.run_id AND rows.row = members.run_row)`;

const lostRows = (database: Sql, run: string | null): Script<readonly Lost[]> =>
  run === null
    ? database.prepare<[], Lost>(`${LOST} GROUP BY 1 ORDER BY 1`).all()
    : database.prepare<[string], Lost>(`${LOST} AND members.run_id = ? GROUP BY 1`).all(run);

const lostInWords = ({ run, row, count }: Lost): string =>
  `the portfolio uses row ${row} of run ${run}${count === 1 ? '' : ` and ${count - 1} more`}, but the ledger does not have ${count === 1 ? 'it' : 'them'} (members.run_row, rows.row)`;

const misnumbered = (database: Sql, run: string | null): Script<readonly Misnumbered[]> =>
  run === null
    ? database.prepare<[], Misnumbered>(`${NUMBERED} ${ARE_NOT_ALL}`).all()
    : database.prepare<[string], Misnumbered>(`${NUMBERED} AND runs.id = ? ${ARE_NOT_ALL}`).all(run);

const inWords = ({ run, said, count, first, last }: Misnumbered): string =>
  `run ${run} should have ${said} rows numbered from 1, but has ${count}${count === 0 ? '' : `, numbered from ${first} to ${last}`} (runs.row_count, rows.row)`;

/** All of them, for `doctor`. */
function* misnumberedRuns(database: Sql): Script<readonly DamagedRecord[]> {
  const wrong = yield* misnumbered(database, null);
  const lost = yield* lostRows(database, null);
  return [
    ...wrong.map((of) => ({ run: of.run, what: inWords(of) })),
    ...lost.map((of) => ({ run: of.run, what: lostInWords(of) })),
  ].map(({ run, what }) => ({ what, remedy: { kind: 'drop_run', run } }));
}

/** Refuses such a run before any spending. */
export function* mustHaveValidRowNumbers(database: Sql, run: string): Script<void> {
  const [found] = yield* misnumbered(database, run);
  if (found !== undefined) throw damagedRunError(inWords(found), [run]);
  const [lost] = yield* lostRows(database, run);
  if (lost !== undefined) throw damagedRunError(lostInWords(lost), [run]);
}
