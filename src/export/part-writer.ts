// Writes parts of large tables: on two threads if there are many, and with workers on other machines.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRowKey, RunSnapshot, UnsoundAnswer } from '../ledger/answers/snapshot.js';
import { READERS_VERSION, readers } from '../readers/list.js';
import { type Issue, type Reader, readSubject, type SubjectAnswers } from '../readers/reader.js';
import { growingBeside } from './atomic-folder.js';
import {
  BATCHES_AWAY,
  ExportThread,
  glanceEntries,
  inBatches,
  type PartPlace,
  packSubject,
  type ThreadSetup,
} from './bulk-lines.js';
import { type ExportOptions, writesTable } from './formats/format.js';
import { allFormats } from './formats/list.js';
import { addLists } from './graph.js';
import { type OpenFormats, Outputs, type UnwrittenFile } from './outputs.js';
import {
  GraphRecorder,
  loadSubject,
  type PartRecord,
  type PartSubject,
  packLine,
  packLines,
  packRecord,
  partNames,
  SCRATCH,
  unpackRecord,
} from './parts.js';
import { boughtTables } from './tables.js';

/** A part on the disk, and what the other tables need of it. The same on every thread. */
export interface WrittenPart extends Omit<PartRecord, 'rows'> {
  readonly unwritten: readonly UnwrittenFile[];
}

export class PartWriter {
  readonly #issues: Issue[] = [];
  readonly #companies: string[] = [];

  constructor(
    private readonly reader: Reader,
    private readonly outputs: Outputs,
    private readonly includeContacts: boolean,
  ) {}

  add(subject: SubjectAnswers): void {
    const { reader } = this;
    const out = readSubject(reader, subject, this.includeContacts);
    for (const table of reader.tables) this.outputs.writeShown(table.name, out.shownOf(table), subject.country);
    this.#issues.push(...out.issues);
    const graph = new GraphRecorder();
    addLists(graph, reader, subject, out);
    this.#companies.push(packLine({ glances: glanceEntries(reader, subject.id, out), graph: graph.steps }));
  }

