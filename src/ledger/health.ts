import type { ExitCode } from '../domain/errors.js';
import { Bodies } from './answers/bodies.js';
import type { Script, Sql, StoredTexts } from './db/database.js';
import { ALL_JSON_COLUMNS, JsonColumns } from './db/json-columns.js';
import { damagedRun, placeInWords, type StoredPlace } from './db/stored-json.js';

/** A stored answer whose bytes are not what its digest says. */
export interface DamagedAnswer {
  readonly callId: number;
  readonly rawSha256: string;
  readonly api: string;
  readonly operation: string;
  /** JSON; null where the answer was never owned. */
  readonly params: string | null;
  readonly runId: string | null;
  readonly row: number | null;
  /** It is the newest answer to its request: tables are written from it. */
  readonly owned: boolean;
}

export type DatabaseHealth =
  /** With `note`: something shows that more was there. */
  | { readonly state: 'absent' | 'sound'; readonly note?: string | undefined }
  | { readonly state: 'no_driver'; readonly detail: string }
  /** It could not be looked at: that says nothing about the file. */
  | { readonly state: 'unusable'; readonly detail: string; readonly exit: ExitCode }
  | { readonly state: 'newer' | 'older'; readonly schema: number }
  | { readonly state: 'damaged'; readonly detail: string; readonly wayOut?: string };

/** Something the ledger keeps that cannot be read, or points to what is not there. */
export interface DamagedRecord {
  readonly what: string;
  readonly remedy: Remedy;
}

/**
 * What leads on. `ask_anew`: it is about an answer, which whoever needs it buys again; `drop_run`: it goes with its run;
 * `withdraw`: a decision that can be made again; `none_needed`: only `status` tells of it.
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

/** What a database on a server is found to be, for whoever is to work with it. */
export interface ServerHealth {
  /** Without its password. */
  readonly name: string;
  readonly version: string;
  readonly role: string;
  readonly roundTripMs: number;
  /** How much its clock is ahead of this machine's; less than 0: behind. Leases are compared across machines. */
  readonly clockAheadMs: number;
  readonly ledger: SchemaFound;
  readonly queue: SchemaFound & { readonly name: string };
  /** Of an earlier step: queues that pg-boss is to have, and has not. */
  readonly queuesMissing: readonly string[];
  /** May this role make what is missing or old (`kybatch migrate`)? */
  readonly mayMigrate: boolean;
  readonly rightsMissing: readonly MissingRight[];
  /** Of the limit that leaves the least: that of the server, of the database or of the role. */
  readonly connections: {
    readonly whose: 'server' | 'database' | 'role';
    readonly used: number;
    readonly most: number;
  };
  readonly isEncrypted: boolean;
  /** Whoever listens on the way listens on this machine. */
  readonly isLocal: boolean;
  /** A standby, or one that was told to take nothing. */
  readonly isReadOnly: boolean;
  /** Settings by which a commit may be lost that was told to be on disk. */
  readonly unsafeSettings: readonly string[];
}

/** Clocks that differ by more than this do not tell whether somebody is alive. */
export const SKEW_MS = 5000;

/** `has`: 0 where there is none; null where this role may not look. */
export interface SchemaFound {
  readonly has: number | null;
  readonly needs: number;
}

export interface MissingRight {
  /** `INSERT on kybatch.calls, kybatch.rows` */
  readonly what: string;
  /** The statement that grants it, for the owner. */
  readonly grant: string;
}

/** Every stored body against its digest. */
export function* damagedAnswers(database: Sql): Script<{
  readonly bodies: number;
  readonly damaged: readonly DamagedAnswer[];
}> {
  const bodies = new Bodies(database);
  const digests = yield* database
    .prepare<[], string>('SELECT lower(hex(sha256)) FROM bodies ORDER BY sha256')
    .pluck()
    .all();
  // The call that bought it: uses of an owned answer have no parameters.
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
 * A body that is not what was stored is no answer: what rested on it is not owned any more, and its digest is free for
 * the same bytes to be stored again. The calls stay: they were paid for.
 */
export function disown(database: Sql): (sha256: string) => Script<void> {
  const statements = [
    'DELETE FROM answers WHERE call_id IN (SELECT id FROM calls WHERE raw_sha256 = unhex(?))',
    'UPDATE calls SET raw_sha256 = NULL, params = NULL WHERE raw_sha256 = unhex(?)',
    'DELETE FROM bodies WHERE sha256 = unhex(?)',
  ];
  return function* (sha256) {
    for (const sql of statements) yield* database.prepare(sql).run(sha256);
  };
}

/** Every record that does not hold together: texts that cannot be read, and pointers to what is not there. */
export function* damagedRecords(database: Sql, stored: StoredTexts): Script<readonly DamagedRecord[]> {
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

interface Misnumbered {
  readonly run: string;
  readonly said: number;
  readonly count: number;
  readonly first: number | null;
  readonly last: number | null;
}

/**
 * Runs whose rows are not what they say they are: as many as the run counts, numbered from 1 on. A row beyond is handed
 * out to nobody, and a wrong count is never reached: the run would neither move nor end. While rows are taken in nothing
 * is said yet. A number stands once in a run: that is the key of the table. A run of a portfolio is about what was due,
 * and its rows go on in later runs: there it is the members who say which rows there must be.
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

/** Rows by which members stand, and which are not there. */
const LOST = `SELECT members.run_id AS run, min(run_row) AS row, count(*) AS count FROM members
  WHERE NOT EXISTS (SELECT 1 FROM rows WHERE rows.run_id = members.run_id AND rows.row = members.run_row)`;

const lostRows = (database: Sql, run: string | null): Script<readonly Lost[]> =>
  run === null
    ? database.prepare<[], Lost>(`${LOST} GROUP BY 1 ORDER BY 1`).all()
    : database.prepare<[string], Lost>(`${LOST} AND members.run_id = ? GROUP BY 1`).all(run);

const lostInWords = ({ run, row, count }: Lost): string =>
  `row ${row} of run ${run}${count === 1 ? '' : ` and ${count - 1} more`}, by which a member of its portfolio stands, is not there (members.run_row, rows.row)`;

const misnumbered = (database: Sql, run: string | null): Script<readonly Misnumbered[]> =>
  run === null
    ? database.prepare<[], Misnumbered>(`${NUMBERED} ${ARE_NOT_ALL}`).all()
    : database.prepare<[string], Misnumbered>(`${NUMBERED} AND runs.id = ? ${ARE_NOT_ALL}`).all(run);

const inWords = ({ run, said, count, first, last }: Misnumbered): string =>
  `run ${run} says that it has ${said} rows, and has ${count}${count === 0 ? '' : `, numbered from ${first} to ${last}`} (runs.row_count, rows.row)`;

/** All of them, for `doctor`. */
function* misnumberedRuns(database: Sql): Script<readonly DamagedRecord[]> {
  const wrong = yield* misnumbered(database, null);
  const lost = yield* lostRows(database, null);
  return [
    ...wrong.map((of) => ({ run: of.run, what: inWords(of) })),
    ...lost.map((of) => ({ run: of.run, what: lostInWords(of) })),
  ].map(({ run, what }) => ({ what, remedy: { kind: 'drop_run', run } }));
}

/** Refuses a start on such a run, before anything is spent on it. */
export function* mustBeNumbered(database: Sql, run: string): Script<void> {
  const [found] = yield* misnumbered(database, run);
  if (found !== undefined) throw damagedRun(inWords(found), [run]);
  const [lost] = yield* lostRows(database, run);
  if (lost !== undefined) throw damagedRun(lostInWords(lost), [run]);
}
