import type { IdSpace } from '../../domain/id-spaces.js';
import type { MemberChange } from '../changes.js';
import type { RunRecord } from '../runs.js';
import type {
  ConfirmedCompany,
  RowQuestion,
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
} from '../snapshot.js';
import type { StoredPlace } from '../stored-json.js';
import { type AnswerRow, answerStoodBy, type Place } from './answer-stood-by.js';
import { ANSWERS_ASKED_FOR } from './asked-for.js';
import { Bodies } from './bodies.js';
import {
  type Cell,
  Cells,
  callParams,
  candidateExtra,
  changeItems,
  placeOf,
  portfolioColumns,
  rowFields,
  rowStages,
  rowValues,
} from './cells.js';
import { countOpenCalls, countUnknownCalls } from './costs-unknown.js';
import { damagedTimes } from './damaged-values.js';
import { type Connection, connect } from './driver.js';
import { earlierPages } from './earlier-pages.js';
import { GlanceStore } from './glances.js';
import { hasChanges, MEMBER_CHANGES, type MemberChangeRow, toMemberChange } from './member-changes.js';
import { type ProgressRow, toProgress } from './rows.js';
import { runFinder } from './runs.js';
import {
  ANSWERS_ABOUT,
  CALLS,
  CANDIDATES,
  DUPLICATES,
  ERRORS,
  LISTS,
  MEMBERS,
  PROGRESS,
  ROWS,
  SUBJECTS,
  WATCH_EVENTS,
} from './snapshot-sql.js';
import { withoutStagesToCome } from './stages-to-come.js';
import { type StandingRow, standingReader } from './standings.js';
import type { BelievedTimes } from './times.js';
import { allowancesOf } from './told.js';

/**
 * A connection of its own, in one read transaction: SQLite shows it the database as it was when the transaction began,
 * while the run goes on beside it.
 */
