import { sanitizeText } from '../../util/sanitize-text.js';
import { type Exchange, hasDateForm } from '../http.js';

/** The units and quota that v1 reports. An absent or unreadable header is null. The raw text is kept (V1-3). */
export interface V1Allowance {
  readonly unitsCharged: number | null;
  readonly remainingUnits: number | null;
  /** Free workspaces only. */
  readonly quota: V1Quota | null;
}

export interface V1Quota {
  readonly dailyLimit: number | null;
  readonly dailyRemaining: number | null;
  /** Milliseconds since the epoch: the header's time, or the next UTC midnight if it is unreadable. */
  readonly resetAtMs: number;
  /** The three headers as they came, fit for storage. */
  readonly raw: { readonly limit: string | null; readonly remaining: string | null; readonly reset: string | null };
}

export function readAllowance(headers: Exchange['headers'], nowMs: number): V1Allowance {
  return {
    unitsCharged: count(headers['x-service-units'], UNITS_A_CALL),
    remainingUnits: count(headers['x-service-remaining-units'], UNITS_AT_MOST),
    quota: readQuota(headers, nowMs),
  };
}

/** The charge that v1 states, with or without an answer. Undefined if it states none. */
export function statedCharge(headers: Exchange['headers']): 'charged' | 'free' | undefined {
  const units = count(headers['x-service-units'], UNITS_A_CALL);
  return units === null ? undefined : units > 0 ? 'charged' : 'free';
}

/** The units of a success. The document says 1. A higher stated number counts, a lower one does not. */
export const unitsOfSuccess = ({ unitsCharged }: V1Allowance): number => Math.max(1, unitsCharged ?? 1);

/** The units that v1 states for a success if they differ from the documented 1, and the units counted. */
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
 * The format is not published. A number up to a week is a delta in seconds, ten digits are epoch seconds, thirteen are
 * epoch milliseconds. Anything else is read as an ISO or HTTP date. A reset in the past or more than a year ahead
 * counts as a misreading.
 */
function readReset(text: string | null, nowMs: number): number | undefined {
  const value = text?.trim() ?? '';
  if (value === '') return undefined;
  const numeric = /^\d+(?:\.\d*)?$/.test(value);
  const at = numeric ? readNumericReset(Number(value), nowMs) : hasDateForm(value) ? Date.parse(value) : undefined;
  if (at === undefined || Number.isNaN(at) || at < nowMs - DAY_MS || at > nowMs + 366 * DAY_MS) return undefined;
  // Whole milliseconds, never too early.
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

/** One call costs 1. A higher number is believed up to this value. More is a misreading. */
const UNITS_A_CALL = 10_000;
/** More is a misreading: the sums would exceed what a number can hold. */
const UNITS_AT_MOST = 1e9;

function count(text: string | null | undefined, atMost: number): number | null {
  if (text == null || !/^\d{1,15}$/.test(text.trim())) return null;
  const value = Number(text);
  return value <= atMost ? value : null;
}
