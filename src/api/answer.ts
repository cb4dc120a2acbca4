import { z } from 'zod';
import { type ExactJson, ExactNumber, parseExact } from '../util/exact-json.js';
import { findMember, isEmptyObject, scanShell, someMember } from '../util/json-shell.js';
import { describeIssues } from './describe-issues.js';
import { ApiError, type ApiErrorDetails } from './errors.js';
import { type Exchange, isHtml, requestIdIn } from './exchange.js';
import type { BodyOf, Operation } from './operation.js';

/** Parses and checks a body against what the document shows. The value handed on is the parsed tree itself. */
export function readAnswer<O extends Operation>(operation: O, body: Buffer): BodyOf<O> {
  const found = takeFound(operation, body);
  if (found !== undefined) return found as BodyOf<O>;
  const value = parseBody(operation, body);
  const problems = problemsOf(operation, value);
  if (problems.length > 0) throw unexpectedBody(operation, problems);
  return value as BodyOf<O>;
}

/**
 * What was found when an answer came: whoever reads it next does not parse it again. Only the latest are kept, as many as
 * may be under way (docs/performance.md, "What the books cost").
 */
const lately = new Map<Buffer, { readonly operation: Operation; readonly value: ExactJson }>();
const LATELY = 512;

function keepFound(operation: Operation, body: Buffer, value: ExactJson): void {
  lately.set(body, { operation, value });
  if (lately.size > LATELY) for (const oldest of lately.keys()) return void lately.delete(oldest);
}

function takeFound(operation: Operation, body: Buffer): ExactJson | undefined {
  const found = lately.get(body);
  if (found?.operation !== operation) return undefined;
  lately.delete(body);
  return found.value;
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
 * Why these bytes are not what the operation returns; empty where they are. The bytes decide, whatever the content
 * type says: an answer that can be read is paid for, and is not asked for again because of a header.
 */
export function whyUnreadable(operation: Operation, body: Buffer): readonly string[] {
  try {
    const { knownBy, readsMember } = operation;
    if (knownBy !== undefined && !isText(operation, body)) {
      if (!hasKnownMember(knownBy, body)) return [NOTHING_SHOWN];
      if (readsMember !== undefined) readMember(operation, body, readsMember);
      return [];
    }
    const value = parseBody(operation, body);
    const problems = problemsOf(operation, value);
    if (problems.length === 0) keepFound(operation, body, value);
    return problems;
  } catch (error) {
    if (error instanceof ApiError) return error.problems;
    if (error instanceof SyntaxError) return [error.message];
    throw error;
  }
}

/** A page, as it stands or as a JSON string: there are no members to look for. */
const isText = ({ htmlBody }: Operation, body: Buffer): boolean =>
  htmlBody === true && (isHtml(body) || body.toString('latin1', 0, 16).trimStart().startsWith('"'));

/** Up to this size a scan to the end costs little beside the call; of a longer body the ends tell whether it is whole. */
const SCANNED_TO_THE_END = 16_384;

function hasKnownMember(knownBy: NonNullable<Operation['knownBy']>, body: Buffer): boolean {
  if (body.length <= SCANNED_TO_THE_END && scanShell(body).kind !== 'object') return false;
  // An object without members says nothing, and that is an answer (V1-22, V2-2).
  return isEmptyObject(body) || someMember(body, knownBy);
}

function problemsOf(operation: Operation, value: ExactJson): readonly string[] {
  if (operation.api === 'v1' && isObject(value) && Object.hasOwn(value, 'error') && isSaid(value.error))
    return ['an error, with the status of a success'];
  const checked = operation.body.safeParse(value);
  if (!checked.success) return describeIssues(checked.error, value);
  // Every field may be absent, so the schema lets `{"message": "back soon"}` through.
  const declared = declaredNames(operation.body);
  // To the schema of an object a number is one, with no members.
  if (declared.length > 0 && value instanceof ExactNumber) return ['expected an object, got a number'];
  if (declared.length === 0 || !isObject(value) || Object.keys(value).length === 0) return [];
  return declared.some((name) => Object.hasOwn(value, name)) ? [] : [NOTHING_SHOWN];
}

const NOTHING_SHOWN = 'an object without any member that the document shows';

const isSaid = (error: ExactJson | undefined) =>
  error !== undefined && error !== null && error !== '' && error !== false;

const isObject = (value: ExactJson): value is { [key: string]: ExactJson } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/** The names of the members that a schema knows; none where it is no object, or one whose members are not shown. */
export function declaredNames(schema: z.ZodType): readonly string[] {
  const known = namesOf.get(schema);
  if (known !== undefined) return known;
  const names = readNames(schema);
  namesOf.set(schema, names);
  return names;
}

const namesOf = new WeakMap<z.ZodType, readonly string[]>();

function readNames(schema: unknown): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodUnion ? schema.options.flatMap(readNames) : [];
}

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
