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
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\bunhex\((?:\?|@\w+)\)|\?|@\w+|[A-Za-z_]\w*/g;
const PARAMETER = /^(unhex\()?(?:\?|@(\w+))\)?$/;

/** Where a value comes from: its name, or its place. What is written in hexadecimal digits goes over the wire as bytes. */
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
    // Names that are given and not asked for are nobody's concern, as in SQLite.
    values: (given) =>
      parameters.map(({ from: place, isHex }) => {
        const value = typeof place === 'number' ? given[place] : valueNamed(given[0], place);
        return isHex ? bytesOf(value) : value;
      }),
  };
}

const PHRASES = /\bINDEXED BY \w+|\bCROSS JOIN\b|\bAS INTEGER\)|\btemp\./g;
const SPELT: Readonly<Record<string, string>> = {
  'INDEXED BY': '',
  'CROSS JOIN': 'JOIN',
  'AS INTEGER)': 'AS BIGINT)',
  'temp.': 'pg_temp.',
};

/**
 * Members of a list. As a query it would be one of unknown length, for which a small table is rather read from its beginning
 * to its end, once for each list; members of an array are looked up.
 */
const LISTED = /\b(NOT )?IN \((SELECT (?:value|CAST\(value AS BIGINT\)|unhex\(value\)) FROM json_each\([?@\w]+\))\)/g;

const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['json_object', 'json_build_object'],
  ['json_group_object', 'json_object_agg'],
  ['json_group_array', 'json_agg'],
]);

/** A name in which a capital follows a small letter would be folded. */
const spell = (token: string): string =>
  /^[a-z]+\w*[A-Z]/.test(token) ? `"${token}"` : (FUNCTIONS.get(token) ?? token);

function placeOf(parameters: Parameter[], { from, isHex }: Parameter): number {
  const known = parameters.findIndex((one) => one.from === from && one.isHex === isHex);
  return known === -1 ? parameters.push({ from, isHex }) - 1 : known;
}

/** Null where it is none, as in SQLite. */
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
