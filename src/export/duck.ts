import { literal } from './parquet-file.js';

/** DuckDB, as far as it is needed to write Parquet. It is loaded only when asked for. */
export interface Duck {
  run(statement: string): Promise<void>;
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
}

export async function openDuck({ scratch, threads }: DuckOptions): Promise<Duck> {
  const { DuckDBInstance, version } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: '384MB',
    temp_directory: scratch,
    autoinstall_known_extensions: 'false',
  });
  const connection = await instance.connect();
  return {
    version: version(),
    async run(statement) {
      await connection.run(statement);
    },
    async count(path) {
      const reader = await connection.runAndReadAll(`FROM read_parquet(${literal(path)}) SELECT count(*)::INTEGER`);
      return Number(reader.getRows()[0]?.[0]);
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}
