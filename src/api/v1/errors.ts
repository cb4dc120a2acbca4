import { z } from 'zod';
import { parseExact } from '../../util/exact-json.js';
import { outsideText } from '../../util/outside-text.js';
import { UNREADABLE, unreadableMessage, whyUnreadable } from '../answer.js';
import { ApiError, type ApiErrorDetails } from '../errors.js';
import { type Exchange, retryAfterMs } from '../exchange.js';
import { type Operation, readsOne } from '../operation.js';
import { chargeSaid } from './allowance.js';

/**
 * What the exchange means, if it is not a success. Failures of v1 cost nothing (V1-1), unless it says itself that they
 * did. What is not v1's own word may have cost: an answer that is not what the operation returns (X-1), or the page of a
 * gateway, behind which the call may have gone through.
 */
export function v1Error(exchange: Exchange, operation: Operation, nowMs: number): ApiError | undefined {
  const { status, headers } = exchange;
  const success = status >= 200 && status < 300;
  const problems = status === 200 ? whyUnreadable(operation, exchange.body) : [];
  if (status === 200 && problems.length === 0) return undefined;
  const { isOwnWord, ...meaning } = success ? unreadable(status, operation, problems) : refused(exchange, operation);
  return new ApiError({
    ...meaning,
    api: 'v1',
    operation: operation.name,
    charge: chargeSaid(headers) ?? (isOwnWord ? 'free' : 'unknown'),
    httpStatus: status,
    requestId: meaning.requestId ?? headers['x-service-request-id'],
    retryAfterMs: retryAfterMs(headers, nowMs),
    exchange,
  });
}

type Described = Pick<
  ApiErrorDetails,
  'class' | 'hint' | 'stop' | 'limit' | 'code' | 'message' | 'requestId' | 'problems' | 'foreign'
> & {
  /** v1 itself has refused. */
  readonly isOwnWord: boolean;
};

/** Only a 200 is a success that the document knows. */
const unreadable = (status: number, operation: Operation, problems: readonly string[]): Described => ({
  ...UNREADABLE,
  message:
    status === 200 ? unreadableMessage(operation, problems) : `v1 answered ${status}, which its document does not know`,
  problems,
  isOwnWord: false,
});

function refused({ status, body }: Exchange, operation: Operation): Described {
  const said = readErrorBody(body);
  const code = said?.error.code.slice(0, 100) ?? `HTTP_${status}`;
  const isPage = said === undefined && isOfAnother(body);
  return {
    ...(byDocument(code, operation) ?? byStatus(status, said !== undefined, isPage)),
    code,
    message: outsideText(said?.error.message ?? `v1 answered ${status} without an error body`, 500),
    requestId: said?.request_id,
    foreign: said === undefined,
    isOwnWord: said !== undefined || (REFUSED_AT_THE_DOOR.has(status) && !(isPage && ABOUT_THE_REQUEST.has(status))),
  };
}

/** Statuses of the document with which nothing is done for the request, in whatever words; a 5xx may come too late. */
const REFUSED_AT_THE_DOOR: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 413, 429]);

/** Of those, what would fail a row. A page is no word of v1 about any row: something on the way has not understood us. */
const ABOUT_THE_REQUEST: ReadonlySet<number> = new Set([400, 405, 413]);

/** Everything that v1 says is JSON. */
function isOfAnother(body: Buffer): boolean {
  if (body.toString('latin1').trim() === '') return false;
  try {
    parseExact(body);
    return false;
  } catch {
    return true;
  }
}

type Meaning = Pick<ApiErrorDetails, 'class' | 'hint' | 'stop' | 'limit'>;

const routeIsOurs: Meaning = {
  class: 'stop_run',
  stop: 'route',
  hint: 'The request went to a route the provider does not know. Check KYBATCH_V1_BASE_URL: it ends in the v1 segment.',
};
const tryAgain: Meaning = {
  class: 'retry',
  hint: 'The provider stumbled; the call is sent again and costs nothing until it succeeds.',
};
const behindAGateway: Meaning = {
  class: 'retry',
  hint: 'The answer has not the form of an error of v1: something before it stumbled. The call is sent again; whether it was charged is not known.',
};
const neverSucceeds = (hint: string): Meaning => ({ class: 'fail_row', hint });
const keyRefused = (hint: string): Meaning => ({ class: 'stop_run', stop: 'credentials', hint });

