import type { MemberChange } from '../changes.js';
import type { Script, Snapshot } from '../database.js';
import type { RunRecord } from '../runs.js';
import type {
  ConfirmedCompany,
  RowQuestion,
  RunSnapshot,
  SnapshotCall,
  SnapshotCandidate,
  SnapshotError,
  SnapshotMember,
  SnapshotRow,
  SnapshotWatchEvent,
  UnsoundAnswer,
} from '../snapshot.js';
import { GlanceStore } from '../sqlite/glances.js';
import type { StoredPlace } from '../stored-json.js';
import type { Place } from './answer-stood-by.js';
import { Bodies } from './bodies.js';
import {
  Cells,
  candidateExtra,
  changeItems,
  placeOf,
  portfolioColumns,
  rowFields,
  rowStages,
  rowValues,
} from './cells.js';
import { countOpenCalls, countUnknownCalls } from './costs-unknown.js';
import { hasChanges, MEMBER_CHANGES, type MemberChangeRow, toMemberChange } from './member-changes.js';
import { type ProgressRow, toProgress } from './progress.js';
import { runFinder } from './runs.js';
import { readLists, readSubjects } from './snapshot-answers.js';
import { CALLS, CANDIDATES, DUPLICATES, ERRORS, MEMBERS, PROGRESS, ROWS, WATCH_EVENTS } from './snapshot-sql.js';
import { type IdsBySpace, type SnapshotStore, type Stored, soundText, standingAnswers } from './snapshot-store.js';
import { type StandingRow, standingReader } from './standings.js';
import type { BelievedTimes } from './times.js';
import { allowancesOf } from './told.js';

/** A run as it stood when the snapshot was opened, which is closed with it; undefined: there is no such run. */
export async function openSnapshot(
  snapshot: Snapshot,
  runId: string,
  times: BelievedTimes,
): Promise<RunSnapshot | undefined> {
  const found = await snapshot
    .read(() => readHead(snapshot, runId))
    .catch(async (error: unknown) => {
      await snapshot.close();
      throw error;
    });
  if (found === undefined) {
    await snapshot.close();
    return undefined;
  }
  const { run, list, progress } = found;
  const damaged: UnsoundAnswer[] = [];
  // They are empty in the tables.
  const damagedTexts: StoredPlace[] = [...snapshot.stored.damagedTimes(runId)];
  const bodies = new Bodies(snapshot);
  const store: SnapshotStore = {
    snapshot,
    bodies,
    cells: new Cells(snapshot),
    glances: new GlanceStore(),
    damaged,
    damagedTexts,
    standing: standingAnswers(snapshot, bodies),
  };
  return {
    damaged,
    damagedTexts,
    run,
    ...list,
    progress,
    rows: () => readRows(store, runId),
    members: () => readMembers(snapshot, times, run),
    candidates: () => readCandidates(store),
    calls: () => snapshot.batches<SnapshotCall>(CALLS, [runId], BATCH),
    errors: () => snapshot.batches<SnapshotError>(ERRORS, [runId], BATCH),
    changes: () => readChanges(store, run),
    watchEvents: () => snapshot.batches<SnapshotWatchEvent>(WATCH_EVENTS, [run.portfolioId], BATCH),
    allowances: () => snapshot.read(() => allowancesOf(snapshot, runId)),
    subjects: (space, operations, asked = []) => readSubjects(store, space, operations, asked),
    lists: (operations) => readLists(store, run, operations),
    keepGlances: (reader, space, entries) => store.glances.keep(reader, space, entries),
    async close() {
      store.glances.close();
      await snapshot.close();
    },
  };
}

