// Large tables are written in parts. A part that an earlier export has already is linked, not written.

import { createHash, hash } from 'node:crypto';
import { constants, copyFileSync, linkSync, lstatSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants as zlib } from 'node:zlib';
import type { GraphNodeFacts, GraphRelation, GraphStore } from '../ledger/answers/graph-store.js';
import type {
  GlanceEntry,
  SnapshotAnswer,
  SnapshotSubject,
  SubjectHead,
  UnsoundAnswer,
} from '../ledger/answers/snapshot.js';
import { currentPages, isPaged, newestPerRequest } from '../readers/parts/newest-reading.js';
import type { Issue, ListItem, RawAnswer, Reader, SubjectAnswers } from '../readers/reader.js';
import { columnsOf, withCompanyKey } from '../readers/table.js';
import { stringifyExact } from '../util/exact-json.js';
import { type ExportOptions, writesTable } from './formats/format.js';
import type { Formats } from './formats/list.js';
import type { PartFile } from './outputs.js';

/** How bought tables are cut, and where earlier parts may be. */
export interface PartRules {
  readonly size: number;
  /** Folders of earlier exports. The first one that has a part gives it. */
  readonly folders: readonly string[];
  /** Parts of another version of the readers are written again. */
  readonly readersVersion: number;
  /** The run, if workers with the same ledger may write parts: `worker --out` with the same folder. */
  readonly sharedRun?: string | undefined;
}

/** Increased when files or records of the same rows would be others. The readers have a version of their own. */
export const TABLES_VERSION = 1;

export const SCRATCH = '.scratch';

/** A company of a part, and what the lists of the reader have about it. */
export interface PartSubject {
  readonly head: SubjectHead;
  readonly listed: ListItem | undefined;
}

/**
 * Cuts subjects into parts, which must survive that other companies come, go or change. So a part has rows of one run:
 * companies that were bought together become due together. Within a run, the number of a row alone decides whether a
 * part begins with it.
 */
export async function* cutIntoParts(
  subjects: AsyncIterable<PartSubject>,
  size: number,
): AsyncGenerator<readonly PartSubject[]> {
  let part: PartSubject[] = [];
  for await (const subject of subjects) {
    const last = part.at(-1)?.head;
    const { usedRun, usedRow } = subject.head;
    if (last !== undefined && (last.usedRun !== usedRun || (last.usedRow !== usedRow && beginsPart(usedRow, size)))) {
      yield part;
      part = [];
    }
    part.push(subject);
  }
  if (part.length > 0) yield part;
}

/** Multiples of the golden ratio are spread evenly, so parts of consecutive rows have nearly the same size. */
const beginsPart = (row: number, size: number): boolean => Math.imul(row, 0x9e3779b1) >>> 0 < 2 ** 32 / size;

/** Names a part by everything that its rows depend on. Equal names are equal rows. */
export function partNames(
  { name, tables }: Reader,
  { folder: _folder, now: _now, formats, ...options }: ExportOptions,
  known: Formats,
  { readersVersion }: Pick<PartRules, 'readersVersion'>,
): (part: readonly PartSubject[]) => Promise<string> {
  const shared = JSON.stringify([
    TABLES_VERSION,
    readersVersion,
    options,
    formats.filter((format) => tables.some((table) => writesTable(known[format], table.name))),
    tables.map((table) => [table.name, columnsOf(withCompanyKey(table), options.includeContacts)]),
  ]);
  return async (part) => {
    const digest = createHash('sha256').update(shared);
    for (const subject of part) digest.update(await saysOf(subject));
    return `${name}-${digest.digest('hex').slice(0, 32)}`;
  };
}

/** The company with its answers. Damaged ones are added to the list. */
export async function loadSubject({ head, listed }: PartSubject, damaged: UnsoundAnswer[]): Promise<SubjectAnswers> {
  const subject = await toSubject(await head.load(damaged));
  return listed === undefined ? subject : { ...subject, listed };
}

export async function toSubject(subject: SnapshotSubject): Promise<SubjectAnswers> {
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

/** The number of its row is left out: only issues have it. */
async function saysOf({ head, listed }: PartSubject): Promise<string> {
  const { id, ids, country, name, companyKey, notes, answers, replaced } = head;
  const paged = new Set(answers.map(({ operation }) => operation).filter(isPaged));
  const pages = [];
  for (const operation of paged) pages.push((await replaced(operation)).map(saysOfAnswer));
  const list = listed && stringifyExact([listed.value, listed.pointer, { ...listed.origin }]);
  return JSON.stringify([id, ids, country, name, companyKey, notes, answers.map(saysOfAnswer), pages, list]);
}

const saysOfAnswer = ({ operation, params, rawSha256, fetchedAt, stage }: SubjectHead['answers'][number]) => [
  operation,
  params,
  rawSha256,
  fetchedAt,
  stage,
];

/** What the other tables need of a part, beside its files. */
export interface PartRecord {
  readonly files: readonly PartFile[];
  readonly counts: Readonly<Record<string, number>>;
  /** The row number of each company, which issues have. */
  readonly rows: readonly number[];
  readonly issues: readonly Issue[];
  /** A line for each company, packed: unpacked, those of many parts would fill the memory. */
  readonly companies: Uint8Array;
}

/** What one company of a part adds to the tables of rows and of the graph. */
interface CompanyLine {
  readonly glances: readonly GlanceEntry[];
  readonly graph: readonly GraphStep[];
}

export const packLine = (line: CompanyLine): string => JSON.stringify(line);

export const packLines = (lines: readonly string[]): Uint8Array =>
  brotliCompressSync(lines.join('\n'), { params: { [zlib.BROTLI_PARAM_QUALITY]: 1 } });

export function* companyLines({ companies }: Pick<PartRecord, 'companies'>): Generator<CompanyLine> {
  const bytes = brotliDecompressSync(companies);
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf(LINE_END, from);
    const end = found === -1 ? bytes.length : found;
    yield JSON.parse(bytes.toString('utf8', from, end)) as CompanyLine;
    from = end + 1;
  }
}