/** The document ties "no record" to a company ID. A search names none, and one that finds nobody answers an empty list. */
const saysNothingOfASearch: Meaning = {
  class: 'retry',
  hint: 'The document knows this code for a company ID alone, and a search names none: it does not mean that nobody fits. The call is sent again and costs nothing until it succeeds.',
};

function byDocument(code: string, operation: Operation): Meaning | undefined {
  if (code === 'DATA_SERVICE_404' && !readsOne(operation)) return saysNothingOfASearch;
  return Object.hasOwn(byCode, code) ? byCode[code] : undefined;
}

/** The error table of the v1 document, row by row. */
const byCode: Readonly<Record<string, Meaning>> = {
  INVALID_REQUEST: neverSucceeds('The provider refuses these values. Correct the row and retry it.'),
  UNAUTHENTICATED: keyRefused(
    'Check KYBATCH_V1_API_KEY: it is missing, mistyped or revoked. `kybatch doctor` checks it for 0 units.',
  ),
  PRODUCTION_KEY_REQUIRED: keyRefused('This is a test key. Create a live key in the workspace dashboard.'),
  INSUFFICIENT_SCOPE: {
    class: 'block_operation',
    hint: 'Give the key the scope named in the message; other operations go on without it.',
  },
  API_ROUTE_NOT_FOUND: routeIsOurs,
  KYB_ROUTE_NOT_FOUND: routeIsOurs,
  DATA_SERVICE_404: { class: 'not_available', hint: 'The provider has no record for this company ID.' },
  BODY_TOO_LARGE: neverSucceeds('The request body is over 64 KB. Shorten the values of this row.'),
  ALLOWANCE_EXHAUSTED: {
    class: 'park',
    limit: { api: 'v1' },
    hint: 'The allowance is spent. A free workspace gets three more at the next UTC midnight; a paid plan is renewed by the provider.',
  },
  DATA_SERVICE_UNAVAILABLE: tryAgain,
  ACCOUNT_SERVICE_UNAVAILABLE: tryAgain,
  USAGE_LEDGER_UNAVAILABLE: tryAgain,
  DATA_SERVICE_TIMEOUT: tryAgain,
};

/** For codes the document does not list, and bodies that are not in its form. */
function byStatus(status: number, explained: boolean, isPage: boolean): Meaning {
  if (status === 401 || status === 403)
    return keyRefused('The provider refuses the key. `kybatch doctor` checks it for 0 units.');
  if (status === 429) return { class: 'slow_down', hint: 'Too many requests at once; calls go on more slowly.' };
  if (status >= 500) return explained ? tryAgain : behindAGateway;
  // A 404 in another form cannot mean "no such company": that has its own code (V1-11).
  if (status === 404) return routeIsOurs;
  if (status >= 300 && status < 400) {
    return {
      class: 'stop_run',
      stop: 'route',
      hint: 'The provider answered with a redirect, which is refused: the key goes to one origin only. Check KYBATCH_V1_BASE_URL.',
    };
  }
  // The document lists these. Another one without an error body is not v1's own word (X-1).
  if (explained || (ABOUT_THE_REQUEST.has(status) && !isPage))
    return neverSucceeds('The provider refuses this request.');
  return {
    class: 'retry',
    hint: 'The answer has not the form of an error of v1. Check what stands between here and it.',
  };
}

const errorBody = z.looseObject({
  error: z.looseObject({ code: z.string().min(1), message: z.string() }),
  request_id: z.string().optional(),
});

function readErrorBody(bytes: Buffer): z.infer<typeof errorBody> | undefined {
  try {
    return errorBody.safeParse(parseExact(bytes)).data;
  } catch {
    return undefined;
  }
}
