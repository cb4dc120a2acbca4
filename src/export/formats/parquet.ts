import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fchmodSync,
  fsyncSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Cell, Column, ColumnType, Row } from '../../readers/table.js';
import { fitsDecimal, plainDecimal } from '../../util/exact-json.js';
import { type Duck, literal, loadDuck, openDuck, rowGroupsFor, settingsFor } from './duckdb.js';
import {
  FIELD_TYPES,
  type Field,
  type FileFacts,
  type Format,
  LineBytes,
  type LineRenderer,
  type Lines,
  type ParquetCompression,
  schemaOf,
  type TableFile,
} from './format.js';

/** One `<table>.parquet` for each table, or a folder with one for each country. */
export const parquet: Format = {
  name: 'parquet',
  async check() {
    await loadDuck();
  },
  async open({ folder, scratch, options }) {
    const split = options.partitionByCountry;
    const duck = await openDuck({ scratch, threads: split ? 1 : 2 });
    const compression = options.compression ?? 'zstd';
    return {
      versions: { duckdb: duck.version },
      table(name, columns, bought) {
        const byCountry = split && bought;
        const path = join(folder, byCountry ? name : `${name}.parquet`);
        return new ParquetFile(path, name, columns, { duck, scratch, byCountry, compression });
      },
      close: () => duck.close(),
    };
  },
  renderer: (columns, options) => new ParquetText(columns, options.partitionByCountry),
  resource: (table, columns) => ({
    name: resourceOf(table.name),
    properties: {
      format: 'parquet',
      mediatype: 'application/vnd.apache.parquet',
      schema: schemaOf(table, columns.flatMap(fieldsOf), resourceOf),
    },
  }),
};

const resourceOf = (table: string) => `${table}-parquet`;

function fieldsOf(column: Column): readonly Field[] {
  const { name, type, description } = column;
  const numbers = parquetColumns([column]).slice(1);
  return [
    { name, type: type === 'number' ? 'string' : FIELD_TYPES[type], description },
    ...numbers.map((added) => ({
      name: added.name,
      type: 'number',
      description:
        added.type === DOUBLE
          ? `${name} as a binary number, perhaps rounded`
          : `${name} as a number, if DECIMAL(38, 10) is exact for it`,
    })),
  ];
}

export interface ParquetOptions {
  readonly duck: Duck;
  /** The folder of the text until DuckDB has read it. */
  readonly scratch: string;
  readonly byCountry: boolean;
  readonly compression: ParquetCompression;
}

/**
 * A table as Parquet. Rows are passed to DuckDB as text: twice as fast as its appender, with constant memory. They
 * arrive in key order, which DuckDB keeps.
 */
export class ParquetFile implements TableFile {
  readonly #columns: readonly Column[];
  readonly #options: ParquetOptions;
  readonly #textPath: string;
  readonly #descriptor: number;
  readonly #text: ParquetText;
  #rows = 0;
  #longest = 0;
  #bytes = 0;

  /** `path` is the file, or the folder if countries are split. */
  constructor(
    readonly path: string,
    table: string,
    columns: readonly Column[],
    options: ParquetOptions,
  ) {
    this.#columns = columns;
    this.#text = new ParquetText(columns, options.byCountry);
    this.#options = options;
    this.#textPath = join(options.scratch, `${table.replace('/', '-')}.txt`);
    this.#descriptor = openSync(this.#textPath, 'wx', 0o600);
  }

