// Renders the largest tables on two threads.

import { Worker } from 'node:worker_threads';
import type { GlanceEntry } from '../ledger/answers/snapshot.js';
import { type Issue, type Reader, type ReaderOutput, readSubject, type SubjectAnswers } from '../readers/reader.js';
import { columnsOf, type Table, withCompanyKey } from '../readers/table.js';
import { type ExportOptions, type LineRenderer, type Lines, writesTable } from './formats/format.js';
import type { Formats } from './formats/list.js';

type Batch = readonly SubjectAnswers[];

/** The second thread's settings, to produce the same as the first. */
export interface BulkSetup {
  /** Its name in the list of readers. */
  readonly reader: string;
  readonly options: ExportOptions;
}

/**
 * Renders rows on this thread and a second one, and returns them in order. Bytes are passed between threads, which
 * costs almost nothing. Passing rows would cost more than it saves. Small runs use one thread. docs/developers/performance.md,
 * "Export", has the measurements.
 */
export class BulkPool {
  readonly #here: (subjects: Batch) => BulkLines;
  readonly #setup: BulkSetup | undefined;
  #other: SecondThread | undefined;
  #batches = 0;

  /** Without a setup there is no second thread. */
  constructor(here: (subjects: Batch) => BulkLines, setup: BulkSetup | undefined) {
    this.#here = here;
    this.#setup = setup;
  }

  async *render(batches: AsyncIterable<Batch>): AsyncGenerator<BulkLines> {
    const queue: (BulkLines | Promise<BulkLines>)[] = [];
    for await (const batch of batches) {
      this.#batches += 1;
      if (this.#batches >= BATCHES_ALONE && COMPILED && this.#setup !== undefined)
        this.#other ??= new SecondThread(this.#setup);
      const away = this.#other !== undefined && this.#other.waiting < BATCHES_AWAY;
      queue.push(away && this.#other !== undefined ? this.#other.render(batch) : this.#here(batch));
      // Messages of the other thread are only received between two own batches.
      if (this.#other !== undefined) await new Promise((resolve) => setImmediate(resolve));
      while (queue.length > BATCHES_HELD) yield await (queue.shift() as BulkLines | Promise<BulkLines>);
    }
    for (const lines of queue) yield await lines;
  }

  async close(): Promise<void> {
    await this.#other?.close();
  }
}

/** Starting a thread takes longer than this many batches. */
const BATCHES_ALONE = 4;
const BATCHES_AWAY = 3;
const BATCHES_HELD = 6;

/** Threads can only run compiled files. */
const COMPILED = import.meta.url.endsWith('.js');

class SecondThread {
  readonly #worker: Worker;
  readonly #waiting: { resolve: (lines: BulkLines) => void; reject: (reason: unknown) => void }[] = [];

  constructor(setup: BulkSetup) {
    this.#worker = new Worker(new URL('./bulk-worker.js', import.meta.url), { workerData: setup });
    this.#worker.on('message', (lines: BulkLines) => this.#waiting.shift()?.resolve(lines));
    const fail = (reason: unknown) => {
      for (const { reject } of this.#waiting.splice(0)) reject(reason);
    };
    this.#worker.on('error', fail);
    this.#worker.on('exit', (code) => fail(new Error(`the second thread of the export ended with ${code}`)));
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  render(batch: Batch): Promise<BulkLines> {
    const rendered = new Promise<BulkLines>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    // The caller awaits it later and handles the failure then.
    rendered.catch(() => {});
    this.#worker.postMessage(batch);
    return rendered;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** The rendered rows of some subjects, ready to append. */
export interface BulkLines {
  /** For each table of the reader, its rows in each format. */
  readonly tables: readonly (readonly Lines[])[];
  readonly issues: readonly Issue[];
  readonly glances: readonly GlanceEntry[];
}

/** Renders rows from raw answers, the same on every thread. */
export function bulkRenderer(
  reader: Reader,
  formats: Formats,
  options: ExportOptions,
): (subjects: readonly SubjectAnswers[]) => BulkLines {
  const renderers = reader.tables.map((table) => ({
    table,
    inFormats: options.formats
      .filter((name) => writesTable(formats[name], table.name))
      .map((name) => rendererOf(table, formats, name, options)),
  }));
  return (subjects) => {
    const read = subjects.map((subject) => ({
      id: subject.id,
      country: subject.country,
      out: readSubject(reader, subject, options.includeContacts),
    }));
    const render = (table: Table, renderer: LineRenderer): Lines => {
      const texts = read.map(({ country, out }) => renderer.render(out.shownOf(table), country));
      const rows = read.reduce((sum, { out }) => sum + out.shownOf(table).length, 0);
      return { bytes: new TextEncoder().encode(texts.join('')), rows, longestLine: renderer.longestLine };
    };
    return {
      tables: renderers.map(({ table, inFormats }) => inFormats.map((renderer) => render(table, renderer))),
      issues: read.flatMap(({ out }) => out.issues),
      glances: read.flatMap(({ id, out }) => glanceEntries(reader, id, out)),
    };
  };
}

function rendererOf(table: Table, formats: Formats, name: keyof Formats, options: ExportOptions): LineRenderer {
  const renderer = formats[name].renderer?.(columnsOf(withCompanyKey(table), options.includeContacts), options);
  if (renderer === undefined) throw new TypeError(`${name} is made from rows, not from lines`);
  return renderer;
}

/** A reader's key facts of a subject, kept until the input rows are written. Empty if there are none. */
export function glanceEntries({ glance }: Reader, id: string, out: ReaderOutput): readonly GlanceEntry[] {
  const cells = { ...glance?.(out), ...(out.inPart.size === 0 ? {} : { lists_in_part: [...out.inPart].join() }) };
  return Object.keys(cells).length === 0 ? [] : [{ id, cells: JSON.stringify(cells) }];
}
