// Writes parts of large tables, on two threads if there are many.

import { mkdirSync } from 'node:fs';
import type { GlanceEntry } from '../ledger/answers/snapshot.js';
import { type Issue, type Reader, readSubject, type SubjectAnswers } from '../readers/reader.js';
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
import { GraphRecorder, type PartRecord } from './parts.js';
import { boughtTables } from './tables.js';

/** A part on the disk, and what the other tables need of it. The same on every thread. */
export interface WrittenPart extends Omit<PartRecord, 'rows'> {
  readonly unwritten: readonly UnwrittenFile[];
}

/** Makes the files of one part from its subjects. */
export class PartWriter {
  readonly #graph = new GraphRecorder();
  readonly #issues: Issue[] = [];
  readonly #glances: GlanceEntry[] = [];

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
    this.#glances.push(...glanceEntries(reader, subject.id, out));
    addLists(this.#graph, reader, subject, out);
  }

  async finish(folder: string): Promise<WrittenPart> {
    const { resources, unwritten } = await this.outputs.finish(folder);
    const files = resources.flatMap(({ table, format, files }) =>
      files.map((file) => ({ ...file, table: table.name, format: format.name })),
    );
    const graph = this.#graph.steps;
    return {
      files,
      counts: this.outputs.counts(),
      issues: this.#issues,
      glances: this.#glances,
      graph,
      unwritten,
    };
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
