// All that an export reads from a ledger. It has over 500 lines, because all readings share one snapshot.

import { companyKey, numberKey, registersIn } from '../../domain/entity-key.js';
import { type IdSpace, INFORMATIVE_SPACES } from '../../domain/provider.js';
import { forEachItem, type Script, type Snapshot } from '../db/database.js';
import { type Connection, connect, type Statement } from '../db/sqlite/connection.js';
import {
  callParams,
  candidateExtra,
  findCell,
  type JsonColumn,
  portfolioColumns,
  readCell,
  rowFields,
  rowStages,
  rowValues,
  type StoredKey,
  type StoredPlace,
  type Unparsed,
} from '../db/stored-json.js';
import { allowancesOf, chargedCalls } from '../money/usage.js';
import {
  hasChanges,
  type MemberChangeRow,
  memberChanges,
  TO_COMPARE,
  toMemberChange,
} from '../portfolio/change-store.js';
import { type MemberStateRow, memberStateReader } from '../portfolio/members.js';
import { rowQuestions } from '../review/questions.js';
import { countOpenCalls, countUnknownCalls, type ProgressRow, toProgress } from '../rows/read-rows.js';
import { runFinder } from '../rows/run-store.js';
import type { RunRecord } from '../rows/runs.js';
import { Bodies } from './bodies.js';
import { GraphStore } from './graph-store.js';
import { viewPast } from './past-view.js';
import type {
  ConfirmedCompany,
  GlanceEntry,
  Glances,
  RowNote,
  RunRowKey,
  RunSnapshot,
  SnapshotAnswer,
  SnapshotCall,
  SnapshotCandidate,
  SnapshotChange,
  SnapshotError,
  SnapshotList,
  SnapshotMember,
  SnapshotPart,
  SnapshotRow,
  SnapshotSubject,
  SnapshotWatchEvent,
  SubjectHead,
  UnsoundAnswer,
} from './snapshot.js';
import {
  ANSWERS_ABOUT,
  ANSWERS_ASKED_FOR,
  CALLS,
  CANDIDATES,
  companyOfRow,
  DUPLICATES,
  ERRORS,
  LISTS,
  MEMBERS,
  OPERATIONS,
  PROGRESS,
  ROWS,
  SUBJECTS,
  WATCH_EVENTS,
} from './snapshot-sql.js';
import { type AnswerRow, earlierPages, visibleAnswerReader, withoutUnreachedStages } from './visible-answer.js';

/** Opens a consistent view of a run. It closes `snapshot` with itself. Undefined: there is no such run. */
export async function openSnapshot(
  snapshot: Snapshot,
  runId: string,
  part: SnapshotPart = {},
): Promise<RunSnapshot | undefined> {
  const found = await snapshot
    .read(() => readHead(snapshot, runId, part))
    .catch(async (error: unknown) => {
      await snapshot.close();
      throw error;
    });
  if (found === undefined) {
    await snapshot.close();
    return undefined;
  }
  const { run, list, progress, past, since } = found;
  const damaged: UnsoundAnswer[] = [];
  // These cells are empty in the tables.
  const damagedTexts: StoredPlace[] = [];
  const until = part.asOf ?? Number.MAX_SAFE_INTEGER;
  const bodies = new Bodies(snapshot);
  const graph = new GraphStore();
  const store: SnapshotStore = {
    snapshot,
    bodies,
    glances: new GlanceStore(),
    damaged,
    damagedTexts,
    standing: visibleAnswerReaders(snapshot, bodies, past !== null),
  };
  return {
    damaged,
    damagedTexts,
    run,
    ...list,
    past,
    progress,
    rows: () => readRows(store, runId),
    members: () => readMembers(snapshot, run),
    candidates: () => readCandidates(store),
    calls: () => snapshot.batches<SnapshotCall>(CALLS, [runId, until], BATCH),
    errors: () => snapshot.batches<SnapshotError>(ERRORS, [runId], BATCH),
    changes: () => readChanges(store, run, since),
    notCompared: (readers) =>
      snapshot.batches(
        `SELECT DISTINCT subject_space AS space, subject_id AS id FROM calls INDEXED BY calls_replacing
         WHERE ${TO_COMPARE.replace('@readers', '?')} AND settled_at > ? AND settled_at <= ? ORDER BY subject_space, subject_id`,
        [readers, since, until],
        BATCH,
      ),
    watchEvents: () => readWatchEvents(snapshot, run),
    allowances: () => snapshot.read(() => allowancesOf(snapshot, runId)),
    charged: () =>
      snapshot.read(() => chargedCalls(snapshot, 'run_id = @runId AND started_at <= @until', { runId, until })),
    async *subjects(space, operations, asked = []) {
      for await (const head of readSubjects(store, space, operations, asked, 'subjects.id'))
        yield await head.load(damaged);
    },
    subjectHeads: (space, operations, asked = []) =>
      readSubjects(store, space, operations, asked, 'rows.run_id, rows.row, subjects.id'),
    operations: async () => new Set(await snapshot.read(() => snapshot.prepare<[], string>(OPERATIONS).pluck().all())),
    lists: (operations) => readLists(store, run, operations, until),
    keepGlances: (reader, space, entries) => store.glances.keep(reader, space, entries),
    graph,
    async close() {
      store.glances.close();
      graph.close();
      await snapshot.close();
    },
  };
}

