import { type ExactJson, ExactNumber, parseExact, stringifyExact } from '../../util/exact-json.js';
import { isContactGroup, isContactName } from '../../util/sanitize-text.js';
import { type AnswerOrigin, originOf, type RawAnswer, type ReaderOutput } from '../reader.js';

/** An answer whose body is JSON, and the path to begin at. */
export interface OpenedAnswer {
  readonly answer: RawAnswer;
  readonly body: ExactJson;
  readonly path: BodyPath;
}

/** Without people's e-mail and phone, unless they are wanted. Undefined, and an issue, if it is no JSON. */
export function openAnswer(answer: RawAnswer, out: ReaderOutput): OpenedAnswer | undefined {
  const opened = openUnfiltered(answer, out);
  if (opened !== undefined && !out.includeContacts) removeContacts(opened.body);
  return opened;
}

/** The same for bodies that hold no people. */
export function openUnfiltered(answer: RawAnswer, out: ReaderOutput): OpenedAnswer | undefined {
  const path = new BodyPath(answer, out);
  const body = tryParse(answer.body);
  if (body !== undefined) return { answer, body, path };
  path.unexpected('JSON', answer.body.toString('utf8', 0, 60));
  return undefined;
}

export function tryParse(body: Buffer): ExactJson | undefined {
  try {
    return parseExact(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

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

/** The contacts of a domain: what a registrar's entry says of a person is not shown, so all of it is taken for a contact. */
const REGISTRAR_CONTACT = /(?:^|_)contacts?(?:_|$)/i;

export const isRegistrarContact = (name: string): boolean => REGISTRAR_CONTACT.test(name);

/** What a group of contacts says of a company itself, and where it is from. */
const NOT_PERSONAL: ReadonlySet<string> = new Set(['website', 'linkedin', 'source']);

/** Takes e-mail addresses and phone numbers out of a body, wherever they stand. In place, and without recursion. */
export function removeContacts(body: ExactJson, isContact: (name: string) => boolean = isContactName): void {
  const pending: ExactJson[] = [body];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === 'object' && item !== null) pending.push(item);
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        if (isContact(key)) delete value[key];
        else if (isContactGroup(key)) removeGroup(value, key);
        const member = Object.hasOwn(value, key) ? value[key] : undefined;
        if (typeof member === 'object' && member !== null) pending.push(member);
      }
    }
  }
}

/** That a group came stays, with nothing personal in it. */
function removeGroup(object: JsonObject, key: string): void {
  const group = object[key];
  if (isObject(group)) {
    for (const name of Object.keys(group)) if (!NOT_PERSONAL.has(name)) delete group[name];
  } else if (group !== null) delete object[key];
}
