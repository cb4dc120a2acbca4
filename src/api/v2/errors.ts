// The meaning of each error of v2: which calls are tried again, and which stop the run.

import { ExactNumber, parseExact } from '../../util/exact-json.js';
import { hasMatchingEnds, type JsonOutline, type MemberRange, scanJson } from '../../util/json-scan.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { declaredNames, UNREADABLE, unreadableBody } from '../answer.js';
import { ApiError, type ApiErrorDetails } from '../errors.js';
import { type Exchange, retryAfterMs } from '../http.js';
import { type Operation, readsOneRecord } from '../operation.js';

/**
 * The error of an exchange. Undefined if it is a success. The form of the body decides first, even on 200, then the
 * status (V2-1). `rowsOwn`: names of the sent values that come from the row, without the provider's IDs. Undefined for
 * a direct call, whose values all come from a person.
 */
export function v2Error(
  exchange: Exchange,
  operation: Operation,
  nowMs: number,
  rowsOwn?: readonly string[],
): ApiError | undefined {
  const meaning = v2Meaning(exchange, operation, rowsOwn);
  return meaning && v2Failure(meaning, exchange, operation, nowMs);
}

export function v2Failure(meaning: Meaning, exchange: Exchange, operation: Operation, nowMs: number): ApiError {
  return new ApiError({
    ...meaning,
    // No document says that a failed v2 call is free (V2-17): it may have done its work before it failed.
    charge: operation.meter === 'free' ? 'free' : 'unknown',
    message: sanitizeText(meaning.message, 500),
    code: sanitizeText(meaning.code, 100),
    hint: sanitizeText(meaning.hint, 500),
    api: operation.api,
    operation: operation.name,
    httpStatus: exchange.status,
    requestId: exchange.headers['x-request-id'],
    retryAfterMs: retryAfterMs(exchange.headers, nowMs),
    exchange,
  });
}

export type Meaning = Omit<ApiErrorDetails, 'api' | 'operation' | 'exchange' | 'charge'>;

export function v2Meaning(
  exchange: Pick<Exchange, 'status' | 'body'>,
  operation: Operation,
  rowsOwn?: readonly string[],
): Meaning | undefined {
  const { status, body } = exchange;
  const success = status >= 200 && status < 300;
  const shape = shapeOf(body);
  if (shape.kind === 'limit') return limitReached(shape);
  if (success && isDeclaredAnswer(shape, operation, body)) return undefined;
  if (shape.kind === 'rule') return ruleFailure(shape.messages);
  if (shape.kind === 'validation') return validationFailure(shape.reasons, rowsOwn);
  if (shape.kind === 'detail') return byDetail(shape.detail, status, operation);
  return success ? unreadableBody(operation, body) : { ...byStatus(status, operation), foreign: true };
}

/**
 * An answer may look like an error: filed financials with only years, or a profile with an unknown field `detail`. On a
 * 2xx it is an answer if it has a declared member in the declared form.
 */
function isDeclaredAnswer(shape: BodyShape, operation: Operation, body: Buffer): boolean {
  if (shape.kind !== 'rule' && shape.kind !== 'validation' && shape.kind !== 'detail') return false;
  if (shape.kind === 'rule' && operation.answersFields === true) return true;
  const declared = declaredNames(operation.body);
  if (declared.length === 0) return false;
  try {
    const value = parseExact(body) as Readonly<Record<string, unknown>>;
    return declared.some((name) => Object.hasOwn(value, name)) && operation.body.safeParse(value).success;
  } catch {
    return false;
  }
}

/** Only the allowance of one permission and module is exhausted: everything else continues. */
function limitReached(shape: Extract<BodyShape, { kind: 'limit' }>): Meaning {
  const { permission, permissionName, module, moduleName } = shape.access;
  const period = shape.guard === 'limits.daily' ? 'day' : 'plan';
  const what = `${sanitizeText(permissionName, 80)} in ${sanitizeText(moduleName, 80)}`;
  const known = period === 'day' || shape.guard === 'limit';
  return {
    class: 'park',
    code: shape.guard === '' ? 'LIMIT_REACHED' : shape.guard,
    message: shape.message === '' ? `The limit of ${what} is reached` : shape.message,
    hint: limitHint(period, what, known ? undefined : shape.guard),
    limit: { api: 'v2', permission: sanitizeText(permission, 200), module: sanitizeText(module, 200), period },
  };
}

function limitHint(period: 'day' | 'plan', what: string, unknownGuard: string | undefined): string {
  if (unknownGuard !== undefined) {
    const guard = JSON.stringify(sanitizeText(unknownGuard, 80));
    return `The kind of limit ${guard} is not documented. kybatch treats it as the plan's limit of ${what}. Ask the account manager.`;
  }
  return period === 'day'
    ? `The daily limit of ${what} is used up. Continue tomorrow. Other modules still work.`
    : `The plan's limit of ${what} is used up. Ask the account manager for more. Other modules still work.`;
}

