import { outsideText } from '../util/outside-text.js';

/** One completed HTTP exchange: everything the provider said, byte for byte. */
export interface Exchange {
  readonly status: number;
  /** Names in lower case. A header that came several times is joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The decoded body, exactly as it came, but for our own key (`redactAnswer`). */
  readonly body: Buffer;
  readonly durationMs: number;
}

/** JSON never begins with `<`, so a body that does is a page, not an answer that was cut. */
export const isHtml = (body: Uint8Array): boolean => {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  return body.find((byte, at) => at >= start && byte > 0x20) === 0x3c;
};

/**
 * Retry-After as seconds or as a date; undefined where it is absent, in the past or unreadable. Date.parse makes a date
 * of almost anything (`1.5` is a day in 2001), so only what has the form of one is given to it.
 */
export function retryAfterMs(headers: Exchange['headers'], nowMs: number): number | undefined {
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d+(?:\.\d*)?$/.test(value)) return Math.min(Math.ceil(Number(value) * 1000), LONGEST_MS);
  if (!hasDateForm(value)) return undefined;
  const afterMs = Date.parse(value) - nowMs;
  return afterMs >= 0 ? Math.min(afterMs, LONGEST_MS) : undefined;
}

/** The time that an answer says it was made; undefined where that is absent or unreadable. */
export function dateIn(headers: Exchange['headers']): number | undefined {
  const value = headers.date?.trim() ?? '';
  const at = value.length < 64 && DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/** What the provider's support is told; it is kept with the call (V1-18). */
export function requestIdIn(headers: Exchange['headers']): string | undefined {
  const id = headers['x-service-request-id'] ?? headers['x-request-id'];
  return id === undefined ? undefined : outsideText(id, 200);
}
/** A year: more is no wait that anybody means, and any number of digits may come. */
const LONGEST_MS = 366 * 86_400_000;

/** An HTTP date in one of its three forms, or an ISO date. A header may have 16 KB, and no date is as long. */
export const hasDateForm = (text: string): boolean => text.length <= 100 && DATE.test(text);

const DATE = /^(?:[A-Z][a-z]{2,8},? .*\d{1,2}:\d{2}:\d{2}.*|\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?)$/;
