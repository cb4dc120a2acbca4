// Reads answers: whether the bytes are one, what they say, and lists page by page.

import { z } from 'zod';
import { ANSWER_TOO_LARGE, MALFORMED_ANSWER, UNEXPECTED_FORM } from '../domain/errors.js';
import { isStatement } from '../domain/identity-mismatch.js';
import {
  type ExactJson,
  ExactNumber,
  isObject,
  type JsonObject,
  parseExact,
  refuseTooLarge,
  TooLargeJson,
} from '../util/exact-json.js';
import {
  assertWholeJson,
  findMember,
  hasEnd,
  isEmptyObject,
  itemsOf,
  type MemberRange,
  scanJson,
  someMember,
} from '../util/json-scan.js';
import { totalOf, wholeCount } from '../util/list-page.js';
import { ApiError, type ApiErrorDetails } from './errors.js';
import { type Exchange, isHtml, requestIdIn } from './http.js';
import type { BodyOf, Operation } from './operation.js';
import { describeIssues } from './schema.js';

/** Parses an answer and checks it against the documented schema. The returned value is the parsed tree itself. */
export function readAnswer<O extends Operation>(operation: O, body: Buffer): BodyOf<O> {
  const found = recentResult(operation, body)?.value;
  if (found !== undefined) {
    recentResults.delete(body);
    return found as BodyOf<O>;
  }
  const value = parseBody(operation, body);
  const problems = problemsOf(operation, value);
  if (problems.length > 0) throw unexpectedBody(operation, problems);
  return value as BodyOf<O>;
}

/** The envelope of a list without its items: most of it stays unparsed. */
export function readListEnvelope(operation: Operation, body: Buffer): ListEnvelope {
  const found = recentResult(operation, body);
  const outside = found?.outside ?? (found?.value === undefined ? scanListEnvelope(operation, body) : undefined);
  if (outside !== undefined) return outside;
  const value = (found?.value ?? readAnswer(operation, body)) as ListEnvelope['value'];
  return { value, items: Array.isArray(value.data) ? value.data.length : null };
}

/**
 * Parse results of recent answers, so that the next reader does not parse them again. The number kept is the number of
 * calls that may be in flight (docs/developers/performance.md, "Cost of the ledger").
 */
const recentResults = new Map<Buffer, Found>();
const RESULTS_KEPT = 512;

interface Found {
  readonly operation: Operation;
  readonly value?: ExactJson;
  readonly outside?: ListEnvelope;
}

function keepFound(body: Buffer, found: Found): void {
  recentResults.set(body, found);
  if (recentResults.size > RESULTS_KEPT)
    for (const oldest of recentResults.keys()) return void recentResults.delete(oldest);
}

function recentResult(operation: Operation, body: Buffer): Found | undefined {
  const found = recentResults.get(body);
  return found?.operation === operation ? found : undefined;
}

/**
 * Parses one member of an answer and skips the rest: of a 50 KB record the stages only need its identity. A truncated
 * answer is refused. Undefined if the member is absent.
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
 * The members of an answer, or of one of its members, that state a company. Long lists beside them stay unparsed. Empty
 * if it is no object.
 */
export function readStatements(operation: Operation, body: Buffer, member?: string): JsonObject {
  try {
    const range = member === undefined ? { start: 0, end: body.length } : findMember(body, member);
    const part = range && body.subarray(range.start, range.end);
    const outline = part === undefined ? undefined : scanJson(part);
    if (part === undefined || outline?.kind !== 'object') return {};
    const stated = [...outline.members].filter(([name]) => isStatement(name));
    return Object.fromEntries(stated.map(([name, { start, end }]) => [name, parseExact(part.subarray(start, end))]));
  } catch (cause) {
    throw unexpectedBody(operation, [cause instanceof Error ? cause.message : 'not JSON'], cause);
  }
}

/**
 * Why these bytes are not an answer of the operation. Undefined if they are. The bytes decide, not the content
 * type: a readable answer is paid for, and a wrong header must not buy it again. All bytes are checked, because an
 * unreadable part would be missing in the tables.
 */