const ruleFailure = (messages: readonly string[]): Meaning => ({
  class: 'fail_row',
  code: 'RULE_FAILURE',
  message: messages.join('; ') || 'The request breaks a rule, but the answer does not name it',
  hint: 'Add the fields that the message names.',
  problems: capProblems(messages),
});

function validationFailure(
  reasons: ReadonlyMap<string, readonly string[]>,
  rowsOwn: readonly string[] | undefined,
): Meaning {
  const problems = [...reasons].map(([field, list]) => `${field}: ${list.join(' ')}`);
  const fields = [...reasons.keys()];
  // A row cannot correct a field that was not sent, nor an ID from the provider.
  const isRows = rowsOwn === undefined || fields.some((field) => rowsOwn.includes(field));
  return {
    code: 'VALIDATION',
    message: problems.join('; '),
    problems: capProblems(problems),
    ...(isRows
      ? { class: 'fail_row', hint: `Correct ${fields.slice(0, 10).join(', ')}.` }
      : { class: 'hold', hint: 'The message names none of your fields. Ask the provider what is wrong.' }),
  };
}

/** A refused token and a failing server use the same form. The status tells them apart. */
function byDetail(detail: string, status: number, operation: Operation): Meaning {
  const redirect = status >= 300 && status < 400;
  if (status === 401 || status === 429 || status >= 500 || redirect) {
    const known = byStatus(status, operation);
    return { ...known, message: detail || known.message };
  }
  if (status === 403) return forbidden(detail || `${operation.api} answered 403 without a reason`, operation);
  const isUnknown = status === 404 || status === 410;
  if (isUnknown && readsOneRecord(operation)) return noSuchRecord(detail, status);
  if (isUnknown && operation.subject?.space === 'report') return noSuchReport(detail, status, operation);
  const route = status === 404 || status === 405 ? ` If every call fails like this, ${routeAdvice(operation)}` : '';
  return {
    class: 'retry',
    code: 'UNEXPLAINED',
    message: detail || `${operation.api} answered ${status} without a reason`,
    hint: `The provider gives no reason.${route}`,
    attemptsAtMost: 3,
  };
}

export const FORBIDDEN = 'FORBIDDEN';

/**
 * Keys inherit the permissions of their account, so a refusal concerns the operation, like INSUFFICIENT_SCOPE in v1.
 */
const forbidden = (message: string, operation: Operation): Meaning => ({
  class: 'block_operation',
  code: FORBIDDEN,
  message,
  hint: `The account may not use ${operation.name}. Ask your account manager, or remove the stage from the pipeline.`,
});

const noSuchRecord = (detail: string, status: number): Meaning => ({
  class: 'not_available',
  code: 'NOT_FOUND',
  message: detail || `v2 answered ${status} without a reason`,
  hint: 'The provider has no data for this.',
});

export const REPORT_UNKNOWN = 'REPORT_UNKNOWN';

/** It concerns this report alone: others continue, and it is no outage. A new report may be known a moment later. */
const noSuchReport = (detail: string, status: number, operation: Operation): Meaning => ({
  class: 'hold',
  code: REPORT_UNKNOWN,
  message: detail || `v2 answered ${status} without a reason`,
  hint: `The provider does not know this report. Ask the provider about its ID. If every call fails like this, ${routeAdvice(operation)}`,
});

/** By status alone: the body has no form of v2's errors, or one that several kinds share. */
function byStatus(status: number, operation: Operation): Meaning {
  const message = `${operation.api} answered ${status} in an undocumented form`;
  if (status === 401) {
    return {
      class: 'stop_run',
      stop: 'credentials',
      code: 'UNAUTHENTICATED',
      message,
      hint: 'KYBATCH_V2_API_KEY is mistyped or revoked. Check it, free of charge: `kybatch doctor`',
    };
  }
  if (status === 429) {
    const hint = 'Too many requests at once.';
    return { class: 'slow_down', code: 'TOO_MANY_REQUESTS', message, hint };
  }
  if (status >= 500 && status < 600) {
    const hint = 'The provider failed.';
    return { class: 'retry', code: 'SERVER_FAILURE', message, hint };
  }
  if (status >= 300 && status < 400) {
    return {
      class: 'stop_run',
      stop: 'route',
      code: 'REDIRECT_REFUSED',
      message: `${operation.api} answered ${status}, a redirect`,
      hint: `kybatch sends the key to one address only: ${routeAdvice(operation)}`,
    };
  }
  if (status === 404 || status === 405) {
    const hint = `The provider does not know this route: ${routeAdvice(operation)}`;
    return { class: 'stop_run', stop: 'route', code: 'ROUTE_NOT_FOUND', message, hint };
  }
  // The document shows all error bodies, so any other form is not from v2 itself.
  if (status >= 400 && status < 500) return { ...UNREADABLE, message };
  const hint = 'This is not a valid HTTP status. Check proxies between this machine and the provider.';
  return { class: 'retry', code: `HTTP_${status}`, message, hint };
}