/** When the run before ended. Null: there is none, or it was deleted. */
const BEFORE = 'SELECT max(finished_at) FROM runs WHERE portfolio_id = ? AND created_at < ?';

function* readHead(snapshot: Snapshot, runId: string, { only, asOf }: SnapshotPart) {
  const run = yield* runFinder(snapshot)(runId);
  if (run === undefined) return undefined;
  const past = asOf === undefined || run.portfolioId === null ? null : yield* viewPast(snapshot, run.portfolioId, asOf);
  yield* snapshot.exec(`CREATE TEMP VIEW standing AS ${only === undefined ? standingsOf(run) : standingsAt(only)}`);
  const unknownCalls = (yield* countUnknownCalls(snapshot)(runId)) + (yield* countOpenCalls(snapshot)(runId));
  const counted = toProgress(yield* snapshot.prepare<[string], ProgressRow>(PROGRESS).all(runId));
  return {
    run,
    past,
    since:
      (yield* snapshot.prepare<[number | null, number], number>(BEFORE).pluck().get(run.portfolioId, run.createdAt)) ??
      run.createdAt,
    list: yield* listOf(snapshot, run),
    progress: { ...counted, unknownCalls, refusals: [], refusedRows: 0 },
  };
}

/**
 * Maps each line of the list to the row and run that it uses. A run covers only due rows, but the tables show the whole
 * portfolio. Runs from versions without portfolios are their own list.
 */
const standingsOf = ({ id, portfolioId }: RunRecord): string =>
  portfolioId === null
    ? `SELECT row, line, run_id, row AS run_row FROM rows WHERE run_id = ${quoted(id)}`
    : `SELECT row, line, run_id, run_row FROM members WHERE portfolio_id = ${portfolioId} AND left_at IS NULL`;

/** A view has no parameters. */
const standingsAt = (rows: readonly RunRowKey[]): string => {
  const values = rows.map(({ run_id, run_row }, index) => `(${index + 1}, ${quoted(run_id)}, ${Math.trunc(run_row)})`);
  return `SELECT CAST(only_these.column1 AS BIGINT) AS row, line, run_id, rows.row AS run_row
    FROM (VALUES ${values.join(', ')}) AS only_these JOIN rows ON run_id = only_these.column2 AND rows.row = only_these.column3`;
};

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function* listOf(snapshot: Snapshot, run: RunRecord): Script<Pick<RunSnapshot, 'columns' | 'listed'>> {
  if (run.portfolioId === null) return { columns: run.columns, listed: run.rowCount };
  const columns = yield* snapshot
    .prepare<[number], string>('SELECT columns FROM portfolios WHERE id = ?')
    .pluck()
    .get(run.portfolioId);
  const listed = (yield* snapshot.prepare<[], number>('SELECT count(*) FROM temp.standing').pluck().get()) ?? 0;
  return { columns: readCell(portfolioColumns, columns ?? '', { id: run.portfolioId }), listed };
}

const BATCH = 1000;

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

