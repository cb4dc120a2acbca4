import type { Prices } from '../domain/prices.js';
import type { IdSpace } from '../domain/provider.js';
import type { GlanceEntry, RunSnapshot, SnapshotAnswer, SnapshotSubject } from '../ledger/answers/snapshot.js';
import type { DueDecision, MemberState } from '../ledger/portfolio/portfolios.js';
import { readers } from '../readers/list.js';
import { currentPages, isPaged, newestPerRequest } from '../readers/parts/newest-reading.js';
import {
  type Issue,
  type ListItem,
  type RawAnswer,
  type Reader,
  readSubject,
  type SubjectAnswers,
} from '../readers/reader.js';
import type { StableLink } from './atomic-folder.js';
import { BulkPool, bulkRenderer, glanceEntries } from './bulk-lines.js';
import { type ExportOptions, type QuestionLines, writesTable } from './formats/format.js';
import { allFormats, type Formats } from './formats/list.js';
import { addLists } from './graph.js';
import type { Outputs } from './outputs.js';
import { issueRow } from './run-rows.js';

/** Writes the data tables reader by reader, the bulk last. */
export async function writeAnswers(
  answers: RunAnswers,
  options: ExportOptions,
  parts: ExportParts,
  outputs: Outputs,
): Promise<IssueCounts> {
  const issues = new IssueRows(outputs);
  const isBulk = (reader: Reader) => reader.bulk === true;
  const inOrder = [...parts.readers.filter((reader) => !isBulk(reader)), ...parts.readers.filter(isBulk)];
  for (const reader of inOrder) {
    const subjects = withListed(reader, answers);
    const keep = (entries: readonly GlanceEntry[]) => answers.keepGlances(reader.name, reader.space, entries);
    if (asLines(reader, options, parts.formats))
      await writeLines(reader, subjects, options, parts, outputs, issues, keep);
    else await writeRows(reader, subjects, options, outputs, issues, keep, answers.graph);
  }
  return issues.counts;
}

type KeepGlances = (entries: readonly GlanceEntry[]) => void;

/** Lines are used only if all formats can render them: a format that takes rows needs them on this thread anyway. */
const asLines = ({ bulk, lists, tables }: Reader, options: ExportOptions, known: Formats): boolean =>
  bulk === true &&
  lists === undefined &&
  options.formats.every(
    (name) => known[name].renderer !== undefined || !tables.some((table) => writesTable(known[name], table.name)),
  );

async function writeRows(
  reader: Reader,
  subjects: AsyncIterable<SubjectAnswers>,
  { includeContacts }: ExportOptions,
  outputs: Outputs,
  issues: IssueRows,
  keep: KeepGlances,
  graph: RunSnapshot['graph'],
): Promise<void> {
  for await (const subject of subjects) {
    const out = readSubject(reader, subject, includeContacts);
    for (const table of reader.tables) outputs.write(table.name, out.shownOf(table), subject.country);
    issues.write(out.issues);
    keep(glanceEntries(reader, subject.id, out));
    addLists(graph, reader, subject, out);
  }
}

async function writeLines(
  reader: Reader,
  subjects: AsyncIterable<SubjectAnswers>,
  options: ExportOptions,
  parts: ExportParts,
  outputs: Outputs,
  issues: IssueRows,
  keep: KeepGlances,
): Promise<void> {
  // The second thread only knows the listed readers and formats.
  const known = ALL_PARTS.readers.includes(reader) && parts.formats === ALL_PARTS.formats;
  const setup = known ? { reader: reader.name, options } : undefined;
  const pool = new BulkPool(bulkRenderer(reader, parts.formats, options), setup);
  try {
    for await (const lines of pool.render(inBatches(subjects))) {
      for (const [index, { name }] of reader.tables.entries()) outputs.append(name, lines.tables[index] ?? []);
      issues.write(lines.issues);
      keep(lines.glances);
    }
  } finally {
    await pool.close();
  }
}

/** Subjects with data. Lists are read once, and only if there is a subject for them. */
export async function* withListed(reader: Reader, answers: RunAnswers): AsyncGenerator<SubjectAnswers> {
  let listed: ReadonlyMap<string, ListItem> | undefined;
  for await (const subject of answers.subjects(reader.space, reader.operations, reader.asked)) {
    listed ??= await readLists(reader, answers);
    const item = listed.get(subject.id);
    if (subject.answers.length === 0 && reader.lists === undefined) continue;
    yield item === undefined ? subject : { ...subject, listed: item };
  }
}

async function readLists({ lists }: Reader, answers: RunAnswers): Promise<ReadonlyMap<string, ListItem>> {
  const items = new Map<string, ListItem>();
  if (lists === undefined) return items;
  for await (const answer of answers.lists(lists.operations))
    for (const item of lists.items(answer)) items.set(item.id, item);
  return items;
}

