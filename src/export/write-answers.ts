import { join } from 'node:path';
import type { Prices } from '../domain/prices.js';
import type {
  GlanceEntry,
  RunSnapshot,
  SnapshotSubject,
  SubjectHead,
  UnsoundAnswer,
} from '../ledger/answers/snapshot.js';
import type { DueDecision, MemberState } from '../ledger/portfolio/portfolios.js';
import { readers } from '../readers/list.js';
import { type Issue, type ListItem, type Reader, readSubject, type SubjectAnswers } from '../readers/reader.js';
import type { StableLink } from './atomic-folder.js';
import { BulkPool, bulkRenderer, glanceEntries, HAS_SECOND_THREAD, inBatches, SUBJECTS_AT_ONCE } from './bulk-lines.js';
import { type ExportOptions, type QuestionLines, writesTable } from './formats/format.js';
import { allFormats, type Formats } from './formats/list.js';
import { addLists } from './graph.js';
import type { Outputs } from './outputs.js';
import { PartThread, PartWriter, SharedParts, type WrittenPart } from './part-writer.js';
import {
  companyLines,
  cutIntoParts,
  type GraphSink,
  issuesNow,
  keepRecord,
  loadSubject,
  type PartRecord,
  type PartRules,
  type PartSubject,
  partNames,
  recordPath,
  replayGraph,
  SCRATCH,
  takeOver,
  toSubject,
} from './parts.js';
import { unexpectedPlace, writeErrors } from './run-rows.js';

/** Writes the data tables reader by reader, the bulk last. `rules`: in parts. */
export async function writeAnswers(
  snapshot: RunSnapshot,
  options: ExportOptions,
  parts: ExportParts,
  outputs: Outputs,
  folder: string,
  rules?: PartRules,
): Promise<WrittenAnswers> {
  const counts = { unexpectedShapes: 0, unread: 0 };
  const isBulk = (reader: Reader) => reader.bulk === true;
  const inOrder = [...parts.readers.filter((reader) => !isBulk(reader)), ...parts.readers.filter(isBulk)];
  const asked = await snapshot.operations();
  const used = inOrder.filter((reader) => mayHaveAnswers(reader, asked));
  const sinkOf = (reader: Reader): Sink => ({
    outputs,
    issues(found) {
      writeErrors(outputs, found.map(unexpectedPlace));
      const unread = found.filter((issue) => issue.unread === true).length;
      counts.unread += unread;
      counts.unexpectedShapes += found.length - unread;
    },
    keep: (entries) => snapshot.keepGlances(reader.name, reader.space, entries),
    graph: snapshot.graph,
  });
  if (rules === undefined) {
    for (const reader of used) await writeWhole(reader, snapshot, sinkOf(reader), options, parts);
    return counts;
  }
  const taken: PartCounts = { written: 0, takenOver: 0, records: [] };
  const place = { folder, scratch: join(folder, SCRATCH, 'thread') };
  const thread = mayShare(used, parts) ? new PartThread({ place, options }) : undefined;
  const shared = rules.sharedRun === undefined ? undefined : new SharedParts(folder, { run: rules.sharedRun, options });
  try {
    for (const reader of used)
      await writeParts(reader, snapshot, {
        options,
        parts,
        rules,
        sink: sinkOf(reader),
        folder,
        taken,
        thread,
        shared,
      });
  } finally {
    await thread?.close();
  }
  return { ...counts, parts: taken };
}

async function writeWhole(
  reader: Reader,
  snapshot: RunSnapshot,
  { outputs, issues, keep, graph }: Sink,
  options: ExportOptions,
  parts: ExportParts,
): Promise<void> {
  const subjects = withListed(reader, snapshot);
  if (!asLines(reader, options, parts.formats)) {
    for await (const subject of subjects) {
      const out = readSubject(reader, subject, options.includeContacts);
      for (const table of reader.tables) outputs.writeShown(table.name, out.shownOf(table), subject.country);
      issues(out.issues);
      keep(glanceEntries(reader, subject.id, out));
      addLists(graph, reader, subject, out);
    }
    return;
  }
  const setup = mayShare([reader], parts) ? { options } : undefined;
  const pool = new BulkPool(reader.name, bulkRenderer(reader, parts.formats, options), setup);
  try {
    for await (const lines of pool.render(inBatches(subjects))) {
      for (const [index, { name }] of reader.tables.entries()) outputs.append(name, lines.tables[index] ?? []);
      issues(lines.issues);
      keep(lines.glances);
    }
  } finally {
    await pool.close();
  }
}