export function unreadableReason(operation: Operation, body: Buffer): Unreadable | undefined {
  try {
    // The text of a tool, and a report, may be a whole document.
    const hasLongTexts = operation.htmlBody === true || operation.api === 'mcp';
    if (!(hasLongTexts && isHtml(body))) refuseTooLarge(body, hasLongTexts);
    const problems = problemsIn(operation, body);
    if (problems.length === 0) return undefined;
    // A failing provider may send its error with the status of a success. The next answer may be a good one.
    return { code: isErrorShown(body) ? UNREADABLE.code : UNEXPECTED_FORM, problems };
  } catch (error) {
    const cause = error instanceof ApiError ? error.cause : error;
    if (!(cause instanceof SyntaxError)) throw error;
    if (cause instanceof TooLargeJson) return { code: ANSWER_TOO_LARGE, problems: [cause.message] };
    // A truncated answer may come complete the next time.
    const code = hasEnd(body) ? MALFORMED_ANSWER : UNREADABLE.code;
    return { code, problems: [cause.message] };
  }
}

export type Unreadable = Pick<ApiErrorDetails, 'code'> & { readonly problems: readonly string[] };

function problemsIn(operation: Operation, body: Buffer): readonly string[] {
  const { knownBy, readsMember } = operation;
  if (knownBy !== undefined && !isText(operation, body)) {
    assertWholeJson(body);
    // An object without members is an answer that says nothing (V1-22, V2-2).
    if (!isEmptyObject(body) && !someMember(body, knownBy)) return [NOTHING_SHOWN];
    const member = readsMember === undefined ? null : readMember(operation, body, readsMember);
    return member == null || isObject(member) ? [] : [`${readsMember}: expected an object`];
  }
  const outside = scanListEnvelope(operation, body);
  if (outside !== undefined) {
    assertWholeJson(body);
    keepFound(body, { operation, outside });
    return [];
  }
  const value = parseBody(operation, body);
  const problems = problemsOf(operation, value);
  if (problems.length === 0) keepFound(body, { operation, value });
  return problems;
}

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

/** An unreadable answer is the provider's fault, not the row's. */
export const UNREADABLE = {
  class: 'retry',
  code: 'UNEXPECTED_BODY',
  hint: 'kybatch stores the answer but does not use it. It may have been charged.',
} as const satisfies Partial<ApiErrorDetails>;

export const unreadableMessage = (operation: Operation, problems: readonly string[]): string =>
  `${operation.name} answered in an unexpected form: ${problems.slice(0, 5).join('; ')}`;

export function unreadableBody(operation: Operation, body: Buffer) {
  const why = unreadableReason(operation, body);
  return why && { ...UNREADABLE, message: unreadableMessage(operation, why.problems), ...why };
}

/** An answer that the operation may give but the caller cannot use. It is treated like an unreadable one. */
export interface UnusableAnswer {
  readonly code: string;
  readonly message: string;
}

export const unusableAnswerError = (
  operation: Operation,
  exchange: Exchange,
  { code, message }: UnusableAnswer,
): ApiError =>
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

function problemsOf(operation: Operation, value: ExactJson): readonly string[] {
  if (operation.api === 'v1' && isObject(value) && Object.hasOwn(value, 'error') && showsError(value.error))
    return ['an error with a success status'];
  const checked = operation.body.safeParse(value);
  if (!checked.success) return describeIssues(checked.error, value);
  // Every field may be absent, so the schema accepts `{"message": "back soon"}`.
  const declared = declaredNames(operation.body);
  // A loose object schema accepts a number as an object without members.
  if (declared.length > 0 && value instanceof ExactNumber) return ['expected an object, got a number'];
  if (declared.length === 0 || !isObject(value) || Object.keys(value).length === 0) return [];
  return declared.some((name) => Object.hasOwn(value, name)) ? [] : [NOTHING_SHOWN];
}

const NOTHING_SHOWN = 'an object without a documented field';

function isErrorShown(body: Buffer): boolean {
  const value = parseExact(body);
  return isObject(value) && Object.hasOwn(value, 'error') && showsError(value.error);
}

const showsError = (error: ExactJson | undefined) =>
  error !== undefined && error !== null && error !== '' && error !== false;

/** The member names that a schema declares. Empty if it is no object or shows no members. */
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

/** The envelope of a page, and the number of its items. Null: the list was absent. */
interface ListEnvelope {
  readonly value: Readonly<Record<string, unknown>>;
  readonly items: number | null;
}

