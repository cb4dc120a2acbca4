import { relative, sep } from 'node:path';
import { systemFailure } from '../domain/errors.js';
import { type Column, columnsOf, hideContacts, insertColumns, type Row, type Table } from '../readers/table.js';
import type { Resource } from './data-package.js';
import {
  type FileFacts,
  type Format,
  type FormatWriter,
  type Lines,
  type TableFile,
  writesTable,
} from './formats/format.js';

/** The open formats, in the order of the options. */
export type OpenFormats = readonly { readonly format: Format; readonly writer: FormatWriter }[];

export interface OutputTable {
  readonly table: Table;
  /** In addition to the declared ones. */
  readonly furtherColumns: readonly Column[];
  /** Data tables can be split by country. Tables about the run stay whole. */
  readonly bought: boolean;
}

/** A file that could not be written. */
export interface UnwrittenFile {
  readonly table: string;
  readonly format: string;
  readonly reason: string;
}

export interface FinishedOutputs {
  readonly resources: readonly Resource[];
  readonly unwritten: readonly UnwrittenFile[];
}

interface Output {
  readonly table: Table;
  readonly columns: readonly Column[];
  readonly files: readonly { readonly format: Format; readonly file: TableFile }[];
  rows: number;
}

/** Every table in every format. A write goes to all files of the table. */
export class Outputs {
  readonly #byName: ReadonlyMap<string, Output>;

  constructor(
    tables: readonly OutputTable[],
    formats: OpenFormats,
    private readonly includeContacts: boolean,
    private readonly signal?: AbortSignal,
  ) {
    const open = ({ table, furtherColumns, bought }: OutputTable): Output => {
      const columns = insertColumns(table, columnsOf(table, includeContacts), furtherColumns);
      const files = formats
        .filter(({ format }) => writesTable(format, table.name))
        .map(({ format, writer }) => ({ format, file: writer.table(table.name, columns, bought) }));
      return { table, columns, files, rows: 0 };
    };
    this.#byName = new Map(tables.map((declared) => [declared.table.name, open(declared)]));
  }

  write(name: string, rows: readonly Row[], country: string | null = null): void {
    if (rows.length === 0) return;
    const output = this.#find(name);
    const shown = this.includeContacts ? rows : rows.map((row) => hideContacts(output.columns, row));
    for (const { file } of output.files) file.write(shown, country);
    output.rows += rows.length;
  }

  /** Appends the same rows as lines, for each format in order. */
  append(name: string, lines: readonly Lines[]): void {
    const output = this.#find(name);
    const counts = new Set(lines.map(({ rows }) => rows));
    if (lines.length !== output.files.length || counts.size > 1)
      throw new TypeError(`the lines of ${name} are not the same rows in each format`);
    for (const [index, { format, file }] of output.files.entries()) {
      if (file.append === undefined) throw new TypeError(`${format.name} takes no lines, and ${name} would lack rows`);
      file.append(lines[index] as Lines);
    }
    for (const rows of counts) output.rows += rows;
  }

  /** Waits until the disk has caught up with a table. */
  async drain(name: string): Promise<void> {
    for (const { file } of this.#find(name).files) await file.drain?.();
  }

  count(name: string): number {
    return this.#find(name).rows;
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#byName].map(([name, { rows }]) => [name, rows]));
  }

  /**
   * Finishes all files and describes them, with paths relative to the folder. One failure does not affect the others.
   */
  async finish(folder: string): Promise<FinishedOutputs> {
    const resources: Resource[] = [];
    const unwritten: UnwrittenFile[] = [];
    const inside = (facts: FileFacts) => ({ ...facts, path: relative(folder, facts.path).split(sep).join('/') });
    for (const { table, columns, files } of this.#byName.values()) {
      for (const { format, file } of files) {
        this.signal?.throwIfAborted();
        try {
          resources.push({ table, columns, format, files: (await file.finish()).map(inside) });
        } catch (error) {
          unwritten.push({ table: table.name, format: format.name, reason: reasonOf(error) });
        }
      }
    }
    return { resources, unwritten };
  }

  /** Every write calls this, so a cancelled export ends at the next write. */
  #find(name: string): Output {
    this.signal?.throwIfAborted();
    const output = this.#byName.get(name);
    if (output === undefined) throw new TypeError(`there is no table ${name}`);
    return output;
  }
}

/** A system failure of one file would affect all, so it ends the export. */
function reasonOf(error: unknown): string {
  if (systemFailure(error) !== undefined) throw error;
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return first;
}