async function* readRows(store: SnapshotStore, runId: string): AsyncGenerator<readonly SnapshotRow[]> {
  type Parsed = 'values' | 'stages' | 'ids';
  type Row = Omit<
    Unparsed<SnapshotRow, Parsed>,
    'confirmed' | 'questions' | 'glances' | 'country' | 'fields' | 'companyKey'
  > &
    RunRowKey & { readonly fields: string; readonly matches: string; readonly questions: string };
  await store.snapshot.read(() => store.snapshot.exec(DUPLICATES));
  const questionsIn = rowQuestions(store.snapshot);
  for await (const batch of store.snapshot.batches<Row>(ROWS, [runId], BATCH)) {
    const rows = batch.map(({ fields, run_id, run_row, matches, ...row }) => {
      const key = { run: run_id, row: run_row };
      // Not shown in the tables, but the search used it: a row with damaged fields counts as damaged.
      const said = soundText(store, rowFields, fields, key);
      const { ids, ...company } = companyIn(row.ids, matches);
      return {
        ...row,
        values: soundText(store, rowValues, row.values, key) ?? [],
        stages: soundText(store, rowStages, row.stages, key) ?? null,
        ids,
        ...company,
        glances: store.glances.of(ids),
        country: said?.country ?? null,
        fields: said ?? null,
      };
    });
    yield await store.snapshot.read(() =>
      forEachItem(rows, function* (row) {
        return { ...row, questions: yield* questionsIn(row.questions, row.fields) };
      }),
    );
  }
}

async function* readMembers(snapshot: Snapshot, { portfolioId }: RunRecord): AsyncGenerator<readonly SnapshotMember[]> {
  if (portfolioId === null) return;
  // Damaged rows are reported with the rows.
  const read = await snapshot.read(() => memberStateReader(snapshot, {}));
  type Row = MemberStateRow & Omit<SnapshotMember, 'standing' | 'ids'> & CompanyColumns;
  for await (const batch of snapshot.batches<Row>(MEMBERS, [portfolioId], BATCH))
    yield batch.map((row) => {
      const { portfolio, inputId, firstSeen, lastSeen, leftAt } = row;
      const company = companyIn(row.ids, row.matches);
      return { portfolio, inputId, firstSeen, lastSeen, leftAt, standing: read(row), ...company };
    });
}

async function* readCandidates(store: SnapshotStore): AsyncGenerator<readonly SnapshotCandidate[]> {
  type Row = Omit<SnapshotCandidate, 'companyKey'> & RunRowKey & { [Column in keyof CompanyColumns]: string | null };
  for await (const batch of store.snapshot.batches<Row>(CANDIDATES, [], BATCH))
    yield batch.map(({ run_id, run_row, ids, matches, ...candidate }) => {
      const { extra } = candidate;
      const key = { run: run_id, row: run_row };
      const isSound = extra == null || soundText(store, candidateExtra, extra, key) !== undefined;
      const companyKey = ids === null || matches === null ? null : companyIn(ids, matches).companyKey;
      return { ...candidate, extra: isSound ? (extra ?? null) : null, companyKey };
    });
}

async function* readWatchEvents(snapshot: Snapshot, { portfolioId }: RunRecord) {
  type Row = SnapshotWatchEvent & CompanyColumns;
  for await (const batch of snapshot.batches<Row>(WATCH_EVENTS, [portfolioId], BATCH))
    yield batch.map(({ ids, matches, ...event }) => ({ ...event, companyKey: companyIn(ids, matches).companyKey }));
}

async function* readChanges(
  store: SnapshotStore,
  { portfolioId, createdAt }: RunRecord,
  since: number,
): AsyncGenerator<readonly SnapshotChange[]> {
  if (portfolioId === null || !(await store.snapshot.read(() => hasChanges(store.snapshot)))) return;
  type Row = MemberChangeRow & Pick<SnapshotChange, 'isNew'> & { readonly row_ids: string; readonly matches: string };
  // An answer that waited for a person is compared later than it came.
  const isNew = 'CASE WHEN changes.changed_at > ? OR changes.noted_at >= ? THEN 1 ELSE 0 END AS "isNew"';
  const sql = `${memberChanges(`${companyOfRow('row_ids')}, ${isNew},`)} AND members.portfolio_id = ? ORDER BY changes.changed_at, changes.call_id, members.row, members.id`;
  for await (const batch of store.snapshot.batches<Row>(sql, [since, createdAt, portfolioId], BATCH))
    yield batch.flatMap(({ row_ids, matches, isNew, ...row }) => {
      const change = toMemberChange(row);
      if (change === undefined) store.damagedTexts.push({ table: 'changes', column: 'items', id: row.id });
      return change === undefined ? [] : { ...change, isNew, companyKey: companyIn(row_ids, matches).companyKey };
    });
}

const SUBJECTS_AT_ONCE = 1000;

/** Bodies may be large, so only this many are in memory. */
const BODIES_AT_ONCE = 16;