const routeAdvice = (operation: Operation): string =>
  operation.api === 'mcp' ? 'check KYBATCH_MCP_URL.' : v2RouteAdvice(operation);

const v2RouteAdvice = (operation: Operation): string =>
  operation.route === null
    ? `check method and path of ${operation.name} in the routes file (KYBATCH_V2_ROUTES). KYBATCH_V2_BASE_URL must end with the v2 segment.`
    : 'check KYBATCH_V2_BASE_URL, which must end with the v2 segment.';

const capProblems = (problems: readonly string[]) => problems.slice(0, 20).map((problem) => sanitizeText(problem, 500));

/** The kind of a body, by its form alone: the status codes of v2's errors are not published (V2-1). */
export type BodyShape =
  | { readonly kind: 'limit'; readonly access: LimitAccess; readonly guard: string; readonly message: string }
  | { readonly kind: 'detail'; readonly detail: string }
  | { readonly kind: 'rule'; readonly messages: readonly string[] }
  | { readonly kind: 'validation'; readonly reasons: ReadonlyMap<string, readonly string[]> }
  /** JSON of another form: an answer, as far as its outline shows. */
  | { readonly kind: 'other' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'not_json' };

export interface LimitAccess {
  readonly permission: string;
  readonly permissionName: string;
  readonly module: string;
  readonly moduleName: string;
}

/** Scans the outline first: an 80 KB answer is not parsed just to see that it is no error. */
export function shapeOf(body: Buffer): BodyShape {
  if (body.every(isBlank)) return { kind: 'empty' };
  if (body.length > ERROR_AT_MOST) return { kind: hasMatchingEnds(body) ? 'other' : 'not_json' };
  try {
    const shell = scanJson(body);
    if (shell.kind === 'object') return objectShape(body, shell.members);
    // The outline recognizes a scalar only by its first letter, so it is parsed, which is cheap.
    if (shell.kind === 'scalar') parseExact(body);
    return { kind: 'other' };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'not_json' };
    throw error;
  }
}

/**
 * No error body is this long. The two ends show whether a longer one is complete. Scanning it would cost more than
 * fetching it.
 */
const ERROR_AT_MOST = 16_384;

type Members = Extract<JsonOutline, { kind: 'object' }>['members'];

function objectShape(body: Buffer, members: Members): BodyShape {
  const access = members.get('access');
  const guard = members.get('error_guard');
  if (access !== undefined && guard !== undefined) {
    return {
      kind: 'limit',
      access: readAccess(parseMember(body, access)),
      guard: plainText(parseMember(body, guard)),
      message: plainText(parseMember(body, members.get('message_guard'))),
    };
  }
  const detail = members.get('detail');
  if (detail !== undefined && body[detail.start] === QUOTE) {
    return { kind: 'detail', detail: plainText(parseMember(body, detail)) };
  }
  const reasons = members.size > 0 && allListsOfText(body, members) ? readReasons(body, members) : undefined;
  const fields = members.get('fields');
  if (fields !== undefined && body[fields.start] === OPEN_BRACKET && (reasons === undefined || members.size === 1)) {
    const messages = parseMember(body, fields);
    return { kind: 'rule', messages: Array.isArray(messages) ? messages.map(plainText) : [] };
  }
  return reasons === undefined ? { kind: 'other' } : { kind: 'validation', reasons };
}

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;

const isBlank = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Each list must contain a reason: an object with only empty lists is an answer. */
function allListsOfText(body: Buffer, members: Members): boolean {
  for (const { start } of members.values()) {
    if (body[start] !== OPEN_BRACKET) return false;
    let first = start + 1;
    while (first < body.length && isBlank(body[first] as number)) first++;
    if (body[first] !== QUOTE) return false;
  }
  return true;
}

function readReasons(body: Buffer, members: Members): ReadonlyMap<string, readonly string[]> | undefined {
  const reasons = new Map<string, readonly string[]>();
  for (const [name, range] of members) {
    const list = parseMember(body, range);
    if (!Array.isArray(list) || !list.every((reason) => typeof reason === 'string')) return undefined;
    reasons.set(name, list);
  }
  return reasons;
}

const parseMember = (body: Buffer, range: MemberRange | undefined): unknown =>
  range === undefined ? undefined : parseExact(body.subarray(range.start, range.end));

function readAccess(value: unknown): LimitAccess {
  const access = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const permission = plainText(access.permission) || 'unknown';
  const module = plainText(access.module) || 'unknown';
  return {
    permission,
    permissionName: plainText(access.permission_name) || permission,
    module,
    moduleName: plainText(access.module_name) || module,
  };
}

function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value instanceof ExactNumber ? value.text : '';
}
