import type { ApiError } from '../api/errors.js';
import type { Exchange } from '../api/exchange.js';
import type { ApiName } from '../api/operation.js';
import { readAllowance } from '../api/v1/allowance.js';
import type { Settlement } from '../ledger/ledger.js';

/** What is written down about a call that succeeded. */
export function settlementOf(
  { api, operation, own }: { readonly api: ApiName; readonly operation: string; readonly own: boolean },
  params: string,
  { headers, status, durationMs, body }: Exchange,
  now: number,
): Settlement {
  const v1 = api === 'v1' ? readAllowance(headers, now) : null;
  return {
    settledAt: now,
    durationMs,
    httpStatus: status,
    errorClass: null,
    errorCode: null,
    requestId: headers['x-service-request-id'] ?? headers['x-request-id'] ?? null,
    charge: isFree(operation) ? 'free' : 'charged',
    // Each v1 success costs one unit, whether or not the header says so. v2 does not count in units.
    unitsCharged: v1 === null ? null : (v1.unitsCharged ?? 1),
    remainingUnits: v1?.remainingUnits ?? null,
    body,
    answer: own && (api === 'v2' || looksWhole(body)) ? { params } : null,
  };
}

/**
 * v1 answers with an object or an array. One that was cut is paid for, and kept, but not owned: otherwise a retry of the
 * row would meet the same half for as long as an answer is good for. v2's bodies are told apart before they come here.
 */
function looksWhole(body: Buffer): boolean {
  const text = body.toString('latin1', 0, 64).trimStart();
  const end = body.toString('latin1', Math.max(0, body.length - 64)).trimEnd();
  return (text.startsWith('{') && end.endsWith('}')) || (text.startsWith('[') && end.endsWith(']'));
}

/** What is written down about a call that brought no answer. */
export function refusalOf(error: ApiError, now: number): Settlement {
  const charge = isFree(error.operation) ? 'free' : error.charge;
  return {
    settledAt: now,
    durationMs: error.exchange?.durationMs ?? null,
    httpStatus: error.httpStatus ?? null,
    errorClass: error.class,
    errorCode: error.code,
    requestId: error.requestId ?? null,
    charge,
    unitsCharged: charge === 'free' ? 0 : null,
    remainingUnits: null,
    // An answer that we could not read may have been paid for: its bytes are kept.
    body: error.code === 'UNEXPECTED_BODY' ? (error.exchange?.body ?? null) : null,
    answer: null,
  };
}

/** Generating a report is what is paid for: asking whether it is ready and re-opening it are not (V2-6). */
export const isFree = (operation: string): boolean => FREE.has(operation);

const FREE: ReadonlySet<string> = new Set([
  'creditReportStatus',
  'creditReportFetch',
  'creditReportHistory',
  'metrics',
  'metricsContacts',
  'nomenclature',
]);
