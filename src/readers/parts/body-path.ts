import { type ExactJson, ExactNumber } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import { type AnswerOrigin, originOf, type ReaderOutput } from '../reader.js';

export type JsonObject = { [key: string]: ExactJson };

/** Where in the body of an answer something stands: an issue is noted with its pointer. */
export class BodyPath {
  constructor(
    readonly origin: AnswerOrigin,
    readonly out: ReaderOutput,
    readonly pointer: string = '',
  ) {}

  at(key: string | number): BodyPath {
    const token = typeof key === 'number' ? String(key) : key.replaceAll('~', '~0').replaceAll('/', '~1');
    return new BodyPath(this.origin, this.out, `${this.pointer}/${token}`);
  }

  unexpected(expected: string, value: ExactJson): void {
    const { origin, pointer } = this;
    this.out.note({ origin: originOf(origin), pointer, expected, seen: describe(value) });
  }

  /** The same where no column holds the value: the issue holds all of it. */
  left(expected: string, value: ExactJson): void {
    const { origin, pointer } = this;
    this.out.note({ origin: originOf(origin), pointer, expected, seen: stringifyExact(value) });
  }

  /** The object that is expected here. Null and missing are "not returned", and no issue. */
  object(value: ExactJson | undefined): JsonObject | undefined {
    if (isObject(value)) return value;
    if (value !== undefined && value !== null) this.unexpected('an object', value);
    return undefined;
  }

  list(value: ExactJson | undefined): readonly ExactJson[] | undefined {
    if (Array.isArray(value)) return value;
    if (value !== undefined && value !== null) this.unexpected('a list', value);
    return undefined;
  }
}

export const isObject = (value: ExactJson | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/** A member that came. `__proto__` and `constructor` are names like any other, and no member unless they came. */
export const memberOf = (object: JsonObject, key: string): ExactJson | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** An ID, which may come as a number of any length. */
export const idOf = (value: ExactJson | undefined): string | undefined =>
  value instanceof ExactNumber ? value.text : typeof value === 'string' ? value : undefined;

const LONGEST_SEEN = 80;

/** Scalars as they are, cut short; what is larger only by its kind. */
function describe(value: ExactJson): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isObject(value)) {
    const members = Object.keys(value).length;
    return `an object with ${members} ${members === 1 ? 'member' : 'members'}`;
  }
  const text = stringifyExact(value);
  return text.length <= LONGEST_SEEN ? text : `${text.slice(0, LONGEST_SEEN)}…`;
}