export async function openSnapshot(
  path: string,
  runId: string,
  times: BelievedTimes,
): Promise<RunSnapshot | undefined> {
  const database = connect(path, { readonly: true, timeout: 10_000 });
  database.exec('BEGIN');
  const run = runFinder(database)(runId);
  if (run === undefined) {
    database.close();
    return undefined;
  }
  database.exec(`CREATE TEMP VIEW standing AS ${standingsOf(run)}`);
  const damaged: UnsoundAnswer[] = [];
  // They are empty in the tables.
  const damagedTexts: StoredPlace[] = [...damagedTimes(database, runId)];
  const bodies = new Bodies(database);
  const store: Store = {
    database,
    bodies,
    cells: new Cells(database),
    glances: new GlanceStore(),
    damaged,
    damagedTexts,
    standing: standingAnswers(database, bodies),
  };
  return {
    damaged,
    damagedTexts,
    run,
    ...listOf(database, run),
    progress: {
      ...toProgress(database.prepare<[string], ProgressRow>(PROGRESS).all(runId)),
      unknownCalls: countUnknownCalls(database)(runId) + countOpenCalls(database)(runId),
      refusals: [],
      refusedRows: 0,
    },
    rows: () => readRows(store, runId),
    members: () => readMembers(database, times, run),
    candidates: () => readCandidates(store),
    calls: () => inBatches<SnapshotCall>(database, CALLS, [runId], BATCH),
    errors: () => inBatches<SnapshotError>(database, ERRORS, [runId], BATCH),
    changes: () => readChanges(store, run),
    watchEvents: () => inBatches<SnapshotWatchEvent>(database, WATCH_EVENTS, [run.portfolioId], BATCH),
    allowances: async () => allowancesOf(database, runId),
    subjects: (space, operations, asked = []) => readSubjects(store, space, operations, asked),
    lists: (operations) => readLists(store, run, operations),
    keepGlances: (reader, space, entries) => store.glances.keep(reader, space, entries),
    async close() {
      store.glances.close();
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

const NOTHING_ASKED: readonly RowQuestion[] = [];

async function* readRows(store: Store, runId: string): AsyncGenerator<readonly SnapshotRow[]> {
  type Parsed = 'values' | 'stages' | 'ids';
  type Row = Omit<Stored<SnapshotRow, Parsed>, 'confirmed' | 'questions' | 'glances' | 'country' | 'fields'> &
    Place & { readonly fields: string; readonly confirmed: string | null; readonly questions: string };
  store.database.exec(DUPLICATES);
  for await (const batch of inBatches<Row>(store.database, ROWS, [runId], BATCH)) {
    yield batch.map(({ fields, run_id, run_row, ...row }) => {
      const key = [run_id, run_row];
      // Not in the tables, but what was searched for: a row of which it is damaged is not whole.
      const said = soundText(store, rowFields, fields, key);
      const ids = JSON.parse(row.ids) as IdsBySpace;
      return {
        ...row,
        values: soundText(store, rowValues, row.values, key) ?? [],
        stages: soundText(store, rowStages, row.stages, key) ?? null,
        ids,
        confirmed: row.confirmed === null ? null : (JSON.parse(row.confirmed) as ConfirmedCompany),
        questions: row.questions === '[]' ? NOTHING_ASKED : (JSON.parse(row.questions) as RowQuestion[]),
        glances: store.glances.of(ids),
        country: said?.country ?? null,
        fields: said ?? null,
      };
    });
  }
}

async function* readMembers(
  database: Connection,
  times: BelievedTimes,
  { portfolioId }: RunRecord,
): AsyncGenerator<readonly SnapshotMember[]> {
  if (portfolioId === null) return;
  // A damaged row is named with the rows.
  const read = standingReader(database, times, {});
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

interface Store {
  readonly database: Connection;
  readonly bodies: Bodies;
  readonly cells: Cells;
  readonly glances: GlanceStore;
  readonly damaged: UnsoundAnswer[];
  readonly damagedTexts: StoredPlace[];
  readonly standing: ReturnType<typeof standingAnswers>;
}

/** What of the answers about a subject it stands by: prepared once for all that read, each of the tables and spaces. */
const standingAnswers = (database: Connection, bodies: Bodies) => ({
  stoodBy: answerStoodBy(database, bodies),
  begun: withoutStagesToCome(database),
  earlier: earlierPages(database),
});

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
  askedFor: readonly string[],
): AsyncGenerator<SnapshotSubject> {
  type Subject = Omit<Stored<SnapshotSubject, 'ids'>, 'answers' | 'withReplaced'> &
    Place & { readonly lacking: string | null; readonly asked: 0 | 1 };
  const { stoodBy, begun, earlier } = store.standing;
  const about = store.database.prepare<unknown[], AnswerRow>(ANSWERS_ABOUT(operations.length));
  const asking =
    askedFor.length === 0
      ? undefined
      : store.database.prepare<unknown[], AnswerRow>(ANSWERS_ASKED_FOR(askedFor.length));
  for await (const batch of inBatches<Subject>(store.database, SUBJECTS, [space], BATCH)) {
    for (const { run_id, run_row, lacking, asked, ...subject } of batch) {
      const place = { run_id, run_row };
      const ids = JSON.parse(subject.ids) as IdsBySpace;
      const newest = about.all(run_id, run_row, ...operations);
      const standing = newest.flatMap((answer) => stoodBy(answer, lacking, place) ?? []);
      const all = asking === undefined ? standing : [...standing, ...asking.all(run_id, run_row, ...askedFor)];
      const given = asked === 1 ? begun(all, place) : all;
      const withReplaced = (operation: string) => withBodies(store, subject.row, earlier(operation, standing, place));
      yield { ...subject, ids, answers: withBodies(store, subject.row, given), withReplaced };
    }
  }
}

/** Those that are sound; the others are noted. */
const withBodies = (store: Store, row: number, answers: readonly AnswerRow[]): readonly SnapshotAnswer[] =>
  answers.flatMap(({ id, api, ...answer }) => {
    const params = store.cells.find(callParams, answer.params, [id]);
    if (params === undefined) {
      store.damaged.push({ ...answer, api, row, params: null });
      return [];
    }
    const body = soundBody(store, { ...answer, api, row });
    return body === undefined ? [] : [{ ...answer, params, body }];
  });

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
