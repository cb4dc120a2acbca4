/**
 * The SQL of the stores as PostgreSQL takes it. It is written for SQLite in words that both know; what is left to change is a
 * matter of spelling. What PostgreSQL lacks it gets as functions of the same name (migrations/001-ledger.sql).
 */
export interface Translated {
  /** With a cast at each parameter: what a value is nobody has to guess. */
  text(types: readonly ParameterType[]): string;
  /** The values in their order. */
  values(parameters: readonly unknown[]): readonly unknown[];
}

/** Empty: a null of which nobody knows what it would be. */
export type ParameterType = 'bigint' | 'float8' | 'text' | 'bytea' | '';

/** Comments and literals are left as they are. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\?|@\w+|[A-Za-z_]\w*/g;

export function translate(sql: string): Translated {
  const names: string[] = [];
  let positions = 0;
  const parts: (string | number)[] = [];
  const plain = sql.replace(PHRASES, (phrase) => SPELT[phrase.replace(/\s+\w+$/, '')] ?? SPELT[phrase] ?? '');
  let from = 0;
  for (const { 0: token, index } of plain.matchAll(TOKENS)) {
    const isNamed = token.startsWith('@');
    if (token !== '?' && !isNamed) {
      parts.push(plain.slice(from, index), spell(token));
      from = index + token.length;
      continue;
    }
    parts.push(plain.slice(from, index), isNamed ? placeOf(names, token.slice(1)) : positions++);
    from = index + token.length;
  }
  parts.push(plain.slice(from));
  return {
    text: (types) =>
      parts.map((part) => (typeof part === 'string' ? part : `$${part + 1}${cast(types[part])}`)).join(''),
    values(parameters) {
      // Names that are given and not asked for are nobody's concern, as in SQLite.
      if (names.length === 0) return positions === 0 ? [] : parameters;
      return names.map((name) => valueNamed(parameters[0], name));
    },
  };
}

const PHRASES = /\bINDEXED BY \w+|\bCROSS JOIN\b|\bAS INTEGER\)|\btemp\./g;
const SPELT: Readonly<Record<string, string>> = {
  'INDEXED BY': '',
  'CROSS JOIN': 'JOIN',
  'AS INTEGER)': 'AS BIGINT)',
  'temp.': 'pg_temp.',
};

const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['json_object', 'json_build_object'],
  ['json_group_object', 'json_object_agg'],
  ['json_group_array', 'json_agg'],
]);

/** A name in which a capital follows a small letter would be folded. */
const spell = (token: string): string =>
  /^[a-z]+\w*[A-Z]/.test(token) ? `"${token}"` : (FUNCTIONS.get(token) ?? token);

function placeOf(names: string[], name: string): number {
  const known = names.indexOf(name);
  return known === -1 ? names.push(name) - 1 : known;
}

const cast = (type: ParameterType | undefined): string => (type === undefined || type === '' ? '' : `::${type}`);

function valueNamed(given: unknown, name: string): unknown {
  const value = typeof given === 'object' && given !== null ? (given as Record<string, unknown>)[name] : undefined;
  if (value === undefined) throw new Error(`the parameter @${name} is missing`);
  return value;
}

export function typeOf(value: unknown): ParameterType {
  if (value === null) return '';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return Number.isInteger(value) ? 'bigint' : 'float8';
  if (value instanceof Uint8Array) return 'bytea';
  throw new Error(`a ${typeof value} is no value of a statement`);
}

/** PostgreSQL keeps no text with a NUL in it: the sign for what cannot be shown stands in its place. */
export const storable = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\u{fffd}') : value;
