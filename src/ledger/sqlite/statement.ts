import type { Script, Sql, Statement } from '../database.js';
import type { Connection, Statement as Native } from './driver.js';

/** Nothing is done before it is asked for, as with any script. */
// biome-ignore lint/correctness/useYield: a script of SQLite never rests
export function* atOnce<T>(work: () => T): Script<T> {
  return work();
}

/** Answers on the spot: a script never rests. SQLite hears of it when it is asked for: most commands ask for a few of many. */
export class SqliteStatement<Parameters extends unknown[], Row> implements Statement<Parameters, Row> {
  readonly #database: Connection;
  readonly #sql: string;
  readonly #shape: 'pluck' | 'raw' | undefined;
  #prepared: Native<Parameters, Row> | undefined;

  constructor(database: Connection, sql: string, shape?: 'pluck' | 'raw') {
    this.#database = database;
    this.#sql = sql;
    this.#shape = shape;
  }

  get #native(): Native<Parameters, Row> {
    if (this.#prepared === undefined) {
      const native = this.#database.prepare<Parameters, Row>(this.#sql);
      this.#prepared = this.#shape === undefined ? native : native[this.#shape]();
    }
    return this.#prepared;
  }

  get(...parameters: Parameters): Script<Row | undefined> {
    return atOnce(() => this.#native.get(...parameters));
  }

  all(...parameters: Parameters): Script<Row[]> {
    return atOnce(() => this.#native.all(...parameters));
  }

  run(...parameters: Parameters): Script<void> {
    return atOnce(() => void this.#native.run(...parameters));
  }

  change(...parameters: Parameters): Script<number> {
    return atOnce(() => this.#native.run(...parameters).changes);
  }

  walk(visit: (row: Row) => void, ...parameters: Parameters): Script<void> {
    return atOnce(() => {
      for (const row of this.#native.iterate(...parameters)) visit(row);
    });
  }

  pluck(): Statement<Parameters, Row> {
    return new SqliteStatement(this.#database, this.#sql, 'pluck');
  }

  raw(): Statement<Parameters, Row> {
    return new SqliteStatement(this.#database, this.#sql, 'raw');
  }
}

/** What scripts are written with, on a connection. */
export const sqlOn = (database: Connection): Sql => ({
  prepare: (sql) => new SqliteStatement(database, sql),
  exec: (sql) => atOnce(() => void database.exec(sql)),
  together: <T extends readonly unknown[]>(...scripts: { readonly [K in keyof T]: Script<T[K]> }) =>
    atOnce(() => scripts.map((script) => runNow(script)) as unknown as T),
});

/** Runs a script to its end, which it reaches at once. */
export function runNow<T>(script: Script<T>): T {
  const { done, value } = script.next();
  if (!done) throw new Error('a script has asked for something that is not of this database');
  return value;
}