/**
 * Checks a long list by its envelope and three items: the first, the middle and the last. The stages do not need the
 * others, and a few unreadable items do not spoil a list (`list` in schema.ts). The export checks them all. Undefined
 * if the whole list has to be checked: it is short, or something in it is unusual.
 */
function scanListEnvelope(operation: Operation, body: Buffer): ListEnvelope | undefined {
  if (body.length < LONG) return undefined;
  try {
    const list = listIn(operation, body);
    const items = list && itemsOf(body, list);
    if (list === undefined || items === undefined || items.length <= SAMPLE) return undefined;
    const sample = [0, items.length >> 1, items.length - 1].map((at) => items[at] as MemberRange);
    const shown = sample.map(({ start, end }) => body.toString('utf8', start, end)).join(',');
    const value = parseExact(`${body.toString('utf8', 0, list.start)}[${shown}]${body.toString('utf8', list.end)}`);
    if (problemsOf(operation, value).length > 0) return undefined;
    // A list without an envelope has nothing beside its items.
    return { value: Array.isArray(value) ? {} : (value as ListEnvelope['value']), items: items.length };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Shorter ones are parsed as fast as they are scanned. */
const LONG = 1_024;
const SAMPLE = 3;

function listIn({ body: schema }: Operation, body: Buffer): MemberRange | undefined {
  const hasEnvelope = declaredNames(schema).includes('data');
  if (!hasEnvelope && !isList(body)) return undefined;
  const shell = scanJson(body);
  if (shell.kind === 'object') return hasEnvelope ? shell.members.get('data') : undefined;
  return shell.kind === 'array' ? shell.range : undefined;
}

const isList = (body: Buffer): boolean => body[0] === OPEN_BRACKET;
const OPEN_BRACKET = 0x5b;

/** The items and counts of one page. Null: not stated. */
export interface Envelope {
  readonly items: number;
  /** Whether the list is present, even if it is empty (V1-22). */
  readonly came: boolean;
  readonly pages: number | null;
  readonly total: number | null;
}

interface ReadPage<Answer> {
  readonly kind: 'page';
  readonly answer: Answer;
  readonly page: number;
  readonly envelope: Envelope;
  /** It has the same bytes as the page before. */
  readonly isRepeated: boolean;
  readonly isLast: boolean;
}

type Answered<Outcome> = Extract<Outcome, { readonly kind: 'answer' }> & { readonly body: Buffer };
type Unanswered<Outcome> = Exclude<Outcome, { readonly kind: 'answer' }>;

/**
 * Each page as it is asked for, up to the last one. A list ends at the page count of its envelope, at an empty or absent
 * list, or at a repeated page, because each page may cost. An outcome without an answer also ends it. Throws an ApiError
 * if an envelope cannot be read. `goesOn` replaces the rule, and is asked when the page was processed.
 */
export async function* eachPage<Outcome extends { readonly kind: string }>(
  operation: Operation,
  ask: (page: number) => Promise<Outcome>,
  goesOn?: () => boolean,
): AsyncGenerator<ReadPage<Answered<Outcome>> | Unanswered<Outcome>> {
  let before: Buffer | undefined;
  for (let page = 1; ; page++) {
    const outcome = await ask(page);
    if (outcome.kind !== 'answer') return yield outcome as Unanswered<Outcome>;
    const answer = outcome as Answered<Outcome>;
    const envelope = readEnvelope(operation, answer.body);
    const isRepeated = before?.equals(answer.body) === true;
    const isLast = envelope.items === 0 || isRepeated || (envelope.pages !== null && page >= envelope.pages);
    yield { kind: 'page', answer, page, envelope, isRepeated, isLast };
    if (goesOn === undefined ? isLast : !goesOn()) return;
    before = answer.body;
  }
}

function readEnvelope(operation: Operation, body: Buffer): Envelope {
  const { value, items } = readListEnvelope(operation, body);
  const pages = wholeCount(value[operation.pages?.countField ?? 'total_pages']);
  return { items: items ?? 0, came: items !== null, pages, total: totalOf(value) };
}

/** With the largest page size allowed, because each page is paid for (V1-7). */
export function pageParams<P extends object>(operation: Operation, params: P, page: number) {
  const perPage = operation.pages?.perPageAtMost ?? null;
  return { ...params, ...(perPage === null ? {} : { per_page: perPage }), page };
}