async function* readSubjects(
  store: SnapshotStore,
  space: IdSpace,
  operations: readonly string[],
  askedFor: readonly string[],
  order: string,
): AsyncGenerator<SubjectHead> {
  type Subject = Omit<Unparsed<SnapshotSubject, 'ids'>, 'answers' | 'withReplaced' | 'companyKey' | 'notes'> &
    RunRowKey & { readonly matches: string; readonly lacking: string | null; readonly asked: 0 | 1 };
  const { snapshot } = store;
  const { visibleAnswer, begun, earlier } = store.standing;
  const about = snapshot.prepare<unknown[], AnswerRow>(ANSWERS_ABOUT(operations.length));
  const asking =
    askedFor.length === 0 ? undefined : snapshot.prepare<unknown[], AnswerRow>(ANSWERS_ASKED_FOR(askedFor.length));
  const noted = snapshot.prepare<[string, number], RowNote>(
    'SELECT code, message FROM errors WHERE run_id = ? AND row = ? ORDER BY id',
  );
  for await (const batch of snapshot.batches<Subject>(SUBJECTS(order), [space], SUBJECTS_AT_ONCE)) {
    for (const { run_id, run_row, lacking, asked, matches, ...rest } of batch) {
      const place = { run_id, run_row };
      const { ids, companyKey } = companyIn(rest.ids, matches);
      const { standing, given, notes } = await snapshot.read(function* () {
        const newest = yield* about.all(run_id, run_row, ...operations);
        const visible = yield* forEachItem(newest, (answer) => visibleAnswer(answer, lacking, place));
        const standing = visible.filter((answer) => answer !== undefined);
        const all =
          asking === undefined ? standing : [...standing, ...(yield* asking.all(run_id, run_row, ...askedFor))];
        const notes = asking === undefined ? [] : yield* noted.all(run_id, run_row);
        return { standing, given: asked === 1 ? yield* begun(all, place) : all, notes };
      });
      const subject = { ...rest, ids, companyKey, notes };
      const replaced = (operation: string) => snapshot.read(() => earlier(operation, standing, place));
      const load = async (damaged: UnsoundAnswer[]) => {
        const noting = { ...store, damaged };
        const withReplaced = async (operation: string) =>
          await withBodies(noting, subject.row, await replaced(operation));
        return { ...subject, answers: await withBodies(noting, subject.row, given), withReplaced };
      };
      yield { ...subject, usedRun: run_id, usedRow: run_row, answers: given, replaced, load };
    }
  }
}

/** Returns the undamaged answers and records the others. */
async function withBodies(
  store: SnapshotStore,
  row: number,
  answers: readonly AnswerRow[],
): Promise<readonly SnapshotAnswer[]> {
  const sound: SnapshotAnswer[] = [];
  for (const { id, api, ...answer } of answers) {
    const params = findCell(callParams, answer.params);
    if (params === undefined) {
      store.damaged.push({ ...answer, api, row, params: null });
      continue;
    }
    const body = await soundBody(store, { ...answer, api, row });
    if (body !== undefined) sound.push({ ...answer, params, body });
  }
  return sound;
}

async function* readLists(
  store: SnapshotStore,
  { id, portfolioId }: RunRecord,
  operations: readonly string[],
  until: number,
): AsyncGenerator<readonly SnapshotList[]> {
  type List = Omit<SnapshotList, 'body'> & Pick<UnsoundAnswer, 'api' | 'params'>;
  const sql = LISTS(operations.length);
  for await (const batch of store.snapshot.batches<List>(
    sql,
    [id, portfolioId, until, ...operations],
    BODIES_AT_ONCE,
  )) {
    const sound: SnapshotList[] = [];
    for (const { api, params, ...list } of batch) {
      const body = await soundBody(store, { ...list, api, params, row: null, stage: null });
      if (body !== undefined) sound.push({ ...list, body });
    }
    yield sound;
  }
}

/** Shared by all readers of a snapshot. Damaged records are noted here and left out. */
export interface SnapshotStore {
  readonly snapshot: Snapshot;
  readonly bodies: Bodies;
  readonly glances: GlanceStore;
  readonly damaged: UnsoundAnswer[];
  readonly damagedTexts: StoredPlace[];
  readonly standing: ReturnType<typeof visibleAnswerReaders>;
}

/** Select the visible answers of a company. Prepared once for all tables and spaces. */
const visibleAnswerReaders = (snapshot: Snapshot, bodies: Bodies, isPast: boolean) => ({
  visibleAnswer: visibleAnswerReader(snapshot, bodies, isPast),
  begun: withoutUnreachedStages(snapshot),
  earlier: earlierPages(snapshot),
});

/** Returns the parsed text, or undefined and records the damage. */
function soundText<T>({ damagedTexts }: SnapshotStore, of: JsonColumn<T>, text: string, record: StoredKey) {
  const value = findCell(of, text);
  if (value === undefined) damagedTexts.push({ table: of.table, column: of.column, ...record });
  return value;
}

