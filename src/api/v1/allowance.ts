import { sanitizeText } from '../../util/sanitize-text.js';
import { type Exchange, hasDateForm } from '../http.js';

/** What v1 says about units and quota. A header that is absent or unreadable is null; the raw text is kept (V1-3). */
export interface V1Allowance {
  readonly unitsCharged: number | null;
  readonly remainingUnits: number | null;
  /** Free workspaces only. */
  readonly quota: V1Quota | null;
}

export interface V1Quota {
  readonly dailyLimit: number | null;
  readonly dailyRemaining: number | null;
  /** Milliseconds since the epoch: as the header says, or the next UTC midnight where it cannot be read. */
  readonly resetAtMs: number;
  /** The three headers as they came, fit to be kept. */
  readonly raw: { readonly limit: string | null; readonly remaining: string | null; readonly reset: string | null };
}

export function readAllowance(headers: Exchange['headers'], nowMs: number): V1Allowance {
  return {
    unitsCharged: count(headers['x-service-units'], UNITS_A_CALL),
    remainingUnits: count(headers['x-service-remaining-units'], UNITS_AT_MOST),
    quota: readQuota(headers, nowMs),
  };
}

/** What v1 says itself that a call has cost, with an answer or without; undefined where it says nothing. */
export function statedCharge(headers: Exchange['headers']): 'charged' | 'free' | undefined {
  const units = count(headers['x-service-units'], UNITS_A_CALL);
  return units === null ? undefined : units > 0 ? 'charged' : 'free';
}

/** What a success has cost. Its document says 1; more counts where v1 says so, less does not. */
export const unitsOfSuccess = ({ unitsCharged }: V1Allowance): number => Math.max(1, unitsCharged ?? 1);

/** What v1 says that a success has cost, where it is not the one unit of its document, and what is counted for it. */
export function unexpectedUnits(
  headers: Exchange['headers'],
): { readonly said: string; readonly counted: number } | undefined {
  const said = headers['x-service-units'];
  if (said === undefined || said.trim() === '1') return undefined;
  return { said: sanitizeText(said, 40), counted: Math.max(1, count(said, UNITS_A_CALL) ?? 1) };
}

function readQuota(headers: Exchange['headers'], nowMs: number): V1Quota | null {
  const limit = headers['x-quota-daily-limit'] ?? null;
  const remaining = headers['x-quota-daily-remaining'] ?? null;
  const reset = headers['x-quota-daily-reset'] ?? null;
  if (limit === null && remaining === null && reset === null) return null;
  return {
    dailyLimit: count(limit, UNITS_AT_MOST),
    dailyRemaining: count(remaining, UNITS_AT_MOST),
    resetAtMs: readReset(reset, nowMs) ?? nextUtcMidnight(nowMs),
    raw: { limit: clean(limit), remaining: clean(remaining), reset: clean(reset) },
  };
}

const clean = (text: string | null) => (text === null ? null : sanitizeText(text, 100));

const DAY_MS = 86_400_000;

/**
 * The format is not shown. A number is told by its size: up to a week is a delta in seconds, ten digits are epoch
 * seconds, thirteen are epoch milliseconds. Anything else is read as an ISO or HTTP date. A reset in the past, or more
 * than a year ahead, is taken for a misreading.
 */
function readReset(text: string | null, nowMs: number): number | undefined {
  const value = text?.trim() ?? '';
  if (value === '') return undefined;
  const numeric = /^\d+(?:\.\d*)?$/.test(value);
  const at = numeric ? readNumericReset(Number(value), nowMs) : hasDateForm(value) ? Date.parse(value) : undefined;
  if (at === undefined || Number.isNaN(at) || at < nowMs - DAY_MS || at > nowMs + 366 * DAY_MS) return undefined;
  // Whole milliseconds, and not before its time.
  return Math.ceil(at);
}

function readNumericReset(value: number, nowMs: number): number | undefined {
  if (value <= 7 * 86_400) return nowMs + value * 1000;
  if (value >= 1e9 && value < 1e11) return value * 1000;
  if (value >= 1e12 && value < 1e14) return value;
  return undefined;
}

/** The free allowance is counted in UTC days (V1-2). */
export function nextUtcMidnight(nowMs: number): number {
  return (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
}

/** One call is said to cost 1. A provider that says more is believed up to here: beyond it is a misreading. */
const UNITS_A_CALL = 10_000;
/** So many digits are a misreading in any case: added up, they are more than a number can hold. */
const UNITS_AT_MOST = 1e9;

function count(text: string | null | undefined, atMost: number): number | null {
  if (text == null || !/^\d{1,15}$/.test(text.trim())) return null;
  const value = Number(text);
  return value <= atMost ? value : null;
}
