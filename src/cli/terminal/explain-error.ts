import { ApiError } from '../../api/errors.js';
import { KybatchError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';

export interface ErrorView {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly class?: string;
  readonly http_status?: number | undefined;
  readonly request_id?: string | undefined;
  readonly problems?: readonly string[];
}

export interface Explained {
  readonly view: ErrorView;
  readonly exit: ExitCode;
}

/** Whatever a command threw, in words for people and scripts, and as the exit code. */
export function explainError(error: unknown): Explained {
  if (error instanceof ApiError) return { view: describeApiError(error), exit: error.exit };
  if (!(error instanceof KybatchError) || error.code === 'INTERNAL') return defect(error);
  const { code, message, hint, exit } = error;
  // Who reads the mail of a cron job finds the cause by its code.
  return { view: { code, message: exit === ExitCode.internal ? `${code}: ${message}` : message, hint }, exit };
}

function describeApiError(error: ApiError): ErrorView {
  const { code, message, hint, httpStatus, requestId, problems } = error;
  const where = requestId === undefined ? '' : ` [request ${requestId}]`;
  return {
    code,
    message: `${code}: ${message}${where}`,
    hint,
    class: error.class,
    http_status: httpStatus,
    request_id: requestId,
    problems,
  };
}

function defect(error: unknown): Explained {
  const view = { code: 'INTERNAL', message: stackOf(error), hint: 'This is a defect of kybatch.' };
  return { view, exit: ExitCode.internal };
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by: ${stackOf(error.cause)}`;
}
