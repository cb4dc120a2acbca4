import type { GlanceEntry } from '../ledger/snapshot.js';
import { readSubject } from '../readers/read-subject.js';
import type { ListItem, Reader, SubjectAnswers } from '../readers/reader.js';
import { bulkRenderer } from './bulk-lines.js';
import { BulkPool } from './bulk-pool.js';
import { isFor } from './formats/format.js';
import type { Formats } from './formats/list.js';
import { glanceEntries } from './glance-entries.js';
import { type IssueCounts, IssueRows } from './issue-rows.js';
import type { ExportOptions } from './options.js';
import type { Outputs } from './outputs.js';
import { ALL_PARTS, type ExportParts } from './parts.js';
import type { RunAnswers } from './subjects.js';

/** What the raw bodies say, reader by reader, the bulk last. */
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
    else await writeRows(reader, subjects, options, outputs, issues, keep);
  }
  return issues.counts;
}

type KeepGlances = (entries: readonly GlanceEntry[]) => void;

/** Lines are for formats that all know them: one that is made from rows needs the rows on this thread anyway. */
const asLines = ({ bulk, lists, tables }: Reader, options: ExportOptions, known: Formats): boolean =>
  bulk === true &&
  lists === undefined &&
  options.formats.every(
    (name) => known[name].renderer !== undefined || !tables.some((table) => isFor(known[name], table.name)),
  );

async function writeRows(
  reader: Reader,
  subjects: AsyncIterable<SubjectAnswers>,
  { includeContacts }: ExportOptions,
  outputs: Outputs,
  issues: IssueRows,
  keep: KeepGlances,
): Promise<void> {
  for await (const subject of subjects) {
    const out = readSubject(reader, subject, includeContacts);
    for (const table of reader.tables) outputs.write(table.name, out.shownOf(table), subject.country);
    issues.write(out.issues);
    keep(glanceEntries(reader, subject.id, out));
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
  // The second thread knows the readers and formats of the lists, and no others.
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

/** Subjects that somebody tells of. Lists are read once, and only if there is a subject that they may tell of. */
async function* withListed(reader: Reader, answers: RunAnswers): AsyncGenerator<SubjectAnswers> {
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
