import { KybatchError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';

/** DuckDB, as far as it is needed to write Parquet. It is loaded only when asked for. */
export interface Duck {
  run(statement: string): Promise<void>;
  rows(query: string): Promise<readonly (readonly unknown[])[]>;
  /** Rows in a Parquet file. */
  count(path: string): Promise<number>;
  readonly version: string;
  close(): void;
}

export interface DuckOptions {
  /** Where it may spill to. */
  readonly scratch: string;
  /** One thread keeps the order of rows where a table is split up. */
  readonly threads: number;
  readonly memory?: string;
}

/** Its binary is a package of its own for each platform, and may be missing. */
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

/** DuckDB gives no code, only what the operating system says: read here, once, so that nobody else reads messages. */
const CODES: readonly (readonly [words: string, code: string])[] = [
  ['No space left on device', 'ENOSPC'],
  ['Disk quota exceeded', 'EDQUOT'],
  ['Read-only file system', 'EROFS'],
  ['Permission denied', 'EACCES'],
  ['File too large', 'EFBIG'],
  ['Input/output error', 'EIO'],
];

function withCode(error: unknown): never {
  const code = CODES.find(([words]) => error instanceof Error && error.message.includes(words))?.[1];
  throw code === undefined ? error : Object.assign(new Error((error as Error).message, { cause: error }), { code });
}

/** A text in a statement. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