/** Returns the body, or undefined and records the damage. */
async function soundBody(
  { snapshot, bodies, damaged }: SnapshotStore,
  answer: UnsoundAnswer,
): Promise<Buffer | undefined> {
  const body = await snapshot.read(() => bodies.readSound(answer.rawSha256));
  if (body === undefined) damaged.push(answer);
  return body;
}

type IdsBySpace = Readonly<Partial<Record<IdSpace, string>>>;

/** Of `companyOfRow`, as JSON. */
interface CompanyColumns {
  readonly ids: string;
  readonly matches: string;
}

interface Match extends Omit<ConfirmedCompany, 'register'> {
  readonly space: IdSpace;
  readonly id: string;
  readonly position: number;
  readonly jurisdiction: string | null;
  readonly state: string | null;
  /** Of the list, if the search names no court or state. */
  readonly listedNumber: string | null;
  readonly listedCountry: string | null;
  readonly listedState: string | null;
}

/** A row's IDs, its match in the space whose searches return the most, and the key of its company. */
function companyIn(idsOfRow: string, matchesOfRow: string) {
  const ids = JSON.parse(idsOfRow) as IdsBySpace;
  const matches = matchesOfRow === '[]' ? [] : (JSON.parse(matchesOfRow) as Match[]).sort(byFacts);
  const [first] = matches;
  const confirmed: ConfirmedCompany | null =
    first === undefined
      ? null
      : {
          name: first.name,
          registrationNumber: first.registrationNumber,
          countryCode: first.countryCode,
          register: first.jurisdiction || first.state || null,
        };
  return { ids, confirmed, companyKey: keyOf(ids, matches) };
}

const byFacts = (a: Match, b: Match): number =>
  rankOf(a) - rankOf(b) || a.position - b.position || byText(a.space, b.space);

const rankOf = ({ space }: Match): number => {
  const rank = INFORMATIVE_SPACES.indexOf(space);
  return rank === -1 ? INFORMATIVE_SPACES.length : rank;
};

/** A search may name a number without its court, and another search or the list the court. */
function keyOf(ids: IdsBySpace, matches: readonly Match[]): string | null {
  const own = matches.filter(({ space, id }) => ids[space] === id);
  for (const registersOf of [searchedRegisters, listedRegisters])
    for (const match of own) {
      const key = numberKey({ ...match, registers: registersOf(match) });
      if (key !== undefined) return key;
    }
  return companyKey({ countryCode: null, registrationNumber: null, ids });
}

const searchedRegisters = ({ jurisdiction, state }: Match) => [jurisdiction, state];

const listedRegisters = ({ countryCode, listedNumber, listedCountry, listedState }: Match) =>
  listedNumber === null ? [] : registersIn(listedNumber, countryCode ?? '', [listedState, listedCountry]);

/**
 * Keeps readers' short values about companies for the rows, which come in another order. It is an unnamed SQLite
 * database: overflow goes to a private temporary file, so that a list of any length needs the same memory.
 */
export class GlanceStore {
  #database: Connection | undefined;
  #insert: Statement<[string, string, string, string], unknown> | undefined;
  #select: Statement<[string, string], { readonly reader: string; readonly cells: string }> | undefined;

  keep(reader: string, space: IdSpace, entries: readonly GlanceEntry[]): void {
    if (entries.length === 0) return;
    if (this.#database === undefined) this.#open();
    for (const { id, cells } of entries) this.#insert?.run(space, id, reader, cells);
  }

  of(ids: Readonly<Partial<Record<IdSpace, string>>>): Glances {
    const found: Record<string, string> = {};
    if (this.#select === undefined) return found;
    for (const [space, id] of Object.entries(ids))
      for (const { reader, cells } of this.#select.all(space, id)) found[reader] = cells;
    return found;
  }

  close(): void {
    this.#database?.close();
  }

  #open(): void {
    const database = connect('');
    // Temporary data: no durability is needed.
    database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
      CREATE TABLE glances (space TEXT, id TEXT, reader TEXT, cells TEXT, PRIMARY KEY (space, id, reader)) WITHOUT ROWID;
      BEGIN`);
    this.#insert = database.prepare('INSERT OR REPLACE INTO glances VALUES (?, ?, ?, ?)');
    this.#select = database.prepare('SELECT reader, cells FROM glances WHERE space = ? AND id = ?');
    this.#database = database;
  }
}