  write(rows: readonly Row[], country: string | null): void {
    this.#text.add(rows, country);
    this.#rows += rows.length;
    if (this.#text.size >= BYTES_AT_ONCE) this.#append(this.#text.take());
  }

  append({ bytes, rows, longestLine }: Lines): void {
    this.#append(this.#text.take());
    this.#append(bytes);
    this.#rows += rows;
    this.#longest = Math.max(this.#longest, longestLine);
  }

  async finish(): Promise<readonly FileFacts[]> {
    this.#append(this.#text.take());
    closeSync(this.#descriptor);
    // Without rows there is no country: one file with columns but no rows.
    const split = this.#options.byCountry && this.#rows > 0;
    const path = this.#options.byCountry && !split ? `${this.path}.parquet` : this.path;
    await this.#copy(path, split);
    const files = split ? filesBelow(path) : [path];
    return await Promise.all(files.map((file) => this.#facts(file, files.length === 1)));
  }

  async #copy(path: string, split: boolean): Promise<void> {
    const { duck, compression } = this.#options;
    const load = { ...this.#load, longestLine: this.#longestLine };
    try {
      for (const setting of settingsFor(load, split)) await duck.run(setting);
      const rowGroups = rowGroupsFor(load);
      await duck.run(
        copyStatement(this.#columns, this.#source(), path, split, `COMPRESSION ${compression}, ${rowGroups}`),
      );
    } catch (error) {
      rmSync(path, { recursive: true, force: true });
      throw error;
    } finally {
      rmSync(this.#textPath);
    }
  }

  get #longestLine(): number {
    return Math.max(this.#longest, this.#text.longestLine);
  }

  get #load() {
    return { rows: this.#rows, columns: this.#columns.length, bytes: this.#bytes };
  }

  #append(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
  }

  #source(): string {
    const columns = this.#columns.flatMap(({ name, type }) =>
      DECIMAL_TYPES.has(type)
        ? [
            [name, 'VARCHAR'],
            [`${name}_small`, sqlDecimal(SMALL_DECIMAL)],
            [`${name}_large`, sqlDecimal(DECIMAL)],
          ]
        : [[name, SQL_TYPES[type]]],
    );
    if (this.#options.byCountry) columns.push([splitColumn(this.#columns), 'VARCHAR']);
    const declared = columns.map(([name, type]) => `${literal(name ?? '')}: ${literal(type ?? '')}`).join(', ');
    const size = Math.max(LINE_BYTES, this.#longestLine + 1);
    return `read_csv(${literal(this.#textPath)}, auto_detect = false, header = false, delim = ',', quote = '"', escape = '"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false, max_line_size = ${size}, buffer_size = ${Math.max(BUFFER_BYTES, size * 2)}, columns = {${declared}})`;
  }

  async #facts(path: string, only: boolean): Promise<FileFacts> {
    const descriptor = openSync(path, 'r');
    // DuckDB creates it with the umask's mode.
    fchmodSync(descriptor, 0o600);
    fsyncSync(descriptor);
    closeSync(descriptor);
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
    const rows = only ? this.#rows : await this.#options.duck.count(path);
    return { path, rows, bytes: statSync(path).size, sha256: hash.digest('hex') };
  }
}

const BYTES_AT_ONCE = 1 << 20;
const LINE_BYTES = 2 << 20;
const BUFFER_BYTES = 8 << 20;

const SQL_TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'VARCHAR',
  id: 'VARCHAR',
  number: 'VARCHAR',
  scalar: 'VARCHAR',
  value: 'VARCHAR',
  text_or_list: 'VARCHAR',
  json: 'VARCHAR',
  integer: 'BIGINT',
  boolean: 'BOOLEAN',
  date: 'DATE',
  timestamp: 'TIMESTAMPTZ',
};

const sqlDecimal = ({ precision, scale }: { readonly precision: number; readonly scale: number }) =>
  `DECIMAL(${precision}, ${scale})`;

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const DOUBLE = 'DOUBLE';

/** Text such as `inf` is no number here. */
const sqlDouble = (name: string): string =>
  `CASE WHEN regexp_full_match(${identifier(name)}, '-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?') THEN TRY_CAST(${identifier(name)} AS ${DOUBLE}) END AS ${identifier(`${name}_double`)}`;

/** The columns of the Parquet file: those of the table, and the exact decimal beside each number. */
export const parquetColumns = (
  columns: readonly Column[],
): readonly { readonly name: string; readonly type: string }[] =>
  columns.flatMap(({ name, type, double }) =>
    DECIMAL_TYPES.has(type)
      ? [
          { name, type: 'VARCHAR' },
          { name: `${name}_decimal`, type: sqlDecimal(DECIMAL) },
          ...(double === true ? [{ name: `${name}_double`, type: DOUBLE }] : []),
        ]
      : [{ name, type: SQL_TYPES[type] }],
  );

/** The partition column. Readers see it as a column, so it must not hide one of the table's own. */
const splitColumn = (columns: readonly Column[]): string =>
  columns.some(({ name }) => name === 'country') ? 'partition_country' : 'country';

function copyStatement(
  columns: readonly Column[],
  source: string,
  path: string,
  byCountry: boolean,
  how: string,
): string {
  const chosen = columns.flatMap(({ name, type, double }) => {
    if (!DECIMAL_TYPES.has(type)) return [identifier(name)];
    const [small, large] = [identifier(`${name}_small`), identifier(`${name}_large`)];
    const decimal = `coalesce(${small}::${sqlDecimal(DECIMAL)}, ${large})`;
    const exact = [identifier(name), `${decimal} AS ${identifier(`${name}_decimal`)}`];
    return double === true ? [...exact, sqlDouble(name)] : exact;
  });
  const split = identifier(splitColumn(columns));
  if (byCountry) chosen.push(split);
  const partition = byCountry ? `, PARTITION_BY (${split}), FILENAME_PATTERN 'part-{i}'` : '';
  return `COPY (FROM ${source} SELECT ${chosen.join(', ')}) TO ${literal(path)} (FORMAT parquet, ${how}${partition})`;
}

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.parquet'))
    .sort()
    .map((file) => join(folder, file));

const DECIMAL_TYPES: ReadonlySet<ColumnType> = new Set(['number', 'scalar', 'value']);

const LONG_LINE = 1024;

/** The text that DuckDB turns into Parquet: each number is followed by the two forms of its decimal. */
export class ParquetText implements LineRenderer {
  /** In bytes; 0 while no line is longer than `LONG_LINE`. */
  longestLine = 0;
  readonly #names: readonly string[];
  readonly #isDecimal: readonly boolean[];
  readonly #byCountry: boolean;
  readonly #lines = new LineBytes('",\r\n');

  constructor(columns: readonly Column[], byCountry: boolean) {
    this.#names = columns.map(({ name }) => name);
    this.#isDecimal = columns.map(({ type }) => DECIMAL_TYPES.has(type));
    this.#byCountry = byCountry;
  }

  get size(): number {
    return this.#lines.size;
  }

  add(rows: readonly Row[], country: string | null): void {
    for (const row of rows) {
      const start = this.size;
      this.#line(row, country);
      const length = this.size - start;
      if (length > LONG_LINE && length > this.longestLine) this.longestLine = length;
    }
  }

  take(): Uint8Array {
    return this.#lines.take();
  }

  #line(row: Row, country: string | null): void {
    const lines = this.#lines;
    for (let i = 0; i < this.#names.length; i++) {
      if (i > 0) lines.byte(COMMA);
      const cell = row[this.#names[i] as string] ?? null;
      const start = lines.size;
      if (cell !== null) this.#cell(cell);
      if (this.#isDecimal[i] === true) this.#decimals(cell, start);
    }
    if (this.#byCountry) {
      lines.byte(COMMA);
      this.#cell(country ?? 'unknown');
    }
    lines.byte(LINE_END);
  }

  /** Quotes distinguish an empty text from null. */
  #cell(cell: string): void {
    if (cell !== '' && this.#lines.plain(cell)) return;
    const isQuoted = cell === '' || SPECIAL.test(cell);
    this.#lines.any(isQuoted ? `"${cell.replaceAll('"', '""')}"` : cell);
  }

  #decimals(cell: Cell, start: number): void {
    const lines = this.#lines;
    const end = lines.size;
    lines.byte(COMMA);
    const isSmall = cell !== null && fitsSmall(cell);
    if (isSmall) lines.again(start, end);
    lines.byte(COMMA);
    const large = isSmall || cell === null ? null : largeDecimal(cell);
    if (large !== null) lines.plain(large);
  }
}

const SPECIAL = /[",\r\n]/;
const COMMA = 0x2c;
const LINE_END = 0x0a;

const DECIMAL = { precision: 38, scale: 10 } as const;

/** DuckDB parses a 64-bit decimal 200 times as fast as a 128-bit one, and most figures fit. */
const SMALL_DECIMAL = { precision: 18, scale: 4 } as const;

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Whether DECIMAL(18,4) holds the text exactly. One pass, because this runs for every figure. */
function fitsSmall(text: string): boolean {
  let at = text.charCodeAt(0) === MINUS ? 1 : 0;
  const start = at;
  while (isDigit(text.charCodeAt(at))) at++;
  const whole = at - start;
  if (whole === 0 || whole > SMALL_DECIMAL.precision - SMALL_DECIMAL.scale) return false;
  if (whole > 1 && text.charCodeAt(start) === ZERO) return false;
  if (at === text.length) return true;
  if (text.charCodeAt(at) !== POINT) return false;
  const fraction = ++at;
  while (isDigit(text.charCodeAt(at))) at++;
  return at === text.length && at > fraction && at - fraction <= SMALL_DECIMAL.scale;
}

/** The text without exponent if DECIMAL(38,10) holds it exactly. Otherwise null. */
function largeDecimal(text: string): string | null {
  if (!JSON_NUMBER.test(text) || !fitsDecimal(text, DECIMAL.precision, DECIMAL.scale)) return null;
  return plainDecimal(text);
}

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const isDigit = (code: number) => code >= ZERO && code <= 0x39;