function* readHead(snapshot: Snapshot, runId: string) {
  const run = yield* runFinder(snapshot)(runId);
  if (run === undefined) return undefined;
  yield* snapshot.exec(`CREATE TEMP VIEW standing AS ${standingsOf(run)}`);
  const unknownCalls = (yield* countUnknownCalls(snapshot)(runId)) + (yield* countOpenCalls(snapshot)(runId));
  const counted = toProgress(yield* snapshot.prepare<[string], ProgressRow>(PROGRESS).all(runId));
  return {
    run,
    list: yield* listOf(snapshot, run),
    progress: { ...counted, unknownCalls, refusals: [], refusedRows: 0 },
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

function* listOf(snapshot: Snapshot, run: RunRecord): Script<Pick<RunSnapshot, 'columns' | 'listed'>> {
  if (run.portfolioId === null) return { columns: run.columns, listed: run.rowCount };
  const columns = yield* snapshot
    .prepare<[number], string>('SELECT columns FROM portfolios WHERE id = ?')
    .pluck()
    .get(run.portfolioId);
  const listed = (yield* snapshot.prepare<[], number>('SELECT count(*) FROM temp.standing').pluck().get()) ?? 0;
  return { columns: new Cells(snapshot).read(portfolioColumns, columns ?? '', [run.portfolioId]), listed };
}

const BATCH = 1000;

const NOTHING_ASKED: readonly RowQuestion[] = [];

/** An engine lists them as it finds them. To sort them in SQL would cost every row something, and few have been asked about. */
const inOrder = (questions: readonly RowQuestion[]): readonly RowQuestion[] =>
  questions.toSorted((a, b) => byText(a.space, b.space) || byText(a.stage ?? '', b.stage ?? ''));

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

async function* readRows(store: SnapshotStore, runId: string): AsyncGenerator<readonly SnapshotRow[]> {
  type Parsed = 'values' | 'stages' | 'ids';
  type Row = Omit<Stored<SnapshotRow, Parsed>, 'confirmed' | 'questions' | 'glances' | 'country' | 'fields'> &
    Place & { readonly fields: string; readonly confirmed: string | null; readonly questions: string };
  await store.snapshot.read(() => store.snapshot.exec(DUPLICATES));
  for await (const batch of store.snapshot.batches<Row>(ROWS, [runId], BATCH)) {
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
        questions: row.questions === '[]' ? NOTHING_ASKED : inOrder(JSON.parse(row.questions) as RowQuestion[]),
        glances: store.glances.of(ids),
        country: said?.country ?? null,
        fields: said ?? null,
      };
    });
  }
}

async function* readMembers(
  snapshot: Snapshot,
  times: BelievedTimes,
  { portfolioId }: RunRecord,
): AsyncGenerator<readonly SnapshotMember[]> {
  if (portfolioId === null) return;
  // A damaged row is named with the rows.
  const read = await snapshot.read(() => standingReader(snapshot, times, {}));
  type Row = StandingRow & Omit<SnapshotMember, 'standing'>;
  for await (const batch of snapshot.batches<Row>(MEMBERS, [portfolioId], BATCH))
    yield batch.map((row) => {
      const { portfolio, inputId, firstSeen, lastSeen, leftAt } = row;
      return { portfolio, inputId, firstSeen, lastSeen, leftAt, standing: read(row) };
    });
}

async function* readCandidates(store: SnapshotStore): AsyncGenerator<readonly SnapshotCandidate[]> {
  for await (const batch of store.snapshot.batches<SnapshotCandidate & Place>(CANDIDATES, [], BATCH))
    yield batch.map(({ run_id, run_row, ...candidate }) => {
      const { extra, space, position } = candidate;
      const key = [run_id, run_row, space, position];
      return extra == null || soundText(store, candidateExtra, extra, key) !== undefined
        ? candidate
        : { ...candidate, extra: null };
    });
}

async function* readChanges(store: SnapshotStore, { portfolioId }: RunRecord): AsyncGenerator<readonly MemberChange[]> {
  if (portfolioId === null || !(await store.snapshot.read(() => hasChanges(store.snapshot)))) return;
  const sql = `${MEMBER_CHANGES} AND members.portfolio_id = ? ORDER BY changes.changed_at, changes.call_id, members.row, members.id`;
  for await (const batch of store.snapshot.batches<MemberChangeRow>(sql, [portfolioId], BATCH))
    yield batch.flatMap((row) => {
      const change = toMemberChange(row, store.cells);
      if (change === undefined) store.damagedTexts.push(placeOf(changeItems, [row.id]));
      return change ?? [];
    });
}