/** Looking at each company takes a tenth of the time of an export, for each reader. */
const mayHaveAnswers = ({ operations, asked = [], lists }: Reader, known: ReadonlySet<string>): boolean =>
  [...operations, ...asked, ...(lists?.operations ?? [])].some((operation) => known.has(operation));

/** Where everything goes that a reader makes of the answers. */
interface Sink {
  readonly outputs: Outputs;
  readonly issues: (found: readonly Issue[]) => void;
  readonly keep: (entries: readonly GlanceEntry[]) => void;
  readonly graph: GraphSink;
}

interface PartsOfReader {
  readonly options: ExportOptions;
  readonly parts: ExportParts;
  readonly rules: PartRules;
  readonly sink: Sink;
  readonly folder: string;
  readonly taken: PartCounts;
  /** Undefined: one thread writes all parts. */
  readonly thread: PartThread | undefined;
  /** Undefined: no worker of another process helps. */
  readonly shared: SharedParts | undefined;
}

/** A part that is being written or linked. */
interface OpenPart {
  readonly name: string;
  readonly part: readonly PartSubject[];
  readonly damaged: UnsoundAnswer[];
  readonly known: PartRecord | undefined;
  /** Undefined: it is linked, or a worker may have it. */
  readonly written?: WrittenPart | Promise<WrittenPart>;
}

/** Writes the parts that no earlier export has, and links the others. */
async function writeParts(reader: Reader, snapshot: RunSnapshot, of: PartsOfReader): Promise<void> {
  const { options, parts, rules, folder } = of;
  const nameOf = partNames(reader, options, parts.formats, rules);
  const open: OpenPart[] = [];
  for await (const part of cutIntoParts(headsWithListed(reader, snapshot), rules.size)) {
    parts.signal?.throwIfAborted();
    const name = await nameOf(part);
    const known = takeOver(name, rules.folders, folder);
    const damaged: UnsoundAnswer[] = [];
    const begun = known === undefined ? await beginPart(reader, name, part, damaged, of) : {};
    open.push({ name, part, damaged, known, ...begun });
    const held = PARTS_HELD + (of.shared?.room ?? 0);
    while (open.length > held) await addPart(reader, open.shift() as OpenPart, snapshot, of);
  }
  for (const one of open) await addPart(reader, one, snapshot, of);
}

/** Parts that are held until those before them are complete: the other tables have them in order. */
const PARTS_HELD = 8;

/** The second thread, a worker or this thread writes the part: who is free. */
async function beginPart(
  reader: Reader,
  name: string,
  part: readonly PartSubject[],
  damaged: UnsoundAnswer[],
  of: PartsOfReader,
): Promise<Pick<OpenPart, 'written'>> {
  const away = of.thread?.offer(reader, name, loaded(part, damaged, of));
  if (away !== undefined) return { written: away };
  if (of.shared?.offer(reader, name, part) === true) return {};
  return { written: await writeHere(reader, name, loaded(part, damaged, of), of) };
}

async function writeHere(
  reader: Reader,
  name: string,
  subjects: AsyncIterable<SubjectAnswers>,
  { sink, options, folder }: PartsOfReader,
): Promise<WrittenPart> {
  const tables = reader.tables.map((table) => table.name);
  const writer = new PartWriter(reader, sink.outputs.beginPart(name, tables), options.includeContacts);
  for await (const subject of subjects) writer.add(subject);
  return await writer.finish(folder);
}

/** Passes everything on that the other tables need of a part. */
async function addPart(
  reader: Reader,
  { name, part, damaged, known, written }: OpenPart,
  snapshot: RunSnapshot,
  of: PartsOfReader,
): Promise<void> {
  const { sink, folder, taken, shared } = of;
  const there = known ?? (await written) ?? shared?.take(name);
  const found = there ?? (await writeHere(reader, name, loaded(part, damaged, of), of));
  const { unwritten = [], ...record }: PartRecord & Partial<WrittenPart> = {
    rows: part.map(({ head }) => head.row),
    ...found,
  };
  sink.outputs.take(record.files, record.counts, unwritten);
  sink.issues(issuesNow(record, part));
  for (const { glances, graph } of companyLines(record)) {
    sink.keep(glances);
    replayGraph(graph, sink.graph);
  }
  snapshot.damaged.push(...damaged);
  if (known === undefined) taken.written += 1;
  else taken.takenOver += 1;
  // A damaged answer may be there again tomorrow, and a file may be written then.
  if (damaged.length > 0 || unwritten.length > 0) return;
  if (known === undefined) keepRecord(folder, name, record);
  taken.records.push(recordPath(name));
}

