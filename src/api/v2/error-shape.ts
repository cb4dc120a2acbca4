import { ExactNumber, parseExact } from '../../util/exact-json.js';
import { closesWhatItOpens, type JsonShell, type MemberRange, scanShell } from '../../util/json-shell.js';

/** What a body is, told by its form alone: the status codes of v2's error bodies are not shown (V2-1). */
export type BodyShape =
  | { readonly kind: 'limit'; readonly access: LimitAccess; readonly guard: string; readonly message: string }
  | { readonly kind: 'detail'; readonly detail: string }
  | { readonly kind: 'rule'; readonly messages: readonly string[] }
  | { readonly kind: 'validation'; readonly reasons: ReadonlyMap<string, readonly string[]> }
  /** JSON of another form: an answer, as far as its shell tells. */
  | { readonly kind: 'other' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'not_json' };

export interface LimitAccess {
  readonly permission: string;
  readonly permissionName: string;
  readonly module: string;
  readonly moduleName: string;
}

/** Looks at the outside first: an answer of 80 KB is not parsed to learn that it is no error. */
export function shapeOf(body: Buffer): BodyShape {
  if (body.every(isBlank)) return { kind: 'empty' };
  if (body.length > ERROR_AT_MOST) return { kind: closesWhatItOpens(body) ? 'other' : 'not_json' };
  try {
    const shell = scanShell(body);
    if (shell.kind === 'object') return objectShape(body, shell.members);
    // The shell tells a scalar from its letters only; what is cheap to check is checked.
    if (shell.kind === 'scalar') parseExact(body);
    return { kind: 'other' };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'not_json' };
    throw error;
  }
}

/** No error body is this long. Of a longer one the ends tell whether it is whole; scanning it would cost more than fetching it. */
const ERROR_AT_MOST = 16_384;

type Members = Extract<JsonShell, { kind: 'object' }>['members'];

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

/** Each list must hold a reason: an answer whose lists are all empty is an answer. */
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
