import type { IdSpace } from '../../domain/id-spaces.js';
import type { MemberChange } from '../changes.js';
import type {
  RunSnapshot,
  SnapshotAnswer,
  SnapshotCall,
  SnapshotCandidate,
  SnapshotError,
  SnapshotList,
  SnapshotMember,
  SnapshotRow,
  SnapshotSubject,
  SnapshotWatchEvent,
  UnsoundAnswer,
} from '../reading.js';
import type { RunRecord } from '../runs.js';
import type { StoredPlace } from '../stored-json.js';
import { Bodies } from './bodies.js';
import {
  type Cell,
  Cells,
  callParams,
  candidateExtra,
  changeItems,
  placeOf,
  portfolioColumns,
  rowFetched,
  rowFields,
  rowStages,
  rowValues,
} from './cells.js';
import { damagedTimes } from './damaged-values.js';
import { type Connection, connect } from './driver.js';
import { hasChanges, MEMBER_CHANGES, type MemberChangeRow, toMemberChange } from './member-changes.js';
import { type ProgressRow, toProgress } from './rows.js';
import { runStore } from './runs.js';
import { STANDING_COLUMNS, type StandingRow, standingReader } from './standings.js';
import { Writer } from './writer.js';

/**
 * A connection of its own, in one read transaction: SQLite shows it the database as it was when the transaction began,
 * while the run goes on beside it.
 */
export async function openSnapshot(path: string, runId: string): Promise<RunSnapshot | undefined> {
  const database = connect(path, { readonly: true, timeout: 10_000 });
  database.exec('BEGIN');
  const runs = runStore(database, new Writer(database));
  const run = await runs.find(runId);
  if (run === undefined) {
    database.close();
    return undefined;
  }
  database.exec(`CREATE TEMP VIEW standing AS ${standingsOf(run)}`);
  const damaged: UnsoundAnswer[] = [];
  // They are empty in the tables.
  const damagedTexts: StoredPlace[] = [...damagedTimes(database, runId)];
  const store: Store = { database, bodies: new Bodies(database), cells: new Cells(database), damaged, damagedTexts };
  return {
    damaged,
    damagedTexts,
    run,
    ...listOf(database, run),
    progress: {
      ...toProgress(database.prepare<[string], ProgressRow>(PROGRESS).all(runId)),
      refusals: [],
      refusedRows: 0,
    },
    rows: () => readRows(store, runId),
    members: () => readMembers(database, run),
    candidates: () => readCandidates(store),
    calls: () => inBatches<SnapshotCall>(database, CALLS, [runId], BATCH),
    errors: () => inBatches<SnapshotError>(database, ERRORS, [runId], BATCH),
    changes: () => readChanges(store, run),
    watchEvents: () => inBatches<SnapshotWatchEvent>(database, WATCH_EVENTS, [run.portfolioId], BATCH),
    subjects: (space, operations) => readSubjects(store, space, operations),
    lists: (operations) => readLists(store, run, operations),
    async close() {
      database.exec('COMMIT');
      database.close();
    },
  };
}

/**
 * Which row of which run each line of the list stands by. A run is about what was due, and no more; the tables show the
 * whole of its portfolio. Runs of versions before there were any are their own list.
 */
const standingsOf = ({ id, portfolioId }: RunRecord): string =>
  portfolioId === null
    ? `SELECT row, line, run_id, row AS run_row FROM rows WHERE run_id = '${id.replaceAll("'", "''")}'`
    : `SELECT row, line, run_id, run_row FROM members WHERE portfolio_id = ${portfolioId} AND left_at IS NULL`;

function listOf(database: Connection, run: RunRecord): Pick<RunSnapshot, 'columns' | 'listed'> {
  if (run.portfolioId === null) return { columns: run.columns, listed: run.rowCount };
  const columns = database
    .prepare<[number], string>('SELECT columns FROM portfolios WHERE id = ?')
    .pluck()
    .get(run.portfolioId);
  const listed = database.prepare<[], number>('SELECT count(*) FROM temp.standing').pluck().get() ?? 0;
  return { columns: new Cells(database).read(portfolioColumns, columns ?? '', [run.portfolioId]), listed };
}

const BATCH = 1000;
/** Rows of an input may be large, too. */
const CHARACTERS = 4 << 20;
/** Bodies may be large: only so many are held at a time. */
const BODIES_AT_ONCE = 16;