/** The record as bytes: a line of JSON, then the packed lines with their digest in it. */
export function packRecord<More extends object>({ companies, ...head }: PartRecord & More): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...head, sha256: hash('sha256', companies) })}\n`), companies]);
}

export function unpackRecord<More extends object>(bytes: Buffer): PartRecord & More {
  const end = bytes.indexOf(LINE_END);
  type Head = Omit<PartRecord, 'companies'> & More & { readonly sha256: string };
  const { sha256, ...head } = JSON.parse(bytes.toString('utf8', 0, end)) as Head;
  const companies = bytes.subarray(end + 1);
  if (hash('sha256', companies) !== sha256) throw new Error('the record of a part is not whole');
  return { ...head, companies } as unknown as PartRecord & More;
}

const LINE_END = 0x0a;

export type GraphSink = Pick<GraphStore, 'add' | 'relate'>;

/** An added node, or a relation between nodes by their place among the added ones. */
type GraphStep =
  | { readonly identifiers: readonly string[]; readonly facts: GraphNodeFacts }
  | { readonly relation: GraphRelation };

/** Notes what is added to a graph. The same node may be two nodes in a later export, so each mention has a number. */
export class GraphRecorder implements GraphSink {
  readonly steps: GraphStep[] = [];
  #nodes = 0;

  add(identifiers: readonly string[], facts: GraphNodeFacts): number {
    this.steps.push({ identifiers, facts });
    this.#nodes += 1;
    return this.#nodes - 1;
  }

  relate(relation: GraphRelation): void {
    this.steps.push({ relation });
  }
}

export function replayGraph(steps: readonly GraphStep[], graph: GraphSink): void {
  const nodes: number[] = [];
  for (const step of steps)
    if ('relation' in step) {
      const { from, to, ...relation } = step.relation;
      graph.relate({ ...relation, from: nodes[from] as number, to: nodes[to] as number });
    } else nodes.push(graph.add(step.identifiers, step.facts));
}

/** The folder of the records, which programs that read tables pass over. */
export const RECORDS = '.parts';

export const recordPath = (name: string): string => `${RECORDS}/${name}.part`;

const recordIn = (folder: string, name: string): string => join(folder, recordPath(name));

export function keepRecord(folder: string, name: string, record: PartRecord): void {
  const files = record.files.map((file) => ({ ...file, ...stampOf(folder, file) }));
  writeFileSync(recordIn(folder, name), packRecord({ ...record, files }), { mode: 0o600, flush: true });
}

/** Links a part of an earlier export into a folder. Undefined: no folder has it whole. */
export function takeOver(name: string, folders: readonly string[], into: string): PartRecord | undefined {
  for (const folder of folders) {
    try {
      const record = unpackRecord(readFileSync(recordIn(folder, name)));
      // A file that a person has edited since is written again.
      if (!record.files.every((file) => isAsWritten(folder, file))) continue;
      if (linkAll([...record.files.map(({ path }) => path), recordPath(name)], folder, into)) return record;
    } catch {}
  }
  return undefined;
}

/** False if a file is missing by now. Then nothing is linked. */
function linkAll(paths: readonly string[], folder: string, into: string): boolean {
  try {
    for (const path of paths) linkOrCopy(join(folder, path), join(into, path));
    return true;
  } catch {
    for (const path of paths) rmSync(join(into, path), { force: true });
    return false;
  }
}

/** Links to one file have one time. */
const stampOf = (folder: string, { path }: PartFile) => {
  const { size, mtimeMs } = lstatSync(join(folder, path));
  return { size, modifiedAt: Math.floor(mtimeMs) };
};

function isAsWritten(folder: string, file: PartFile & { readonly modifiedAt?: number }): boolean {
  const { size, modifiedAt } = stampOf(folder, file);
  // Copies may round times.
  return size === file.bytes && Math.abs(modifiedAt - (file.modifiedAt ?? 0)) <= 2;
}

/** A copy takes the place of a link between two disks, and on disks without links. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    // The middle of the millisecond stays in it, however the disk rounds.
    const seconds = (Math.floor(lstatSync(from).mtimeMs) + 0.5) / 1000;
    utimesSync(to, seconds, seconds);
  }
}

/** Numbers the rows as they are now. */
export function issuesNow({ issues, rows }: PartRecord, part: readonly PartSubject[]): readonly Issue[] {
  const numbers = new Map(rows.map((row, index) => [row, part[index]?.head.row ?? null]));
  return issues.map((issue) => {
    const { row } = issue.origin;
    return row === null ? issue : { ...issue, origin: { ...issue.origin, row: numbers.get(row) ?? null } };
  });
}
