// The client of v1, and the meaning of each error: which calls are tried again, and which stop the run.

import { z } from 'zod';
import { parseExact } from '../../util/exact-json.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { UNREADABLE, unreadableBody } from '../answer.js';
import { ApiClient, type ClientOptions, invalidParams, type PreparedCall } from '../client.js';
import { ApiError, type ApiErrorDetails } from '../errors.js';
import { type Exchange, requestIdIn, retryAfterMs, type WireRequest } from '../http.js';
import { type Operation, type Route, readsOneRecord } from '../operation.js';
import { statedCharge, unexpectedUnits } from './allowance.js';
import { v1Operations } from './operations.js';

/** The provider says 64 KB, which may be 64,000 or 65,536 bytes: the smaller is safe (V1-13). */
const BODY_LIMIT_BYTES = 64_000;

/** The KYB Company Data API (v1). Every success costs one unit. */
export class KybV1Client extends ApiClient<typeof v1Operations> {
  #versionWarned = false;
  #unitsWarned = false;

  constructor(options: ClientOptions) {
    super('v1', v1Operations, 'Bearer', options);
  }

  protected override classify(exchange: Exchange, { operation }: PreparedCall): ApiError | undefined {
    const error = v1Error(exchange, operation, this.clock.now());
    if (exchange.status === 200) this.#checkUnits(exchange);
    // An unreadable answer may not be from v1.
    if (error === undefined) this.#checkVersion(exchange);
    return error;
  }

  protected override routeOf(operation: Operation): Route {
    if (operation.route === null) throw new TypeError(`${operation.name} has no route`);
    return operation.route;
  }

  protected override requestIdOf(exchange: Exchange): string | undefined {
    return requestIdIn(exchange.headers);
  }

  protected override statedCharge({ headers }: Exchange): 'charged' | 'free' | undefined {
    return statedCharge(headers);
  }

  protected override checkWire(operation: Operation, wire: WireRequest): void {
    const size = wire.body === null ? 0 : Buffer.byteLength(wire.body);
    if (size > BODY_LIMIT_BYTES) {
      throw invalidParams(operation, [`the request body has ${size} bytes, the limit is ${BODY_LIMIT_BYTES}`]);
    }
  }

  #checkUnits({ headers }: Exchange): void {
    const odd = unexpectedUnits(headers);
    if (odd === undefined || this.#unitsWarned) return;
    this.#unitsWarned = true;
    this.warn(
      odd.counted > 1
        ? `v1 charged ${odd.counted} units for one call. Its document says 1. kybatch counts ${odd.counted}, also against --max-units`
        : `v1 reports ${JSON.stringify(odd.said)} units for a call. Its document says 1, so kybatch counts 1. If that is wrong, \`kybatch usage\` shows drift`,
      'UNITS_UNEXPECTED',
    );
  }

  #checkVersion(exchange: Exchange): void {
    const version = exchange.headers['service-api-version'];
    if (version === 'v1' || this.#versionWarned) return;
    this.#versionWarned = true;
    this.warn(
      `v1 answers as version ${version === undefined ? '(none)' : sanitizeText(version, 40)}. kybatch was written for v1`,
      'VERSION_UNEXPECTED',
    );
  }
}

/**
 * The error of an exchange. Undefined if it is a success. Failures of v1 are free (V1-1), unless it states a charge. An
 * unreadable answer or a gateway's page may have cost, because the call may have gone through behind it.
 */
