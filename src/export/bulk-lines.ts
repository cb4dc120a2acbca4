// The second thread of an export, and the largest tables, whose lines are rendered on both.

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { GlanceEntry } from '../ledger/answers/snapshot.js';
import { type Issue, type Reader, type ReaderOutput, readSubject, type SubjectAnswers } from '../readers/reader.js';
import { columnsOf, type Table, withCompanyKey } from '../readers/table.js';
import { parseExact, stringifyExact } from '../util/exact-json.js';
import { type ExportOptions, type LineRenderer, type Lines, writesTable } from './formats/format.js';
import type { Formats } from './formats/list.js';

type Batch = readonly SubjectAnswers[];

/**
 * Renders rows on this thread and a second one, and returns them in order. Bytes are passed between threads, which
 * costs almost nothing. Passing rows would cost more than it saves. Small runs use one thread. docs/developers/performance.md,
 * "Export", has the measurements.
 */
export class BulkPool {
  readonly #here: (subjects: Batch) => BulkLines;
  readonly #reader: string;
  readonly #setup: ThreadSetup | undefined;
  #other: ExportThread | undefined;
  #batches = 0;

  /** Without a setup there is no second thread. */
  constructor(reader: string, here: (subjects: Batch) => BulkLines, setup: ThreadSetup | undefined) {
    this.#reader = reader;
    this.#here = here;
    this.#setup = setup;
  }

  async *render(batches: AsyncIterable<Batch>): AsyncGenerator<BulkLines> {
    const queue: (BulkLines | Promise<BulkLines>)[] = [];
    for await (const batch of batches) {
      this.#batches += 1;
      if (this.#batches >= BATCHES_ALONE && this.#setup !== undefined) this.#other ??= new ExportThread(this.#setup);
      const other = this.#other !== undefined && this.#other.waiting < BATCHES_AWAY ? this.#other : undefined;
      queue.push(this.#renderIn(other, batch) ?? this.#here(batch));
      // Messages of the other thread are only received between two own batches.
      if (this.#other !== undefined) await new Promise((resolve) => setImmediate(resolve));
      while (queue.length > BATCHES_HELD) yield await (queue.shift() as BulkLines | Promise<BulkLines>);
    }
    for (const lines of queue) yield await lines;
  }

  #renderIn(thread: ExportThread | undefined, batch: Batch): Promise<BulkLines> | undefined {
    return thread?.ask({ kind: 'render', reader: this.#reader, subjects: batch.map(packSubject) });
  }

  async close(): Promise<void> {
    await this.#other?.close();
  }
}

/** Starting a thread takes longer than this many batches. */
const BATCHES_ALONE = 4;
export const BATCHES_AWAY = 3;
const BATCHES_HELD = 6;

/** Threads can only run compiled files. A second one is slower where there is only one processor. */
export const HAS_SECOND_THREAD = import.meta.url.endsWith('.js') && availableParallelism() > 1;

export type ThreadQuestion =
  | { readonly kind: 'render'; readonly reader: string; readonly subjects: readonly PackedSubject[] }
  | { readonly kind: 'begin'; readonly reader: string; readonly name: string }
  | { readonly kind: 'add'; readonly subjects: readonly PackedSubject[] }
  | { readonly kind: 'finish' }
  | { readonly kind: 'close' };

/** An error keeps its code, which says what the machine refused. */
export type ThreadAnswer = { readonly result: unknown } | { readonly error: Error; readonly code: unknown };

/** The second thread's settings, to produce the same as the first. */
export interface ThreadSetup {
  /** Rendered lines need none. */
  readonly place?: PartPlace;
  readonly options: ExportOptions;
}

export interface PartPlace {
  readonly folder: string;
  readonly scratch: string;
}

/** A subject as it goes to another thread: exact numbers are objects, which lose their kind on the way. */
export const packSubject = ({ listed, ...subject }: SubjectAnswers) => ({
  ...subject,
  listed: listed && { ...listed, value: stringifyExact(listed.value) },
});

export type PackedSubject = ReturnType<typeof packSubject>;

export function unpackSubject({ listed, ...subject }: PackedSubject): SubjectAnswers {
  // Buffers arrive as plain byte arrays.
  const answers = subject.answers.map((answer) => {
    const { buffer, byteOffset, length } = answer.body;
    return { ...answer, body: Buffer.from(buffer, byteOffset, length) };
  });
  return {
    ...subject,
    answers,
    ...(listed === undefined ? {} : { listed: { ...listed, value: parseExact(listed.value) } }),
  };
}

export class ExportThread {
  readonly #worker: Worker;
  readonly #waiting: { resolve: (result: never) => void; reject: (reason: unknown) => void }[] = [];
  #ended: unknown;

  constructor(setup: ThreadSetup) {
    this.#worker = new Worker(new URL('./bulk-worker.js', import.meta.url), { workerData: setup });
    this.#worker.on('message', (answer: ThreadAnswer) => {
      const { resolve, reject } = this.#waiting.shift() ?? {};
      if ('result' in answer) resolve?.(answer.result as never);
      else reject?.(Object.assign(answer.error, answer.code === undefined ? {} : { code: answer.code }));
    });
    const end = (reason: unknown) => {
      this.#ended ??= reason;
      for (const { reject } of this.#waiting.splice(0)) reject(reason);
    };
    this.#worker.on('error', end);
    this.#worker.on('exit', (code) => end(new Error(`the second thread of the export ended with ${code}`)));
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  ask<Result>(question: ThreadQuestion): Promise<Result> {
    const answer = new Promise<Result>((resolve, reject) => {
      if (this.#ended === undefined) this.#waiting.push({ resolve, reject });
      else reject(this.#ended);
    });
    // The caller awaits it later and handles the failure then.
    answer.catch(() => {});
    this.#worker.postMessage(question);
    return answer;
  }

  /** Files and databases of the thread are closed first. */
  async close(): Promise<void> {
    await this.ask({ kind: 'close' }).catch(() => {});
    await this.#worker.terminate();
  }
}

export async function* inBatches(subjects: AsyncIterable<SubjectAnswers>): AsyncGenerator<readonly SubjectAnswers[]> {
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

export const SUBJECTS_AT_ONCE = 16;
const BYTES_AT_ONCE = 4 << 20;

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
      for (const { country, out } of read) renderer.add(out.shownOf(table), country);
      const rows = read.reduce((sum, { out }) => sum + out.shownOf(table).length, 0);
      // A copy, because the other thread takes its memory.
      return { bytes: new Uint8Array(renderer.take()), rows, longestLine: renderer.longestLine };
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
