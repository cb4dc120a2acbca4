import pg, { type Connection, type FieldDef } from 'pg';
import type { Query } from './statement.js';
import { readerOf, sendable } from './values.js';

export interface Answer {
  readonly rows: unknown[];
  /** Records that were touched, or read. */
  readonly count: number;
}

interface Part {
  readonly query: Query;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
}

interface Column {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

/** Of the statements that one connection knows by their names, what their records look like; undefined until that was told. */
export type Known = Map<string, readonly Column[] | undefined>;

type Wire = Pick<Connection, 'sync'> & {
  close(statement: { type: 'S'; name: string }): void;
  parse(statement: { name: string; text: string }): void;
  bind(values: { statement: string; values: readonly unknown[]; valueMapper: typeof sendable }): void;
  describe(portal: { type: 'P'; name: string }): void;
  execute(portal: Record<string, never>): void;
};

/**
 * Statements that leave together and are answered together: the server sends nothing before it has done them all, or its
 * buffer is full, where otherwise each answer is a packet. Where one fails, the server passes over the rest, and the reason
 * is that of all of them.
 *
 * To the driver it is one query. It keeps nothing open behind its end, which is what others may count on that are sent after
 * it.
 */
export class Bundle extends pg.Query {
  readonly #parts: Part[] = [];
  readonly #known: Known;
  /** Statements that were made with this bundle, by the number of the part. */
  readonly #made = new Map<number, string>();
  #at = 0;
  #rows: unknown[] = [];
  #columns: readonly Column[] | undefined;

  constructor(known: Known) {
    super({ text: '' });
    this.#known = known;
  }

  add(part: Part): void {
    this.#parts.push(part);
  }

  override submit = (connection: Connection): null => {
    const wire = connection as unknown as Wire;
    for (const [index, { query }] of this.#parts.entries()) {
      const isNew = !this.#known.has(query.name);
      if (isNew) {
        // What a bundle that failed came to is not known: to close what is not there is no failure.
        wire.close({ type: 'S', name: query.name });
        wire.parse(query);
        this.#known.set(query.name, undefined);
        this.#made.set(index, query.name);
      }
      wire.bind({ statement: query.name, values: query.values, valueMapper: sendable });
      if (isNew) wire.describe({ type: 'P', name: '' });
      wire.execute({});
    }
    wire.sync();
    return null;
  };

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, read: readerOf(dataTypeID) }));
    const { query } = this.#part();
    this.#known.set(query.name, columns);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const { query } = this.#part();
    this.#columns ??= this.#known.get(query.name) ?? [];
    this.#rows.push(query.rowMode === 'array' ? asList(fields, this.#columns) : asRecord(fields, this.#columns));
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const { resolve } = this.#part();
    // `INSERT 0 5`, `SELECT 2`; some commands have no number.
    const answer = { rows: this.#rows, count: Number(text.split(' ').at(-1)) || 0 };
    this.#at += 1;
    this.#rows = [];
    this.#columns = undefined;
    resolve(answer);
  }

  handleError(reason: unknown): void {
    const failed = this.#parts.slice(this.#at);
    for (const [index, name] of this.#made) if (index >= this.#at) this.#known.delete(name);
    this.#at = this.#parts.length;
    for (const { reject } of failed) reject(reason);
  }

  handleReadyForQuery(): void {
    if (this.#at < this.#parts.length) this.handleError(new Error('a statement was not answered'));
  }

  /** There is no such statement: all have a text, and none is asked for a part of its records, or copies. */
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}

  #part(): Part {
    const part = this.#parts[this.#at];
    if (part === undefined) throw new Error('the server has answered what it was not asked');
    return part;
  }
}

const asList = (fields: readonly (string | null)[], columns: readonly Column[]): unknown[] =>
  fields.map((field, index) => (field === null ? null : columns[index]?.read(field)));

function asRecord(fields: readonly (string | null)[], columns: readonly Column[]): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [index, { name, read }] of columns.entries()) {
    const field = fields[index] ?? null;
    record[name] = field === null ? null : read(field);
  }
  return record;
}