  async finish(folder: string): Promise<WrittenPart> {
    const { resources, unwritten } = await this.outputs.finish(folder);
    const files = resources.flatMap(({ table, format, files }) =>
      files.map((file) => ({ ...file, table: table.name, format: format.name })),
    );
    const companies = packLines(this.#companies);
    return { files, counts: this.outputs.counts(), issues: this.#issues, companies, unwritten };
  }
}

/** Opens the formats of the readers' tables, for parts that need no other table of the export. */
export async function openPartWriters(
  { folder, scratch }: PartPlace,
  options: ExportOptions,
  readers: readonly Reader[],
) {
  const tables = boughtTables(readers);
  const formats = options.formats.filter((name) => tables.some((table) => writesTable(allFormats[name], table.name)));
  const opened: OpenFormats[number][] = [];
  const close = () => {
    for (const { writer } of opened) writer.close();
  };
  mkdirSync(scratch, { mode: 0o700, recursive: true });
  for (const name of formats)
    opened.push({
      format: allFormats[name],
      writer: await allFormats[name].open({ folder, scratch, options: { ...options, formats } }),
    });
  const begin = (reader: Reader, name: string) => {
    const declared = boughtTables([reader]).map((table) => ({
      table,
      furtherColumns: [],
      bought: true,
      inParts: true,
    }));
    const outputs = new Outputs(declared, opened, options.includeContacts, undefined, name);
    return new PartWriter(reader, outputs, options.includeContacts);
  };
  return { begin, close };
}

/** Has parts written by a second thread. This thread reads the ledger for both. */
export class PartThread {
  #thread: ExportThread | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #offered = 0;

  constructor(private readonly setup: ThreadSetup) {}

  /** Undefined: this thread should write the part itself. */
  offer(reader: Reader, name: string, subjects: AsyncIterable<SubjectAnswers>): Promise<WrittenPart> | undefined {
    this.#offered += 1;
    if (this.#offered <= PARTS_ALONE || this.#waiting >= PARTS_AWAY) return undefined;
    this.#waiting += 1;
    const written = this.#last
      .then(() => this.#write(reader, name, subjects))
      .finally(() => {
        this.#waiting -= 1;
      });
    // The caller awaits it later and handles the failure then.
    this.#last = written.catch(() => {});
    return written;
  }

  async #write(reader: Reader, name: string, subjects: AsyncIterable<SubjectAnswers>): Promise<WrittenPart> {
    this.#thread ??= new ExportThread(this.setup);
    const thread = this.#thread;
    const sent: Promise<unknown>[] = [thread.ask({ kind: 'begin', reader: reader.name, name })];
    for await (const batch of inBatches(subjects)) {
      sent.push(thread.ask({ kind: 'add', subjects: batch.map(packSubject) }));
      while (sent.length > BATCHES_AWAY) await sent.shift();
    }
    await Promise.all(sent);
    return await thread.ask<WrittenPart>({ kind: 'finish' });
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#thread?.close();
  }
}

/** Starting a thread takes longer than writing this many parts. */
const PARTS_ALONE = 2;

/** The second part waits until the first is written, so the thread never waits for the next one. */
const PARTS_AWAY = 2;

/** Where an export and the workers that help it meet, below the folder of the export. */
const EXPORT = 'export.json';
const JOBS = 'jobs';
const WORKERS = 'workers';
const DONE = 'done';

interface PartJob {
  readonly reader: string;
  readonly name: string;
  readonly rows: readonly RunRowKey[];
}

interface SharedExport {
  readonly run: string;
  readonly options: ExportOptions;
}

/**
 * Offers parts to workers on other machines, through files in a shared folder. A worker takes a job by renaming it, so
 * one of them has it. Nobody waits for a worker: a part that is needed and not there is written here. Two writers of
 * one part make the same files, and only one of them is used.
 */
export class SharedParts {
  readonly #scratch: string;
  #open = 0;

  constructor(
    private readonly folder: string,
    shared: SharedExport,
  ) {
    this.#scratch = join(folder, SCRATCH);
    for (const name of [JOBS, WORKERS, DONE]) mkdirSync(join(this.#scratch, name), { mode: 0o700 });
    putFile(join(this.#scratch, EXPORT), JSON.stringify(shared));
  }

  /** Parts that may be with workers at once. */
  get room(): number {
    return readdirSync(join(this.#scratch, WORKERS)).length * JOBS_A_WORKER;
  }

  /** False: no worker would begin it soon. Lists about many companies would be read again for each part. */
  offer({ name: reader, lists }: Reader, name: string, part: readonly PartSubject[]): boolean {
    if (lists !== undefined || this.#open >= this.room) return false;
    const rows = part.map(({ head }) => ({ run_id: head.usedRun, run_row: head.usedRow }));
    putFile(join(this.#scratch, JOBS, name), JSON.stringify({ reader, name, rows } satisfies PartJob));
    this.#open += 1;
    return true;
  }

  /** Moves the part of a worker to its place. Undefined: no worker has written it, and none will begin it. */
  take(name: string): PartRecord | undefined {
    this.#open -= 1;
    rmSync(join(this.#scratch, JOBS, name), { force: true });
    const done = join(this.#scratch, DONE, name);
    if (!existsSync(done)) return undefined;
    const { worker, ...record } = unpackRecord<{ readonly worker: string }>(readFileSync(done));
    for (const { path } of record.files)
      renameSync(join(this.#scratch, WORKERS, worker, path), join(this.folder, path));
    return record;
  }
}

/** A worker has the next part before it has finished the last one. */
const JOBS_A_WORKER = 3;

export type OpenPartOfRun = (run: string, only: readonly RunRowKey[]) => Promise<RunSnapshot | undefined>;

/** Writes parts of the exports that grow beside a folder, for the process that exports. */
export class PartHelper {
  readonly #name = randomUUID();
  #at: { folder: string; shared: SharedExport; writers: Awaited<ReturnType<typeof openPartWriters>> } | undefined;

  constructor(
    private readonly out: string,
    private readonly version: string,
    private readonly open: OpenPartOfRun,
  ) {}

  /** Writes the parts that are offered now, and returns how many. */
  async help(signal?: AbortSignal): Promise<number> {
    let written = 0;
    for (const folder of growingBeside(this.out)) {
      try {
        await this.#join(folder);
        for (let job = this.#claim(); job !== undefined && signal?.aborted !== true; job = this.#claim())
          if (await this.#write(job)) written += 1;
      } catch (error) {
        // An export that has ended takes its folder away.
        if (existsSync(join(folder, SCRATCH))) throw error;
      }
    }
    return written;
  }

  close(): void {
    this.#at?.writers.close();
    this.#at = undefined;
  }

  async #join(folder: string): Promise<void> {
    if (this.#at?.folder === folder) return;
    const shared = findFile<SharedExport>(join(folder, SCRATCH, EXPORT));
    if (shared === undefined) return;
    this.close();
    const own = join(folder, SCRATCH, WORKERS, this.#name);
    mkdirSync(own, { mode: 0o700 });
    for (const { name } of boughtTables(readers)) mkdirSync(join(own, name), { mode: 0o700 });
    const place = { folder: own, scratch: join(own, SCRATCH) };
    this.#at = { folder, shared, writers: await openPartWriters(place, shared.options, readers) };
  }

  #claim(): PartJob | undefined {
    if (this.#at === undefined) return undefined;
    const scratch = join(this.#at.folder, SCRATCH);
    for (const name of readdirSync(join(scratch, JOBS))) {
      if (name.endsWith(GROWING_FILE)) continue;
      const taken = join(scratch, WORKERS, this.#name, `${name}.job`);
      try {
        renameSync(join(scratch, JOBS, name), taken);
        return findFile<PartJob>(taken);
      } catch {
        // Another worker has it.
      }
    }
    return undefined;
  }

  /** False if the ledger or the software here would make other rows: then the part is not written. */
  async #write({ reader: readerName, name, rows }: PartJob): Promise<boolean> {
    const reader: Reader | undefined = readers.find((one) => one.name === readerName);
    if (this.#at === undefined || reader === undefined) return false;
    const { folder, shared, writers } = this.#at;
    const snapshot = await this.open(shared.run, rows);
    if (snapshot === undefined) return false;
    try {
      const { space, operations, asked } = reader;
      const part: PartSubject[] = [];
      for await (const head of snapshot.subjectHeads(space, operations, asked))
        if (head.answers.length > 0) part.push({ head, listed: undefined });
      const options = { ...shared.options, version: this.version };
      const nameOf = partNames(reader, options, allFormats, { readersVersion: READERS_VERSION });
      if ((await nameOf(part)) !== name) return false;
      const damaged: UnsoundAnswer[] = [];
      const writer = writers.begin(reader, name);
      for (const subject of part) writer.add(await loadSubject(subject, damaged));
      const { unwritten, ...record } = await writer.finish(join(folder, SCRATCH, WORKERS, this.#name));
      if (damaged.length + unwritten.length > 0) return false;
      const done = packRecord({ ...record, rows: part.map(({ head }) => head.row), worker: this.#name });
      putFile(join(folder, SCRATCH, DONE, name), done);
      return true;
    } finally {
      await snapshot.close();
    }
  }
}

/** A file that appears when it is complete. */
function putFile(path: string, content: string | Buffer): void {
  writeFileSync(`${path}${GROWING_FILE}`, content, { mode: 0o600 });
  renameSync(`${path}${GROWING_FILE}`, path);
}

const GROWING_FILE = '.tmp';

function findFile<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return undefined;
  }
}
