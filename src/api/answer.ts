import { MALFORMED_ANSWER } from '../domain/errors.js';
import { type ExactJson, parseExact } from '../util/exact-json.js';
import { findMember, hasEnd, isEmptyObject, someMember } from '../util/json-shell.js';
import { mustBeWhole } from '../util/whole-json.js';
import { NOTHING_SHOWN, problemsOf } from './body-problems.js';
import { ApiError, type ApiErrorDetails } from './errors.js';
import { type Exchange, isHtml, requestIdIn } from './exchange.js';
import { type ListOutside, outsideOf } from './list-outside.js';
import type { BodyOf, Operation } from './operation.js';

/** Parses and checks a body against what the document shows. The value handed on is the parsed tree itself. */
export function readAnswer<O extends Operation>(operation: O, body: Buffer): BodyOf<O> {
  const found = foundLately(operation, body)?.value;
  if (found !== undefined) {
    lately.delete(body);
    return found as BodyOf<O>;
  }
  const value = parseBody(operation, body);
  const problems = problemsOf(operation, value);
  if (problems.length > 0) throw unexpectedBody(operation, problems);
  return value as BodyOf<O>;
}

/** A page of a list, for whoever needs none of its items: most of it stays unparsed. */
export function readListOutside(operation: Operation, body: Buffer): ListOutside {
  const found = foundLately(operation, body);
  const outside = found?.outside ?? (found?.value === undefined ? outsideOf(operation, body) : undefined);
  if (outside !== undefined) return outside;
  const value = (found?.value ?? readAnswer(operation, body)) as ListOutside['value'];
  return { value, items: Array.isArray(value.data) ? value.data.length : null };
}

/**
 * What was found when an answer came: whoever reads it next does not parse it again. Only the latest are kept, as many as
 * may be under way (docs/performance.md, "What the books cost").
 */
const lately = new Map<Buffer, Found>();
const LATELY = 512;

interface Found {
  readonly operation: Operation;
  readonly value?: ExactJson;
  readonly outside?: ListOutside;
}

function keepFound(body: Buffer, found: Found): void {
  lately.set(body, found);
  if (lately.size > LATELY) for (const oldest of lately.keys()) return void lately.delete(oldest);
}

function foundLately(operation: Operation, body: Buffer): Found | undefined {
  const found = lately.get(body);
  return found?.operation === operation ? found : undefined;
}

/**
 * One member of an answer, the rest unparsed: of a record of 50 KB the journey needs only who it is about. A body that
 * was cut off does not pass. Undefined where the member is absent.
 */
export function readMember(operation: Operation, body: Buffer, member: string): ExactJson | undefined {
  try {
    const range = findMember(body, member);
    return range && parseExact(body.subarray(range.start, range.end));
  } catch (cause) {
    throw unexpectedBody(operation, [cause instanceof Error ? cause.message : 'not JSON'], cause);
  }
}

/**
 * Why these bytes are not what the operation returns; undefined where they are. The bytes decide, whatever the
 * content type says: an answer that can be read is paid for, and is not asked for again because of a header. All of them
 * are looked at: what cannot be read whole would be missing in the tables.
 */
export function whyUnreadable(operation: Operation, body: Buffer): Unreadable | undefined {
  try {
    const problems = problemsIn(operation, body);
    return problems.length === 0 ? undefined : { code: UNREADABLE.code, problems };
  } catch (error) {
    const cause = error instanceof ApiError ? error.cause : error;
    if (!(cause instanceof SyntaxError)) throw error;
    // What was cut off may come whole the next time.
    const code = hasEnd(body) ? MALFORMED_ANSWER : UNREADABLE.code;
    return { code, problems: [cause.message] };
  }
}

/** Why an answer is none, and the code for it. */
export type Unreadable = Pick<ApiErrorDetails, 'code'> & { readonly problems: readonly string[] };

function problemsIn(operation: Operation, body: Buffer): readonly string[] {
  const { knownBy, readsMember } = operation;
  if (knownBy !== undefined && !isText(operation, body)) {
    mustBeWhole(body);
    // An object without members says nothing, and that is an answer (V1-22, V2-2).
    if (!isEmptyObject(body) && !someMember(body, knownBy)) return [NOTHING_SHOWN];
    if (readsMember !== undefined) readMember(operation, body, readsMember);
    return [];
  }
  const outside = outsideOf(operation, body);
  if (outside !== undefined) {
    mustBeWhole(body);
    keepFound(body, { operation, outside });
    return [];
  }
  const value = parseBody(operation, body);
  const problems = problemsOf(operation, value);
  if (problems.length === 0) keepFound(body, { operation, value });
  return problems;
}

/** A page, as it stands or as a JSON string: there are no members to look for. */
const isText = ({ htmlBody }: Operation, body: Buffer): boolean =>
  htmlBody === true && (isHtml(body) || body.toString('latin1', 0, 16).trimStart().startsWith('"'));

function parseBody(operation: Operation, body: Buffer): ExactJson {
  if (operation.emptyBody === true && body.toString('latin1').trim() === '') return null;
  if (operation.htmlBody === true && isHtml(body)) return body.toString('utf8');
  try {
    return parseExact(body);
  } catch (cause) {
    throw unexpectedBody(operation, [cause instanceof Error ? cause.message : 'not JSON'], cause);
  }
}

/** What an answer that cannot be read is, whoever finds it: the provider's trouble, not the row's. */
export const UNREADABLE = {
  class: 'retry',
  code: 'UNEXPECTED_BODY',
  hint: 'The answer is kept as it came, and may have been paid for; it is not used.',
} as const satisfies Partial<ApiErrorDetails>;

export const unreadableMessage = (operation: Operation, problems: readonly string[]): string =>
  `${operation.name} answered in an unexpected form: ${problems.slice(0, 5).join('; ')}`;

/** What an operation may answer, and is of no use to who asked: as good as one that cannot be read. */
export interface Unfit {
  readonly code: string;
  readonly message: string;
}

export const unfitAnswer = (operation: Operation, exchange: Exchange, { code, message }: Unfit): ApiError =>
  new ApiError({
    ...UNREADABLE,
    code,
    message: `${operation.name}: ${message}`,
    api: operation.api,
    operation: operation.name,
    charge: 'unknown',
    httpStatus: exchange.status,
    requestId: requestIdIn(exchange.headers),
    problems: [message],
    exchange,
  });

function unexpectedBody(operation: Operation, problems: readonly string[], cause?: unknown): ApiError {
  return new ApiError({
    ...UNREADABLE,
    message: unreadableMessage(operation, problems),
    api: operation.api,
    operation: operation.name,
    charge: 'unknown',
    problems,
    cause,
  });
}