/** Batches for asynchronous readers, from one statement that is read to its end. */
async function* inBatches<T>(
  database: Connection,
  sql: string,
  parameters: readonly unknown[],
  size: number,
): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  let characters = 0;
  for (const record of database.prepare<unknown[], T>(sql).iterate(...parameters)) {
    batch.push(record);
    characters += textIn(record);
    if (batch.length < size && characters < CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

function textIn(record: unknown): number {
  let characters = 0;
  for (const value of Object.values(record as object)) if (typeof value === 'string') characters += value.length;
  return characters;
}

type Stored<T, Parsed extends keyof T> = Omit<T, Parsed> & Readonly<Record<Parsed, string>>;
type IdsBySpace = Readonly<Partial<Record<IdSpace, string>>>;

async function* readRows(store: Store, runId: string): AsyncGenerator<readonly SnapshotRow[]> {
  type Row = Stored<SnapshotRow, 'values' | 'stages' | 'ids'> & Place & { readonly fields: string };
  for await (const batch of inBatches<Row>(store.database, ROWS, [runId], BATCH)) {
    yield batch.map(({ fields, run_id, run_row, ...row }) => {
      const key = [run_id, run_row];
      // Not in the tables, but what was searched for: a row of which it is damaged is not whole.
      soundText(store, rowFields, fields, key);
      return {
        ...row,
        values: soundText(store, rowValues, row.values, key) ?? [],
        stages: soundText(store, rowStages, row.stages, key) ?? null,
        ids: JSON.parse(row.ids) as IdsBySpace,
      };
    });
  }
}

async function* readMembers(
  database: Connection,
  { portfolioId }: RunRecord,
): AsyncGenerator<readonly SnapshotMember[]> {
  if (portfolioId === null) return;
  // A damaged row is named with the rows.
  const read = standingReader(database, {});
  type Row = StandingRow & Omit<SnapshotMember, 'standing'>;
  for await (const batch of inBatches<Row>(database, MEMBERS, [portfolioId], BATCH))
    yield batch.map((row) => {
      const { portfolio, inputId, firstSeen, lastSeen, leftAt } = row;
      return { portfolio, inputId, firstSeen, lastSeen, leftAt, standing: read(row) };
    });
}

async function* readCandidates(store: Store): AsyncGenerator<readonly SnapshotCandidate[]> {
  for await (const batch of inBatches<SnapshotCandidate & Place>(store.database, CANDIDATES, [], BATCH))
    yield batch.map(({ run_id, run_row, ...candidate }) => {
      const { extra, space, position } = candidate;
      const key = [run_id, run_row, space, position];
      return extra == null || soundText(store, candidateExtra, extra, key) !== undefined
        ? candidate
        : { ...candidate, extra: null };
    });
}

async function* readChanges(store: Store, { portfolioId }: RunRecord): AsyncGenerator<readonly MemberChange[]> {
  if (portfolioId === null || !hasChanges(store.database)) return;
  const sql = `${MEMBER_CHANGES} AND members.portfolio_id = ? ORDER BY changes.changed_at, changes.call_id, members.row, members.id`;
  for await (const batch of inBatches<MemberChangeRow>(store.database, sql, [portfolioId], BATCH))
    yield batch.flatMap((row) => {
      const change = toMemberChange(row, store.cells);
      if (change === undefined) store.damagedTexts.push(placeOf(changeItems, [row.id]));
      return change ?? [];
    });
}

/** The row by which something stands. */
interface Place {
  readonly run_id: string;
  readonly run_row: number;
}

interface Store {
  readonly database: Connection;
  readonly bodies: Bodies;
  readonly cells: Cells;
  readonly damaged: UnsoundAnswer[];
  readonly damagedTexts: StoredPlace[];
}

type AnswerRow = Omit<SnapshotAnswer, 'body' | 'params'> &
  Pick<UnsoundAnswer, 'api'> & { readonly id: number; readonly params: string };

/** What a text says, or nothing and a note. */
function soundText<T>({ cells, damagedTexts }: Store, of: Cell<T>, text: string, key: readonly (string | number)[]) {
  const value = cells.find(of, text, key);
  if (value === undefined) damagedTexts.push(placeOf(of, key));
  return value;
}

/** The body, or none and a note. */
function soundBody({ bodies, damaged }: Store, answer: UnsoundAnswer): Buffer | undefined {
  const body = bodies.readSound(answer.rawSha256);
  if (body === undefined) damaged.push(answer);
  return body;
}

async function* readSubjects(
  store: Store,
  space: IdSpace,
  operations: readonly string[],
): AsyncGenerator<SnapshotSubject> {
  type Subject = Omit<Stored<SnapshotSubject, 'ids'>, 'answers'> & Place & { readonly asked: string | null };
  const before = answerBefore(store.database);
  const about = store.database.prepare<unknown[], AnswerRow>(ANSWERS_ABOUT(operations.length));
  for await (const batch of inBatches<Subject>(store.database, SUBJECTS, [space], BATCH)) {
    for (const { run_id, run_row, asked, ...subject } of batch) {
      const ids = JSON.parse(subject.ids) as IdsBySpace;
      const newest = about.all(run_id, run_row, ...operations);
      const standing = asked === null ? newest : newest.map((answer) => before(answer, asked, { run_id, run_row }));
      const answers = standing.flatMap(({ id, api, ...answer }) => {
        const params = store.cells.find(callParams, answer.params, [id]);
        if (params === undefined) {
          store.damaged.push({ ...answer, api, row: subject.row, params: null });
          return [];
        }
        const body = soundBody(store, { ...answer, api, row: subject.row });
        return body === undefined ? [] : [{ ...answer, params, body }];
      });
      yield { ...subject, ids, answers };
    }
  }
}

/** A new answer that is in question is not what the company stands by: the one before it is, until somebody has decided. */
function answerBefore(database: Connection) {
  const earlier = database.prepare<[number, string, number], AnswerRow>(
    `SELECT calls.id, calls.operation, calls.params, lower(hex(calls.raw_sha256)) AS rawSha256, calls.settled_at AS fetchedAt, calls.stage, api
     FROM calls AS newer CROSS JOIN calls INDEXED BY calls_by_subject
       ON calls.subject_space = newer.subject_space AND calls.subject_id = newer.subject_id AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
     JOIN environments ON environments.id = calls.environment_id
     WHERE newer.id = ? AND calls.environment_id = newer.environment_id AND calls.request_key = newer.request_key AND calls.stage = ?
       AND calls.settled_at <= ? AND calls.raw_sha256 IS NOT NULL AND calls.error_code IS NULL
     ORDER BY calls.id DESC LIMIT 1`,
  );
  const fetched = database
    .prepare<[string, number], string>('SELECT fetched FROM rows WHERE run_id = ? AND row = ?')
    .pluck();
  const cells = new Cells(database);
  return (answer: AnswerRow, asked: string, { run_id, run_row }: Place): AnswerRow => {
    if (answer.stage === null || !asked.split(',').includes(answer.stage)) return answer;
    const times = cells.find(rowFetched, fetched.get(run_id, run_row) ?? '{}', [run_id, run_row]) ?? {};
    const asOf = Object.hasOwn(times, answer.stage) ? (times[answer.stage] ?? 0) : 0;
    return earlier.get(answer.id, answer.stage, asOf) ?? answer;
  };
}

async function* readLists(
  store: Store,
  { id, portfolioId }: RunRecord,
  operations: readonly string[],
): AsyncGenerator<readonly SnapshotList[]> {
  type List = Omit<SnapshotList, 'body'> & Pick<UnsoundAnswer, 'api' | 'params'>;
  const sql = LISTS(operations.length);
  for await (const batch of inBatches<List>(store.database, sql, [id, portfolioId, ...operations], BODIES_AT_ONCE)) {
    yield batch.flatMap(({ api, params, ...list }) => {
      const body = soundBody(store, { ...list, api, params, row: null, stage: null });
      return body === undefined ? [] : [{ ...list, body }];
    });
  }
}

const IDS = `(SELECT json_group_object(space, id) FROM row_ids WHERE row_ids.run_id = rows.run_id AND row_ids.row = rows.row)`;

const HOLDS = 'rows.run_id = standing.run_id AND rows.row = standing.run_row';

// Units are those of the run: a row that was not due has cost nothing.
const ROWS = `SELECT standing.row, standing.run_id, standing.run_row, input_values AS "values", fields, outcome, stage, stages,
    match_grade AS matchGrade, matched_on AS matchedOn, ${IDS} AS ids, iif(rows.run_id = ?, units_charged, 0) AS unitsCharged,
    error_code AS errorCode, error_message AS errorMessage
  FROM temp.standing JOIN rows ON ${HOLDS} ORDER BY standing.row`;

const MEMBERS = `SELECT portfolios.name AS portfolio, iif(json_valid(rows.fields), rows.fields ->> 'id', NULL) AS inputId,
    first_seen AS firstSeen, coalesce(last_seen, seen_at) AS lastSeen, left_at AS leftAt, members.run_id, members.run_row, ${STANDING_COLUMNS}
  FROM members JOIN portfolios ON portfolios.id = portfolio_id JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
  WHERE portfolio_id = ? ORDER BY members.id`;

const PROGRESS = `SELECT outcome, hold, hold_reason, stages, count(*) AS count,
    CAST(total(iif(rows.run_id = ?, units_charged, 0)) AS INTEGER) AS units
  FROM temp.standing JOIN rows ON ${HOLDS} GROUP BY outcome, hold, hold_reason, stages`;

const CANDIDATES = `SELECT standing.row, standing.run_id, standing.run_row, space, position, id, name, registration_number AS registrationNumber,
    vat_number AS vatNumber, country_code AS countryCode, state, jurisdiction, match_grade AS matchGrade, decision, evidence, extra
  FROM temp.standing JOIN candidates ON candidates.run_id = standing.run_id AND candidates.row = standing.run_row
  ORDER BY standing.row, space, position`;

// A call that is still under way has no charge yet: it is not known.
const CALLS = `SELECT calls.id, row, stage, api, operation, attempt, started_at AS startedAt, duration_ms AS durationMs,
    http_status AS httpStatus, error_class AS errorClass, error_code AS errorCode, request_id AS requestId,
    units_charged AS unitsCharged, coalesce(charge, 'unknown') AS charge, remaining_units AS remainingUnits, reconciled,
    iif(raw_sha256 IS NULL, NULL, lower(hex(raw_sha256))) AS rawSha256
  FROM calls JOIN environments ON environments.id = environment_id WHERE run_id = ? ORDER BY calls.id`;

const ERRORS = `SELECT row, stage, class, code, message, request_id AS requestId, attempts, at FROM (
    SELECT standing.row AS row, stage, class, code, message, request_id, attempts, at, id
    FROM temp.standing JOIN errors ON errors.run_id = standing.run_id AND errors.row = standing.run_row
    UNION ALL SELECT NULL, stage, class, code, message, request_id, attempts, at, id FROM errors WHERE run_id = ? AND row IS NULL)
  ORDER BY row, id`;

const WATCH_EVENTS = `SELECT (SELECT name FROM portfolios WHERE id = ?) AS portfolio, standing.row, iif(json_valid(rows.fields), rows.fields ->> 'id', NULL) AS inputId,
    heard.id, company_id AS companyId, event_type AS eventType, status, message, date_created AS dateCreated,
    iif(json_valid(extra), extra, NULL) AS extra, heard_at AS heardAt, heard.run_id AS runId, lower(hex(raw_sha256)) AS rawSha256
  FROM temp.standing JOIN rows ON ${HOLDS}
  JOIN row_ids ON row_ids.run_id = standing.run_id AND row_ids.row = standing.run_row AND space = 'v2'
  JOIN run_environments ON run_environments.run_id = standing.run_id AND run_environments.api = 'v2'
  JOIN watch_events AS heard ON heard.environment_id = run_environments.environment_id AND heard.company_id = row_ids.id
  ORDER BY standing.row, heard.id`;

const COUNTRY = `(SELECT country_code FROM candidates
    WHERE candidates.run_id = rows.run_id AND candidates.row = rows.row AND decision = 'confirmed' AND country_code IS NOT NULL LIMIT 1)`;

const places = (count: number) => Array.from({ length: count }, () => '?').join(', ');

// The stages whose answers are in question.
const ASKED = `iif(outcome = 'needs_review', (SELECT group_concat(questions.stage) FROM questions
    WHERE questions.run_id = rows.run_id AND questions.row = rows.row AND answered = 0 AND questions.stage <> ''), NULL)`;

const SUBJECTS = `SELECT subjects.id, subjects.row, rows.run_id, rows.row AS run_row, ${COUNTRY} AS country, ${IDS} AS ids, ${ASKED} AS asked
  FROM (SELECT row_ids.id, min(standing.row) AS row, standing.run_id, standing.run_row
    FROM temp.standing JOIN row_ids ON row_ids.run_id = standing.run_id AND row_ids.row = standing.run_row
    WHERE space = ? GROUP BY row_ids.id) AS subjects
  JOIN rows ON rows.run_id = subjects.run_id AND rows.row = subjects.run_row
  ORDER BY subjects.id`;

// From the IDs of a row to the answers about each: the joins are in the order in which they are made.
const ANSWERS_ABOUT = (
  operations: number,
) => `SELECT calls.id, calls.operation, calls.params, lower(hex(calls.raw_sha256)) AS rawSha256,
    calls.settled_at AS fetchedAt, calls.stage, run_environments.api
  FROM row_ids
  CROSS JOIN calls INDEXED BY calls_by_subject
    ON calls.subject_space = row_ids.space AND calls.subject_id = row_ids.id AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
  CROSS JOIN run_environments ON run_environments.run_id = row_ids.run_id AND run_environments.environment_id = calls.environment_id
  CROSS JOIN answers ON answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key AND answers.call_id = calls.id
  WHERE row_ids.run_id = ? AND row_ids.row = ? AND calls.operation IN (${places(operations)}) AND calls.raw_sha256 IS NOT NULL
  ORDER BY calls.operation, calls.id`;

const LISTS = (
  operations: number,
) => `SELECT operation, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt, params,
    (SELECT api FROM environments WHERE environments.id = environment_id) AS api
  FROM calls WHERE id IN (SELECT max(id) FROM calls WHERE (run_id = ? OR run_id IN (SELECT id FROM runs WHERE portfolio_id = ?)) AND row IS NULL AND raw_sha256 IS NOT NULL AND error_code IS NULL
    AND operation IN (${places(operations)}) GROUP BY request_key)
  ORDER BY id`;