async function* loaded(
  part: readonly PartSubject[],
  damaged: UnsoundAnswer[],
  { thread, parts }: PartsOfReader,
): AsyncGenerator<SubjectAnswers> {
  for (const [index, { head, listed }] of part.entries()) {
    parts.signal?.throwIfAborted();
    // Messages of the other thread are only received between two subjects.
    if (thread !== undefined && index % SUBJECTS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    yield await loadSubject({ head, listed }, damaged);
  }
}

/** The second thread only knows the listed readers and formats. */
const mayShare = (used: readonly Reader[], { formats, threads }: ExportParts): boolean =>
  HAS_SECOND_THREAD &&
  threads !== 1 &&
  formats === ALL_PARTS.formats &&
  used.every((reader) => ALL_PARTS.readers.includes(reader));

/** Lines are used only if all formats can render them: a format that takes rows needs them on this thread anyway. */
const asLines = ({ bulk, lists, tables }: Reader, options: ExportOptions, known: Formats): boolean =>
  bulk === true &&
  lists === undefined &&
  options.formats.every(
    (name) => known[name].renderer !== undefined || !tables.some((table) => writesTable(known[name], table.name)),
  );

/** Subjects with data. Lists are read once, and only if there is a subject for them. */
export async function* withListed(reader: Reader, snapshot: RunSnapshot): AsyncGenerator<SubjectAnswers> {
  for await (const { head, listed } of besideLists(reader, snapshot, snapshot.subjects(...askedOf(reader)))) {
    const subject = await toSubject(head);
    yield listed === undefined ? subject : { ...subject, listed };
  }
}

const headsWithListed = (reader: Reader, snapshot: RunSnapshot): AsyncIterable<PartSubject> =>
  besideLists(reader, snapshot, snapshot.subjectHeads(...askedOf(reader)));

const askedOf = ({ space, operations, asked }: Reader) => [space, operations, asked] as const;

async function* besideLists<T extends SubjectHead | SnapshotSubject>(
  reader: Reader,
  snapshot: RunSnapshot,
  subjects: AsyncIterable<T>,
): AsyncGenerator<{ readonly head: T; readonly listed: ListItem | undefined }> {
  let lists: ReadonlyMap<string, ListItem> | undefined;
  for await (const head of subjects) {
    lists ??= await readLists(reader, snapshot);
    if (head.answers.length > 0 || reader.lists !== undefined) yield { head, listed: lists.get(head.id) };
  }
}

/** Later pages and later readings come after earlier ones. */
async function readLists({ lists }: Reader, snapshot: RunSnapshot): Promise<ReadonlyMap<string, ListItem>> {
  const items = new Map<string, ListItem>();
  if (lists === undefined) return items;
  for await (const answers of snapshot.lists(lists.operations))
    for (const answer of answers)
      for (const item of lists.items({ ...answer, params: {}, ids: {}, row: null, stage: null, country: null }))
        items.set(item.id, item);
  return items;
}

export interface ExportParts {
  readonly readers: readonly Reader[];
  readonly formats: Formats;
  readonly questions?: QuestionLines;
  readonly onKept?: (file: string) => void;
  /** The link to the newest tables, if it may lead to the folder that is replaced. */
  readonly latest?: StableLink | undefined;
  /** Cancels the export. The previous one stays. */
  readonly signal?: AbortSignal | undefined;
  /** Decides whether a company is due. Null: that is unknown for a past day. */
  readonly judge: ((standing: MemberState) => DueDecision) | null;
  readonly prices?: Prices | null;
  /** Absent: every table is one file. */
  readonly inParts?: PartRules | undefined;
  /** Default: two for much data, if the machine has two processors. The files are the same. */
  readonly threads?: 1 | 2;
}

const NOTHING_IS_DUE: DueDecision = { due: null, nextAt: null };

export const ALL_PARTS: ExportParts = { readers, formats: allFormats, judge: () => NOTHING_IS_DUE };

export interface WrittenAnswers extends IssueCounts {
  readonly parts?: PartCounts;
}

/** The parts of large tables, and the paths of their records in the folder. */
export interface PartCounts {
  written: number;
  takenOver: number;
  readonly records: string[];
}

/** The number of places that are not in the tables as they should be. */
export interface IssueCounts {
  readonly unexpectedShapes: number;
  /** Companies or reports that could not be read at all. */
  readonly unread: number;
}