export function v1Error(exchange: Exchange, operation: Operation, nowMs: number): ApiError | undefined {
  const { status, headers } = exchange;
  const success = status >= 200 && status < 300;
  const unreadable = status === 200 ? unreadableBody(operation, exchange.body) : undefined;
  if (status === 200 && unreadable === undefined) return undefined;
  const { isFromV1, ...meaning }: Described = success
    ? (unreadable ?? { ...UNREADABLE, message: `v1 answered ${status}, which is not documented` })
    : refused(exchange, operation);
  return new ApiError({
    ...meaning,
    api: 'v1',
    operation: operation.name,
    charge: statedCharge(headers) ?? (isFromV1 ? 'free' : 'unknown'),
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
  /** True if v1 itself refused, and no gateway. */
  readonly isFromV1?: true;
};

/** Every error of v1 has its documented form. Any other form is not from v1, whatever the status. */
function refused({ status, body }: Exchange, operation: Operation): Described {
  const said = readErrorBody(body);
  if (said === undefined) {
    const message = `v1 answered ${status}, in an undocumented form`;
    return { ...byAnother(status), code: `HTTP_${status}`, message, foreign: true };
  }
  const code = said.error.code.slice(0, 100);
  return {
    ...(byDocument(code, operation) ?? byStatus(status)),
    code,
    message: sanitizeText(said.error.message, 500),
    requestId: said.request_id,
    isFromV1: true,
  };
}

type Meaning = Pick<ApiErrorDetails, 'class' | 'hint' | 'stop' | 'limit'>;

const routeIsOurs: Meaning = {
  class: 'stop_run',
  stop: 'route',
  hint: 'The provider does not know this path. Check KYBATCH_V1_BASE_URL: it must end with the v1 segment.',
};
const tryAgain: Meaning = {
  class: 'retry',
  hint: 'The provider failed. That is free.',
};
const behindAGateway: Meaning = {
  class: 'retry',
  hint: 'The response is not from v1. A proxy or gateway may have answered.',
};
const neverSucceeds = (hint: string): Meaning => ({ class: 'fail_row', hint });
const keyRefused = (hint: string): Meaning => ({ class: 'stop_run', stop: 'credentials', hint });
const keyIsRefused = keyRefused(
  'The provider does not accept KYBATCH_V1_API_KEY. Check it, free of charge: `kybatch doctor`',
);
const slowDown: Meaning = { class: 'slow_down', hint: 'Too many requests at once.' };
const redirectRefused: Meaning = {
  class: 'stop_run',
  stop: 'route',
  hint: 'The provider answered with a redirect. kybatch sends the key to one address only. Check KYBATCH_V1_BASE_URL.',
};

/**
 * The document ties "no record" to a company ID. A search names none, and answers an empty list if it finds nothing.
 */
const noRecordOfSearch: Meaning = {
  class: 'retry',
  hint: 'The provider documents this code for company IDs only. For a search it does not mean that no company fits.',
};

function byDocument(code: string, operation: Operation): Meaning | undefined {
  if (code === 'DATA_SERVICE_404' && !readsOneRecord(operation)) return noRecordOfSearch;
  return Object.hasOwn(byCode, code) ? byCode[code] : undefined;
}

/** The error table of the v1 document, row by row. */
const byCode: Readonly<Record<string, Meaning>> = {
  INVALID_REQUEST: neverSucceeds('The provider refuses these values. Correct them.'),
  UNAUTHENTICATED: keyRefused('KYBATCH_V1_API_KEY is mistyped or revoked. Check it, free of charge: `kybatch doctor`'),
  PRODUCTION_KEY_REQUIRED: keyRefused(
    'KYBATCH_V1_API_KEY is a test key. Create a live key in the workspace dashboard.',
  ),
  INSUFFICIENT_SCOPE: {
    class: 'block_operation',
    hint: 'Give the key the scope named in the message. Other operations do not need it.',
  },
  API_ROUTE_NOT_FOUND: routeIsOurs,
  KYB_ROUTE_NOT_FOUND: routeIsOurs,
  DATA_SERVICE_404: { class: 'not_available', hint: 'The provider has no record for this company ID.' },
  BODY_TOO_LARGE: neverSucceeds('The request body is over 64 KB. Shorten its values.'),
  ALLOWANCE_EXHAUSTED: {
    class: 'park',
    limit: { api: 'v1' },
    hint: 'The allowance is used up. A free workspace gets three units at the next UTC midnight. The provider renews a paid plan.',
  },
  DATA_SERVICE_UNAVAILABLE: tryAgain,
  ACCOUNT_SERVICE_UNAVAILABLE: tryAgain,
  USAGE_LEDGER_UNAVAILABLE: tryAgain,
  DATA_SERVICE_TIMEOUT: tryAgain,
};

function byStatus(status: number): Meaning {
  if (status === 401) return keyIsRefused;
  if (status === 429) return slowDown;
  if (status >= 500) return tryAgain;
  if (status >= 300 && status < 400) return redirectRefused;
  // One company may be refused for a reason of its own. A key check that gets this finds the key or the address wrong.
  const stop = status === 403 ? 'credentials' : status === 404 ? 'route' : undefined;
  return { class: 'hold', stop, hint: 'The provider does not document this code. Ask the provider what is wrong.' };
}

/** For bodies of another form. The base URL or the key may be wrong, unless an earlier answer proves otherwise. */
function byAnother(status: number): Meaning {
  if (status === 401 || status === 403) return keyIsRefused;
  if (status === 429) return slowDown;
  if (status === 404) return routeIsOurs;
  return status >= 300 && status < 400 ? redirectRefused : behindAGateway;
}

const errorBody = z.object({
  error: z.object({ code: z.string().min(1), message: z.string() }),
  request_id: z.string().optional(),
});

/** A known code or the request ID of every v1 error tells it from similar errors of others. */
function readErrorBody(bytes: Buffer): z.infer<typeof errorBody> | undefined {
  try {
    const { data } = errorBody.safeParse(parseExact(bytes));
    const isOfV1 = data?.request_id !== undefined || Object.hasOwn(byCode, data?.error.code ?? '');
    return isOfV1 ? data : undefined;
  } catch {
    return undefined;
  }
}
