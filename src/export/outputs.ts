import { rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { ExitCode, KybatchError, systemFailure } from '../domain/errors.js';
import { type Column, columnsOf, hideContacts, insertColumns, type Row, type Table } from '../readers/table.js';
import {
  type FileFacts,
  type Format,
  type FormatWriter,
  type Lines,
  type Resource,
  type TableFile,
  writesTable,
} from './formats/format.js';

export type OpenFormats = readonly { readonly format: Format; readonly writer: FormatWriter }[];

export interface OutputTable {
  readonly table: Table;
  readonly furtherColumns: readonly Column[];
  /** Data tables can be split by country. Tables about the run stay whole. */
  readonly bought: boolean;
  /** Written as a folder of parts: each is added by `take`. */
  readonly inParts?: boolean;
}

export interface UnwrittenFile {
  readonly table: string;
  readonly format: string;
  readonly reason: string;
}

export interface FinishedOutputs {
  readonly resources: readonly Resource[];
  readonly unwritten: readonly UnwrittenFile[];
}

/** A file of a part, relative to the folder of the export. */
export interface PartFile extends FileFacts {
  readonly table: string;
  readonly format: string;
}

type OpenFiles = readonly { readonly format: Format; readonly file: TableFile }[];

interface Output {
  readonly table: Table;
  readonly columns: readonly Column[];
  readonly inParts: boolean;
  readonly parts: PartFile[];
  files: OpenFiles | undefined;
  rows: number;
}

/** Every table in every format. A write goes to all files of the table. */
export class Outputs {
  readonly #byName: ReadonlyMap<string, Output>;
  readonly #unwritten: UnwrittenFile[] = [];

  /** `part`: the name of these files in the folders of their tables. Tables without rows have no file then. */
  constructor(
    private readonly tables: readonly OutputTable[],
    private readonly formats: OpenFormats,
    private readonly includeContacts: boolean,
    private readonly signal?: AbortSignal,
    private readonly part?: string,
  ) {
    const open = (declared: OutputTable): Output => {
      const { table, furtherColumns, inParts = false } = declared;
      const columns = insertColumns(table, columnsOf(table, includeContacts), furtherColumns);
      const files = inParts ? undefined : this.#open(declared, columns, table.name);
      return { table, columns, inParts, parts: [], files, rows: 0 };
    };
    this.#byName = new Map(tables.map((declared) => [declared.table.name, open(declared)]));
  }

  #open({ table, bought }: Pick<OutputTable, 'table' | 'bought'>, columns: readonly Column[], name: string): OpenFiles {
    return this.formats
      .filter(({ format }) => writesTable(format, table.name))
      .map(({ format, writer }) => ({ format, file: writer.table(name, columns, bought) }));
  }

  beginPart(name: string, tables: readonly string[]): Outputs {
    const declared = this.tables.filter(({ table }) => tables.includes(table.name));
    return new Outputs(declared, this.formats, this.includeContacts, this.signal, name);
  }

  take(files: readonly PartFile[], rows: Readonly<Record<string, number>>, unwritten: readonly UnwrittenFile[]): void {
    for (const file of files) this.#find(file.table).parts.push(file);
    for (const [name, count] of Object.entries(rows)) this.#find(name).rows += count;
    for (const one of unwritten)
      if (!this.#unwritten.some(({ table, format }) => table === one.table && format === one.format))
        this.#unwritten.push(one);
  }

  write(name: string, rows: readonly Row[]): void {
    const { columns } = this.#find(name);
    let previous: Row | undefined;
    const shownOf = (row: Row) => {
      previous = hideContacts(columns, row, previous);
      return previous;
    };
    this.writeShown(name, this.includeContacts ? rows : rows.map(shownOf));
  }

  /** Rows without contacts, unless they are wanted. */
  writeShown(name: string, shown: readonly Row[], country: string | null = null): void {
    if (shown.length === 0) return;
    const output = this.#find(name);
    for (const { file } of this.#filesOf(output)) file.write(shown, country);
    output.rows += shown.length;
  }

  /** Appends the same rows as lines, for each format in order. */
  append(name: string, lines: readonly Lines[]): void {
    if (lines.every(({ rows }) => rows === 0)) return;
    const output = this.#find(name);
    const files = this.#filesOf(output);
    const counts = new Set(lines.map(({ rows }) => rows));
    if (lines.length !== files.length || counts.size > 1)
      throw new TypeError(`the lines of ${name} are not the same rows in each format`);
    for (const [index, { format, file }] of files.entries()) {
      if (file.append === undefined) throw new TypeError(`${format.name} takes no lines, and ${name} would lack rows`);
      file.append(lines[index] as Lines);
    }
    for (const rows of counts) output.rows += rows;
  }

  /** Waits until the disk has caught up with a table. */
  async drain(name: string): Promise<void> {
    for (const { file } of this.#find(name).files ?? []) await file.drain?.();
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
    const unwritten = this.#unwritten;
    const inside = (facts: FileFacts) => ({ ...facts, path: relative(folder, facts.path).split(sep).join('/') });
    for (const output of this.#byName.values()) {
      const { table, columns, parts } = output;
      if (parts.length > 0) {
        resources.push(...this.#inParts(output, folder));
        continue;
      }
      if (this.part !== undefined && output.files === undefined) continue;
      for (const { format, file } of this.#filesOf(output)) {
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

  /** A table that lacks a part is not there at all: a reader of the folder would not notice. */
  #inParts({ table, columns, parts }: Output, folder: string): readonly Resource[] {
    return this.formats.flatMap(({ format }) => {
      const files = parts.filter((file) => file.format === format.name);
      const lacks = this.#unwritten.some((one) => one.table === table.name && one.format === format.name);
      if (lacks) for (const { path } of files) rmSync(join(folder, path));
      return lacks || files.length === 0 ? [] : [{ table, columns, format, files }];
    });
  }

  /** A table in parts without rows has one file with its columns. */
  #filesOf(output: Output): OpenFiles {
    const { table, columns, inParts } = output;
    output.files ??= this.#open(
      { table, bought: true },
      columns,
      inParts ? `${table.name}/${this.part ?? 'none'}` : table.name,
    );
    return output.files;
  }

  /** Every write calls this, so a cancelled export ends at the next write. */
  #find(name: string): Output {
    this.signal?.throwIfAborted();
    const output = this.#byName.get(name);
    if (output === undefined) throw new TypeError(`there is no table ${name}`);
    return output;
  }
}

export const notWritten = (file: UnwrittenFile | undefined): KybatchError =>
  new KybatchError(`no table could be written as ${file?.format}: ${file?.reason}`, {
    code: 'NOT_WRITTEN',
    hint: 'The previous export is unchanged. Try another --format: csv needs the least memory.',
    exit: ExitCode.internal,
  });

/** A system failure of one file would affect all, so it ends the export. */
function reasonOf(error: unknown): string {
  if (systemFailure(error) !== undefined) throw error;
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return first;
}
