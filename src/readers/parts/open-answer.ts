import {
  type ExactJson,
  ExactNumber,
  isObject,
  type JsonObject,
  parseExact,
  stringifyExact,
} from '../../util/exact-json.js';
import { removeContacts } from '../../util/sanitize-text.js';
import { type AnswerOrigin, originOf, type RawAnswer, type ReaderOutput, type SubjectAnswers } from '../reader.js';
import { timestamp } from '../table.js';

export interface OpenedAnswer {
  readonly answer: RawAnswer;
  readonly body: ExactJson;
  readonly path: BodyPath;
}

/**
 * Opens an answer without e-mail addresses and phone numbers of people, unless they are wanted. If it is no JSON, it is
 * an issue and undefined.
 */
export function openAnswer(answer: RawAnswer, out: ReaderOutput): OpenedAnswer | undefined {
  const opened = openUnfiltered(answer, out);
  if (opened !== undefined && !out.includeContacts) removeContacts(opened.body);
  return opened;
}

/** Reads each answer that is a record. Another body becomes an issue with the whole value. */
export function eachRecord(
  { answers }: SubjectAnswers,
  out: ReaderOutput,
  kind: string,
  read: (record: JsonObject, path: BodyPath) => void,
): void {
  for (const answer of answers) {
    const opened = openAnswer(answer, out);
    if (opened === undefined) continue;
    const record = opened.path.object(opened.body);
    if (record === undefined) opened.path.left(`a ${kind}`, opened.body);
    else read(record, opened.path);
  }
}

/** The cells about the answer of a record, and the IDs of its company in other spaces. */
export const recordCells = ({ origin }: BodyPath, { ids }: Pick<SubjectAnswers, 'ids'>) => ({
  fetched_at: timestamp(origin.fetchedAt),
  raw_sha256: origin.rawSha256,
  operation: origin.operation,
  v1_company_id: ids.v1 ?? null,
  v2_company_id: ids.v2 ?? null,
});

/** The same for answers without people. */
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

/** A place in the body of an answer. Issues are noted with its JSON pointer. */
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

  /** The same for a value without a column: the issue holds the whole value. */
  left(expected: string, value: ExactJson): void {
    const { origin, pointer } = this;
    this.out.note({ origin: originOf(origin), pointer, expected, seen: stringifyExact(value) });
  }

  /** The expected object. Null and missing mean "not returned" and are no issue. */
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

/** A member that came. `__proto__` and `constructor` are ordinary names, and absent unless they came. */
export const memberOf = (object: JsonObject, key: string): ExactJson | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** An ID, which may come as a number of any length. */
export const idOf = (value: ExactJson | undefined): string | undefined =>
  value instanceof ExactNumber ? value.text : typeof value === 'string' ? value : undefined;

const LONGEST_SEEN = 80;

/** Scalars as text, shortened. Larger values only by kind. */
function describe(value: ExactJson): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isObject(value)) {
    const members = Object.keys(value).length;
    return `an object with ${members} ${members === 1 ? 'member' : 'members'}`;
  }
  const text = stringifyExact(value);
  return text.length <= LONGEST_SEEN ? text : `${text.slice(0, LONGEST_SEEN)}…`;
}
