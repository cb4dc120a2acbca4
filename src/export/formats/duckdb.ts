import { totalmem } from 'node:os';
import { ExitCode, KybatchError } from '../../domain/errors.js';

/** The part of DuckDB that writes Parquet. It is loaded on demand. */
export interface Duck {
  run(statement: string): Promise<void>;
  rows(query: string): Promise<readonly (readonly unknown[])[]>;
  count(path: string): Promise<number>;
  readonly version: string;
  close(): void;
}

export interface DuckOptions {
  readonly scratch: string;
  /** One thread keeps the order of rows in a partitioned table. */
  readonly threads: number;
  readonly memory?: string;
}

/** Its binary is a separate package for each platform and may be missing. */
export async function loadDuck(): Promise<typeof import('@duckdb/node-api')> {
  try {
    return await import('@duckdb/node-api');
  } catch (cause) {
    throw new KybatchError('Parquet cannot be written: DuckDB does not load on this machine', {
      code: 'NO_DUCKDB',
      hint: 'Install kybatch again on this machine (`npm ci`), or leave out --format parquet.',
      exit: ExitCode.usage,
      cause,
    });
  }
}

export async function openDuck({ scratch, threads, memory = '384MB' }: DuckOptions): Promise<Duck> {
  const { DuckDBInstance, version } = await loadDuck();
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: memory,
    temp_directory: scratch,
    autoinstall_known_extensions: 'false',
  });
  const connection = await instance.connect();
  const rows: Duck['rows'] = async (query) => (await connection.runAndReadAll(query)).getRows();
  return {
    version: version(),
    async run(statement) {
      await connection.run(statement).catch(withCode);
    },
    rows,
    async count(path) {
      return Number((await rows(`FROM read_parquet(${literal(path)}) SELECT count(*)::INTEGER`))[0]?.[0]);
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** DuckDB gives no error code, only the operating system's message. It is parsed only here. */
const CODES: readonly (readonly [words: RegExp, code: string])[] = [
  [/No space left on device/, 'ENOSPC'],
  [/Disk quota exceeded/, 'EDQUOT'],
  [/Read-only file system/, 'EROFS'],
  [/Permission denied/, 'EACCES'],
  [/File too large/, 'EFBIG'],
  [/Input\/output error/, 'EIO'],
];

function withCode(error: unknown): never {
  const code = CODES.find(([words]) => error instanceof Error && words.test(error.message))?.[1];
  throw code === undefined ? error : Object.assign(new Error((error as Error).message, { cause: error }), { code });
}

export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The size of a table: DuckDB holds a whole row group in memory before it writes it. */
export interface TableLoad {
  readonly rows: number;
  readonly columns: number;
  readonly bytes: number;
  /** In bytes; 0 if no line is long. */
  readonly longestLine: number;
}

const MB = 1 << 20;
const GROUP_ROWS = 122_880;
const GROUP_BYTES = 64 * MB;

/** Up to this size a row group with the usual number of rows is no problem. */
const LIGHT_BYTES = 64 * MB;
const USUAL_MEMORY = 384 * MB;
const USUAL_THREADS = 2;

/** DuckDB's default: rows of a partitioned table held before they are written. */
const USUAL_HELD_ROWS = 524_288;

/** Our own tables have at most fifty. An input may have thousands. */
const MANY_COLUMNS = 100;

/** The minimum memory of a text column, measured, with a margin. */
const BYTES_A_COLUMN = 1.5 * MB;

const isWide = ({ columns }: TableLoad): boolean => columns > MANY_COLUMNS;

/** With many columns or long lines, row groups are limited by bytes instead of rows. */
const isHeavy = (load: TableLoad): boolean =>
  isWide(load) || load.longestLine > MB || (load.longestLine > 0 && load.bytes > LIGHT_BYTES);

export function rowGroupsFor(load: TableLoad): string {
  const groups = isHeavy(load) ? `ROW_GROUP_SIZE_BYTES '${GROUP_BYTES / MB}MiB'` : `ROW_GROUP_SIZE ${GROUP_ROWS}`;
  // Each column's dictionary is allocated before use: 400 columns took 384 MB for twenty rows.
  return isWide(load) ? `${groups}, DICTIONARY_SIZE_LIMIT 1` : groups;
}

/** DuckDB limits row groups by bytes only without a guaranteed row order. One thread keeps the order anyway. */
export function settingsFor(load: TableLoad, split: boolean): readonly string[] {
  const heavy = isHeavy(load);
  const bytesARow = Math.max(1, load.bytes / Math.max(1, load.rows));
  const held = heavy ? Math.max(1, Math.floor(GROUP_BYTES / bytesARow)) : USUAL_HELD_ROWS;
  // A line is held several times: read, written, compressed.
  const wanted = Math.max(load.longestLine * 12, isWide(load) ? load.columns * BYTES_A_COLUMN : 0);
  // Failing to write one file is better than a machine out of memory.
  const memory = Math.max(USUAL_MEMORY, Math.min(wanted, totalmem() / 2));
  return [
    `SET memory_limit = '${Math.ceil(memory / MB)}MiB'`,
    `SET threads = ${heavy || split ? 1 : USUAL_THREADS}`,
    `SET preserve_insertion_order = ${!heavy}`,
    `SET partitioned_write_flush_threshold = ${held}`,
  ];
}
