import type { StoredPlace } from './stored-json.js';

/**
 * What is done in the database, written once for every engine: a generator that asks for one statement after another
 * (`yield*`) and comes to a result. SQLite answers on the spot; over a wire the script rests until the answer is there. It
 * may be run again from its beginning, after a deadlock or a lost connection: all that it does it does to the database.
 */
export type Script<T> = Generator<unknown, T, unknown>;

export interface Statement<Parameters extends unknown[] = unknown[], Row = unknown> {
  get(...parameters: Parameters): Script<Row | undefined>;
  all(...parameters: Parameters): Script<Row[]>;
  /** For its effect alone: over a wire nobody waits for it before something else is asked, or the transaction ends. */
  run(...parameters: Parameters): Script<void>;
  /** For its effect, and how many records that touched. */
  change(...parameters: Parameters): Script<number>;
  /** One record after the other, where there may be more than memory should hold. `visit` asks for nothing. */
  walk(visit: (row: Row) => void, ...parameters: Parameters): Script<void>;
  /** The same statement; a record is its first column. */
  pluck(): Statement<Parameters, Row>;
  /** The same statement; a record is the list of its columns. */
  raw(): Statement<Parameters, Row>;
}

/** How a transaction gets on with those of others at the same time, and with those that share its commit. */
export interface Beside {
  /** What others may change too: it is locked first, and in one order. */
  readonly environments: readonly number[];
  /**
   * Those that share a commit may be run in step, because none reads what another one writes. Which does so comes after all
   * of those: one after the other (`own`), or in step as well, and guesses (`guess`).
   */
  readonly turn?: 'own' | 'guess';
}

/**
 * A script that may guess asks for everything in one go, what it would write included, as if it were to come out as it nearly
 * always does. This says that it has not: all of it is taken back and done anew, one after the other, without guessing.
 */
export class GuessedWrong extends Error {
  override readonly name = 'GuessedWrong';

  constructor() {
    super('what was guessed was not so');
  }
}

/** What scripts are written with. */
export interface Sql {
  /** Named parameters (`@name`) come as one object, others (`?`) one by one. */
  prepare<Parameters extends unknown[], Row>(sql: string): Statement<Parameters, Row>;
  /** Statements without parameters, for their effect. */
  exec(sql: string): Script<void>;
  /** One statement each, none of which needs the answer to another: over a wire they leave together, in this order. */
  together<T extends readonly unknown[]>(...scripts: { readonly [K in keyof T]: Script<T[K]> }): Script<T>;
}

/** An engine, opened. The stores ask it for what they need; what is a matter of files or wires stays behind it. */
export interface Database extends Sql {
  /** As it is named in messages; never with a password. */
  readonly name: string;
  readonly readonly: boolean;
  /** Several processes work in it at the same time, and know each other by their leases. */
  readonly isShared: boolean;
  /** What could not be written, if anything: from then on nothing may be begun that costs money. */
  readonly broken: Error | undefined;
  /** Throws where there is no room left to write down what a call would bring. */
  mustHaveRoom(): void;

  /** For looking. It sees what was committed. */
  read<T>(script: () => Script<T>): Promise<T>;
  /**
   * One transaction; those of one moment share a commit, one after the other. It resolves when it is on disk. Without
   * `beside` nobody else writes meanwhile, on whatever machine; with it, others may, but for what is locked.
   */
  write<T>(script: (mayGuess: boolean) => Script<T>, beside?: Beside): Promise<T>;
  /**
   * A transaction that waits for none of those, nor for their locks: a sign of life. What it does may be done twice.
   */
  aside<T>(script: () => Script<T>): Promise<T>;
  /** For what lies in temporary tables, of which every process has its own: they are there for `write` too. */
  scratch<T>(script: () => Script<T>): Promise<T>;
  /** Done like a `write`, and taken back: what it would come to. */
  trial<T>(script: () => Script<T>): Promise<T>;
  /** Everything asked for so far is on disk when this resolves. */
  flush(): Promise<void>;
  /** The database as it is now, for reading at leisure whatever is written meanwhile. */
  snapshot(): Promise<Snapshot>;

  /** Writes the store anew, so that what was removed is in no page of it. Returns why that failed, or null. */
  rewrite(): Promise<string | null>;
  /** The same to win back room, where there is enough of it to do so. */
  shrink(): Promise<void>;
  /** What was committed is in the store itself from here on, whatever becomes of a log beside it. */
  secure(): void;
  /** Does somebody work in it? Null where only the leases of starts can tell. */
  isLocked(): boolean | null;
  /** Nobody works in it, for sure: every start that has not ended has died. */
  isFree(): boolean;
  readonly stored: StoredTexts;
  close(): Promise<void>;
}

export interface Snapshot extends Sql {
  readonly stored: StoredTexts;
  read<T>(script: () => Script<T>): Promise<T>;
  /** The records of one statement, to its end, in batches: by number, and by how much text they hold. */
  batches<T>(sql: string, parameters: readonly unknown[], size: number): AsyncIterable<readonly T[]>;
  close(): Promise<void>;
}

/** Where an engine may hand out what nobody has stored. */
export interface StoredTexts {
  /** Are the bytes of this text those of its characters? `sql` selects the one text. */
  isSound(table: string, column: string, where: string, values: readonly (string | number)[]): boolean;
  /** Times that no clock has ever told; with `run`, those of one run. */
  damagedTimes(run?: string): readonly StoredPlace[];
  /** Texts whose bytes are no characters, in whatever table. */
  damagedTexts(leftOut: (of: { readonly table: string; readonly column: string }) => boolean): readonly StoredPlace[];
  /** Every column of text, asked of the database, so that no table of a later version is left out. */
  textColumns(): Script<readonly { readonly table: string; readonly column: string }[]>;
}

/** A list of scripts, one after the other. */
export function* each<T, R>(items: Iterable<T>, script: (item: T) => Script<R>): Script<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(yield* script(item));
  return results;
}
