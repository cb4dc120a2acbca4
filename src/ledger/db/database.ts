// The interfaces between stores and database engines.

import { readFileSync } from 'node:fs';

export const readSchema = (): string => readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

/**
 * Database code for every engine: a generator that yields statements (`yield*`) and returns a result. SQLite answers at
 * once. Over a network the script pauses for each answer. After a deadlock or lost connection it runs again from the
 * start, so it may only change the database.
 */
export type Script<T> = Generator<unknown, T, unknown>;

export interface Statement<Parameters extends unknown[] = unknown[], Row = unknown> {
  get(...parameters: Parameters): Script<Row | undefined>;
  all(...parameters: Parameters): Script<Row[]>;
  /** For its effect. Over a network the next statement is sent without waiting for it. */
  run(...parameters: Parameters): Script<void>;
  /** For its effect. Returns the number of changed records. */
  change(...parameters: Parameters): Script<number>;
  /** Visits record by record, for results too large for memory. `visit` must not use the database. */
  walk(visit: (row: Row) => void, ...parameters: Parameters): Script<void>;
  /** The same statement, returning the first column only. */
  pluck(): Statement<Parameters, Row>;
  /** The same statement, returning arrays of columns. */
  raw(): Statement<Parameters, Row>;
}

/** Lock mode, and order within a group commit. */
export interface WriteOptions {
  /** Environments to lock first, in one order, because others may change them. */
  readonly environments: readonly number[];
  /**
   * Transactions of a group commit run in parallel, because none reads what another writes. Those that do run
   * afterwards: one after the other (`own`), or in parallel with a guess (`guess`).
   */
  readonly turn?: 'own' | 'guess';
}

/**
 * A script that guesses sends all its statements at once, writes included, and assumes the usual result. If the
 * assumption was wrong, it throws this, is rolled back, and runs again without guessing.
 */
export class AssumptionFailed extends Error {
  override readonly name = 'AssumptionFailed';

  constructor() {
    super('an assumption was wrong');
  }
}

export interface Sql {
  /** Named parameters (`@name`) are one object, others (`?`) are single arguments. */
  prepare<Parameters extends unknown[], Row>(sql: string): Statement<Parameters, Row>;
  /** Statements without parameters, for their effect. */
  exec(sql: string): Script<void>;
  /** Independent statements. Over a network they are sent together, in this order. */
  together<T extends readonly unknown[]>(...scripts: { readonly [K in keyof T]: Script<T[K]> }): Script<T>;
}

/** An open database engine. It hides files and connections from the stores. */
export interface Database extends Sql {
  /** For messages. Never with a password. */
  readonly name: string;
  readonly readonly: boolean;
  /** Several processes may work in it, and see each other by their leases. */
  readonly isShared: boolean;
  /** The first failed write. From then on kybatch begins nothing that costs money. */
  readonly broken: Error | undefined;
  /** Commits that this ledger had and has lost, as an older copy. */
  readonly lostCommits: number;
  /** From now on it counts as complete. */
  acceptLoss(): void;
  /** A number that grows with every commit. Null if commits are not counted. */
  version(): number | null;
  /** Throws if there is too little space to store a call's result. */
  mustHaveRoom(): void;

  read<T>(script: () => Script<T>): Promise<T>;
  /**
   * Runs one transaction and resolves when it is on disk. Concurrent transactions share a commit, one after the other.
   * Without `beside` it excludes all other writers. With it, others may write except to locked environments.
   */
  write<T>(script: (mayGuess: boolean) => Script<T>, beside?: WriteOptions): Promise<T>;
  /** A transaction that waits for no other and no locks, such as a heartbeat. It may run twice. */
  heartbeat<T>(script: () => Script<T>): Promise<T>;
  /** For temporary tables, which are private to the process. `write` sees them too. */
  withTempTables<T>(script: () => Script<T>): Promise<T>;
  /** Runs like `write` and rolls back. Returns the result. */
  dryRun<T>(script: () => Script<T>): Promise<T>;
  /** Resolves when all earlier writes are on disk. */
  flush(): Promise<void>;
  /** A consistent view of the database, whatever is written meanwhile. */
  snapshot(): Promise<Snapshot>;

  /** Rewrites the store, so that no page holds deleted data. Returns why that failed, or null. */
  rewrite(): Promise<string | null>;
  /** The same to save space, if there is enough space to do it. */
  shrink(): Promise<void>;
  /** Moves committed data into the main file, so that a lost log cannot lose it. */
  checkpoint(): void;
  /** Is a process working in it? Null if only leases can tell. */
  isLocked(): boolean | null;
  /** Certainly no process works in it, so every attempt that has not ended has died. */
  hasNoWorkers(): boolean;
  /** All text columns, read from the schema, so that tables of later versions are included. */
  textColumns(): Script<readonly TextColumn[]>;
  close(): Promise<void>;
}

export interface TextColumn {
  readonly table: string;
  readonly column: string;
}

export interface Snapshot extends Sql {
  read<T>(script: () => Script<T>): Promise<T>;
  /** All records of one statement, in batches limited by number and text size. */
  batches<T>(sql: string, parameters: readonly unknown[], size: number): AsyncIterable<readonly T[]>;
  close(): Promise<void>;
}

/** Runs a script for each item, one after the other. */
export function* forEachItem<T, R>(items: Iterable<T>, script: (item: T) => Script<R>): Script<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(yield* script(item));
  return results;
}

/** Methods of a store that are one statement each, prepared now. `value` and `values` return its first column. */
export function statements(database: Database) {
  const get =
    <Given extends unknown[], Row>(statement: Statement<Given, Row>) =>
    (...given: Given) =>
      database.read(() => statement.get(...given));
  const all =
    <Given extends unknown[], Row>(statement: Statement<Given, Row>) =>
    (...given: Given): Promise<readonly Row[]> =>
      database.read(() => statement.all(...given));
  return {
    row: <Given extends unknown[], Row>(sql: string) => get(database.prepare<Given, Row>(sql)),
    rows: <Given extends unknown[], Row>(sql: string) => all(database.prepare<Given, Row>(sql)),
    value: <Given extends unknown[], Value>(sql: string) => get(database.prepare<Given, Value>(sql).pluck()),
    values: <Given extends unknown[], Value>(sql: string) => all(database.prepare<Given, Value>(sql).pluck()),
    /** Of `count(*)` or a sum. */
    count: <Given extends unknown[]>(sql: string) => {
      const counted = get(database.prepare<Given, number | null>(sql).pluck());
      return async (...given: Given) => (await counted(...given)) ?? 0;
    },
    run: <Given extends unknown[]>(sql: string) => {
      const statement = database.prepare<Given, unknown>(sql);
      return (...given: Given) => database.write(() => statement.run(...given));
    },
  };
}
