// Statements for PostgreSQL: translation of the stores' SQL, and conversion of values.

import type { Script, Sql, Statement } from '../database.js';

/** What a script asks of its session. */
export type Asked =
  /** Sent without waiting. */
  | { readonly how: 'run'; readonly query: Query }
  | { readonly how: 'exec'; readonly text: string }
  | { readonly how: 'together'; readonly asked: readonly Asked[] }
  | { readonly how: 'rows' | 'count'; readonly query: Query }
  | { readonly how: 'walk'; readonly query: Query; readonly visit: (row: unknown) => void };

export interface Query {
  /** The same text has the same name, so that a connection parses it once. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly rowMode: 'array' | undefined;
}

type Shape = 'object' | 'pluck' | 'raw';

/** Short names, the same for all connections of the process. */
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
  /** The last type of each parameter other than null. A null gets the same type. */
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
  constructor(
    private readonly prepared: Prepared,
    private readonly shape: Shape = 'object',
  ) {}

  *get(...parameters: Parameters): Script<Row | undefined> {
    const [row] = yield* this.all(...parameters);
    return row;
  }

  *all(...parameters: Parameters): Script<Row[]> {
    const rows = (yield { how: 'rows', query: this.#query(parameters) } satisfies Asked) as unknown[];
    return (this.shape === 'pluck' ? rows.map(first) : rows) as Row[];
  }

  *run(...parameters: Parameters): Script<void> {
    yield { how: 'run', query: this.#query(parameters) } satisfies Asked;
  }

  *change(...parameters: Parameters): Script<number> {
    return (yield { how: 'count', query: this.#query(parameters) } satisfies Asked) as number;
  }

  *walk(visit: (row: Row) => void, ...parameters: Parameters): Script<void> {
    const isPlucked = this.shape === 'pluck';
    yield {
      how: 'walk',
      query: this.#query(parameters),
      visit: (row) => visit((isPlucked ? first(row) : row) as Row),
    } satisfies Asked;
  }

  pluck(): Statement<Parameters, Row> {
    return new PostgresStatement(this.prepared, 'pluck');
  }

  raw(): Statement<Parameters, Row> {
    return new PostgresStatement(this.prepared, 'raw');
  }

  #query(parameters: Parameters): Query {
    return this.prepared.query(parameters, this.shape);
  }
}

/** One query to be read separately. */
export const queryOf = (sql: string, parameters: readonly unknown[]): Query =>
  new Prepared(sql).query(parameters, 'object');

const first = (row: unknown): unknown => (row as readonly unknown[])[0];

/** Statements with the same text are shared. */
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

/**
 * Translates the stores' SQL for PostgreSQL. It is SQLite SQL in a common subset, so only spelling changes. Missing
 * functions exist under the same name (migrations/001-ledger.sql).
 */
export interface Translated {
  /** With a cast at each parameter, so that PostgreSQL need not guess its type. */
  text(types: readonly ParameterType[]): string;
  /** In order of the placeholders. */
  values(parameters: readonly unknown[]): readonly unknown[];
}

/** Empty: a null of unknown type. */
export type ParameterType = 'bigint' | 'float8' | 'text' | 'bytea' | '';

/** Comments and literals stay unchanged. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\bunhex\((?:\?|@\w+)\)|\?|@\w+|[A-Za-z_]\w*/g;
const PARAMETER = /^(unhex\()?(?:\?|@(\w+))\)?$/;

/** A value's source: its name or position. Hexadecimal digits are sent as bytes. */
interface Parameter {
  readonly from: string | number;
  readonly isHex: boolean;
}

export function translate(sql: string): Translated {
  const parameters: Parameter[] = [];
  let positions = 0;
  const parts: (string | number)[] = [];
  const plain = sql
    .replace(PHRASES, (phrase) => SPELT[phrase.replace(/\s+\w+$/, '')] ?? SPELT[phrase] ?? '')
    .replace(LISTED, (_, isNot: string | undefined, list: string) => `${isNot ? '<> ALL' : '= ANY'} (ARRAY(${list}))`);
  let from = 0;
  for (const { 0: token, index } of plain.matchAll(TOKENS)) {
    const parameter = PARAMETER.exec(token);
    parts.push(
      plain.slice(from, index),
      parameter === null
        ? spell(token)
        : placeOf(parameters, { from: parameter[2] ?? positions++, isHex: parameter[1] !== undefined }),
    );
    from = index + token.length;
  }
  parts.push(plain.slice(from));
  return {
    text: (types) =>
      parts.map((part) => (typeof part === 'string' ? part : `$${part + 1}${cast(types[part])}`)).join(''),
    // Unused names are ignored, as in SQLite.
    values: (given) =>
      parameters.map(({ from: place, isHex }) => {
        const value = typeof place === 'number' ? given[place] : valueNamed(given[0], place);
        return isHex ? bytesOf(value) : value;
      }),
  };
}

const PHRASES = /\bINDEXED BY \w+|\bCROSS JOIN\b|\bAS INTEGER\)|\btemp\.|\bmain\./g;
const SPELT: Readonly<Record<string, string>> = {
  'INDEXED BY': '',
  'CROSS JOIN': 'JOIN',
  'AS INTEGER)': 'AS BIGINT)',
  'temp.': 'pg_temp.',
  // A name that is not shadowed yet.
  'main.': '',
};

/**
 * Membership in a list. As a subquery of unknown length PostgreSQL would rather scan a small table once per list. Array
 * elements are looked up.
 */
const LISTED = /\b(NOT )?IN \((SELECT (?:value|CAST\(value AS BIGINT\)|unhex\(value\)) FROM json_each\([?@\w]+\))\)/g;

const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['json_object', 'json_build_object'],
  ['json_group_object', 'json_object_agg'],
  ['json_group_array', 'json_agg'],
]);

/** PostgreSQL folds unquoted names with capitals. */
const spell = (token: string): string =>
  /^[a-z]+\w*[A-Z]/.test(token) ? `"${token}"` : (FUNCTIONS.get(token) ?? token);

function placeOf(parameters: Parameter[], { from, isHex }: Parameter): number {
  const known = parameters.findIndex((one) => one.from === from && one.isHex === isHex);
  return known === -1 ? parameters.push({ from, isHex }) - 1 : known;
}

/** Null if the digits are invalid, as in SQLite. */
function bytesOf(digits: unknown): Buffer | null {
  if (typeof digits !== 'string') return null;
  const bytes = Buffer.from(digits, 'hex');
  return bytes.length * 2 === digits.length ? bytes : null;
}

const cast = (type: ParameterType | undefined): string => (type === undefined || type === '' ? '' : `::${type}`);

function valueNamed(given: unknown, name: string): unknown {
  const value = typeof given === 'object' && given !== null ? (given as Record<string, unknown>)[name] : undefined;
  if (value === undefined) throw new Error(`the parameter @${name} is missing`);
  return value;
}

function typeOf(value: unknown): ParameterType {
  if (value === null) return '';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return Number.isInteger(value) ? 'bigint' : 'float8';
  if (value instanceof Uint8Array) return 'bytea';
  throw new Error(`a ${typeof value} is no value of a statement`);
}

/** PostgreSQL cannot store NUL in a text, so U+FFFD replaces it. */
const storable = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\u{fffd}') : value;

const asNumber = (text: string): number => Number(text);
const asText = (text: string): string => text;

/** As SQLite returns them: numbers as numbers, booleans as 1 or 0, JSON as text. */
const READERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === 't' ? 1 : 0)],
  [20, asNumber],
  [21, asNumber],
  [23, asNumber],
  [700, asNumber],
  [701, asNumber],
  [1700, asNumber],
  [17, (text) => Buffer.from(text.slice(2), 'hex')],
  [114, asText],
  [3802, asText],
]);

/** By PostgreSQL's type number. */
export const readerOf = (type: number): ((text: string) => unknown) => READERS.get(type) ?? asText;
