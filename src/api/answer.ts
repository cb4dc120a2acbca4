import { type ExactJson, parseExact } from '../util/exact-json.js';
import { findMember } from '../util/json-shell.js';
import { describeIssues } from './describe-issues.js';
import { ApiError } from './errors.js';
import { isHtml } from './exchange.js';
import type { BodyOf, Operation } from './operation.js';

/** Parses and checks a body against what the document shows. The value handed on is the parsed tree itself. */
export function readAnswer<O extends Operation>(operation: O, body: Buffer): BodyOf<O> {
  const value = parseBody(operation, body);
  const checked = operation.body.safeParse(value);
  if (!checked.success) throw unexpectedBody(operation, describeIssues(checked.error, value));
  return value as BodyOf<O>;
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

function parseBody(operation: Operation, body: Buffer): ExactJson {
  if (operation.emptyBody === true && body.toString('latin1').trim() === '') return null;
  if (operation.htmlBody === true && isHtml(body)) return body.toString('utf8');
  try {
    return parseExact(body);
  } catch (cause) {
    throw unexpectedBody(operation, [cause instanceof Error ? cause.message : 'not JSON'], cause);
  }
}

export function unexpectedBody(operation: Operation, problems: readonly string[], cause?: unknown): ApiError {
  return new ApiError({
    class: 'fail_row',
    code: 'UNEXPECTED_BODY',
    message: `${operation.name} answered in an unexpected form: ${problems.slice(0, 5).join('; ')}`,
    hint: 'The answer is kept as it came. It is not asked for again: it may have been paid for.',
    api: operation.api,
    operation: operation.name,
    charge: operation.api === 'v1' ? 'charged' : 'unknown',
    problems,
    cause,
  });
}