async function* inBatches(subjects: AsyncIterable<SubjectAnswers>): AsyncGenerator<readonly SubjectAnswers[]> {
  let batch: SubjectAnswers[] = [];
  let bytes = 0;
  for await (const subject of subjects) {
    batch.push(subject);
    bytes += subject.answers.reduce((sum, { body }) => sum + body.length, 0);
    if (batch.length < SUBJECTS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

const SUBJECTS_AT_ONCE = 16;
const BYTES_AT_ONCE = 4 << 20;

/** The parts that an export uses. */
export interface ExportParts {
  readonly readers: readonly Reader[];
  readonly formats: Formats;
  /** The review questions of the run's list, if they were read. */
  readonly questions?: QuestionLines;
  /** Called with the place of a kept workbook. */
  readonly onKept?: (file: string) => void;
  /** The link to the newest tables, if it may lead to the folder that is replaced. */
  readonly latest?: StableLink | undefined;
  /** Cancels the export. The previous one stays. */
  readonly signal?: AbortSignal | undefined;
  /** Decides whether a company is due. */
  readonly judge: (standing: MemberState) => DueDecision;
  /** The prices for the summary. Absent: none are set. */
  readonly prices?: Prices | null;
}

const NOTHING_IS_DUE: DueDecision = { due: null, nextAt: null };

export const ALL_PARTS: ExportParts = { readers, formats: allFormats, judge: () => NOTHING_IS_DUE };

/** The raw answers of a run for readers. Only this knows how the ledger stores them. */
export interface RunAnswers extends Pick<RunSnapshot, 'keepGlances' | 'graph'> {
  /** By company or report, in the order of their IDs. */
  subjects(space: IdSpace, operations: readonly string[], asked?: readonly string[]): AsyncIterable<SubjectAnswers>;
  /** Answers without a subject. Later pages and later readings come after earlier ones. */
  lists(operations: readonly string[]): AsyncIterable<RawAnswer>;
}

export function answersOf(snapshot: RunSnapshot): RunAnswers {
  return {
    graph: snapshot.graph,
    keepGlances: (...kept) => snapshot.keepGlances(...kept),
    async *subjects(space, operations, asked) {
      for await (const subject of snapshot.subjects(space, operations, asked)) yield await toSubject(subject);
    },
    async *lists(operations) {
      for await (const lists of snapshot.lists(operations))
        yield* lists.map((list) => ({ ...list, params: {}, ids: {}, row: null, stage: null, country: null }));
    },
  };
}

async function toSubject(subject: SnapshotSubject): Promise<SubjectAnswers> {
  const { id, ids, row, country, name, companyKey, notes } = subject;
  const newest = newestPerRequest(subject.answers.map((answer) => toRaw(answer, subject)));
  const answers = await withWholeLists(newest, subject);
  return { id, ids, row, stage: answers[0]?.stage ?? null, country, name, companyKey, notes, answers };
}

/** While a list is being read again, the previous version is shown until the new one is complete. */
async function withWholeLists(answers: readonly RawAnswer[], subject: SnapshotSubject): Promise<readonly RawAnswer[]> {
  const lists = new Set(answers.map(({ operation }) => operation).filter(isPaged));
  let shown = answers;
  for (const list of lists) {
    const standing = currentPages((await subject.withReplaced(list)).map((answer) => toRaw(answer, subject)));
    if (standing.length > 0) shown = [...shown.filter(({ operation }) => operation !== list), ...standing];
  }
  return shown;
}

const toRaw = (answer: SnapshotAnswer, { ids, row, country }: SnapshotSubject): RawAnswer => ({
  ...answer,
  ids,
  row,
  country,
});

/** The number of places that are not in the tables as they should be. */
export interface IssueCounts {
  /** Places of an unexpected form. */
  readonly unexpectedShapes: number;
  /** Companies or reports that could not be read at all. */
  readonly unread: number;
}

/** Writes the issues of readers as rows of the table `errors`, and counts them. */
export class IssueRows {
  readonly #outputs: Outputs;
  #issues = 0;
  #unread = 0;

  constructor(outputs: Outputs) {
    this.#outputs = outputs;
  }

  write(issues: readonly Issue[]): void {
    const before = this.#outputs.count('errors');
    const rows = issues.map((issue, index) => issueRow(issue, before + index + 1));
    this.#outputs.write('errors', rows);
    this.#issues += issues.length;
    this.#unread += issues.filter(({ unread }) => unread === true).length;
  }

  get counts(): IssueCounts {
    return { unexpectedShapes: this.#issues - this.#unread, unread: this.#unread };
  }
}
