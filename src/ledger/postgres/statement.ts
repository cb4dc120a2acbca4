import type { Script, Sql, Statement } from '../database.js';
import { type ParameterType, storable, type Translated, translate, typeOf } from './translate.js';

/** What a script asks of the session that runs it. */
export type Asked =
  /** Nobody waits for it. */
  | { readonly how: 'run'; readonly query: Query }
  | { readonly how: 'exec'; readonly text: string }
  | { readonly how: 'together'; readonly asked: readonly Asked[] }
  /** Whatever else is done in the same transaction. */
  | { readonly how: 'call'; readonly work: (execute: Execute) => Promise<unknown> }
  | { readonly how: 'rows' | 'count'; readonly query: Query }
  | { readonly how: 'walk'; readonly query: Query; readonly visit: (row: unknown) => void };

export type Execute = (text: string, values: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

export interface Query {
  /** The same text has the same name: it is parsed once on each connection. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly rowMode: 'array' | undefined;
}

type Shape = 'object' | 'pluck' | 'raw';

/** Names are short, and given once for all connections of the process. */
const known = new Map<string, string>();

function nameOf(text: string): string {
  const before = known.get(text);
  if (before !== undefined) return before;
  const name = `k${known.size}`;
  known.set(text, name);
  return name;
}

class Prepared {
  readonly #translated: Translated;
  /** What each parameter was last that was no null: a null is of the same type. */
  readonly #types: ParameterType[] = [];
  readonly #texts = new Map<string, { readonly text: string; readonly name: string }>();

  constructor(sql: string) {
    this.#translated = translate(sql);
  }

  query(parameters: readonly unknown[], shape: Shape): Query {
    const values = this.#translated.values(parameters).map(storable);
    const types = values.map((value, index) => {
      const type = typeOf(value);
      if (type === '') return this.#types[index] ?? '';
      this.#types[index] = type;
      return type;
    });
    const key = types.join();
    let made = this.#texts.get(key);
    if (made === undefined) {
      const text = this.#translated.text(types);
      made = { text, name: nameOf(text) };
      this.#texts.set(key, made);
    }
    return { ...made, values, rowMode: shape === 'object' ? undefined : 'array' };
  }
}

class PostgresStatement<Parameters extends unknown[], Row> implements Statement<Parameters, Row> {
  readonly #prepared: Prepared;
  readonly #shape: Shape;

  constructor(prepared: Prepared, shape: Shape = 'object') {
    this.#prepared = prepared;
    this.#shape = shape;
  }

  *get(...parameters: Parameters): Script<Row | undefined> {
    const [row] = yield* this.all(...parameters);
    return row;
  }

  *all(...parameters: Parameters): Script<Row[]> {
    const rows = (yield { how: 'rows', query: this.#query(parameters) } satisfies Asked) as unknown[];
    return (this.#shape === 'pluck' ? rows.map(first) : rows) as Row[];
  }

  *run(...parameters: Parameters): Script<void> {
    yield { how: 'run', query: this.#query(parameters) } satisfies Asked;
  }

  *change(...parameters: Parameters): Script<number> {
    return (yield { how: 'count', query: this.#query(parameters) } satisfies Asked) as number;
  }

  *walk(visit: (row: Row) => void, ...parameters: Parameters): Script<void> {
    const isPlucked = this.#shape === 'pluck';
    yield {
      how: 'walk',
      query: this.#query(parameters),
      visit: (row) => visit((isPlucked ? first(row) : row) as Row),
    } satisfies Asked;
  }

  pluck(): Statement<Parameters, Row> {
    return new PostgresStatement(this.#prepared, 'pluck');
  }

  raw(): Statement<Parameters, Row> {
    return new PostgresStatement(this.#prepared, 'raw');
  }

  #query(parameters: Parameters): Query {
    return this.#prepared.query(parameters, this.#shape);
  }
}

/** One query, for whoever reads it on its own. */
export const queryOf = (sql: string, parameters: readonly unknown[]): Query =>
  new Prepared(sql).query(parameters, 'object');

const first = (row: unknown): unknown => (row as readonly unknown[])[0];

/** Statements that are asked for with the same text are one. */
export function postgresSql(): Sql {
  const prepared = new Map<string, Prepared>();
  return {
    prepare: (sql) => {
      let known = prepared.get(sql);
      if (known === undefined) {
        known = new Prepared(sql);
        prepared.set(sql, known);
      }
      return new PostgresStatement(known);
    },
    *together<T extends readonly unknown[]>(...scripts: { readonly [K in keyof T]: Script<T[K]> }): Script<T> {
      const asked = scripts.map((script) => script.next().value as Asked);
      const answers = (yield { how: 'together', asked } satisfies Asked) as readonly unknown[];
      return scripts.map((script, index) => script.next(answers[index]).value) as unknown as T;
    },
    *exec(sql) {
      yield { how: 'exec', text: translate(sql).text([]) } satisfies Asked;
    },
  };
}
