import { outsideText } from '../util/outside-text.js';

/** One completed HTTP exchange: everything the provider said, byte for byte. */
export interface Exchange {
  readonly status: number;
  /** Names in lower case. A header that came several times is joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The decoded body, exactly as it came. */
  readonly body: Buffer;
  readonly durationMs: number;
}

/** JSON never begins with `<`, so a body that does is a page, not an answer that was cut. */
export const isHtml = (body: Uint8Array): boolean => {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  return body.find((byte, at) => at >= start && byte > 0x20) === 0x3c;
};

/** Retry-After as seconds or as an HTTP date; undefined where it is absent or unreadable. */
export function retryAfterMs(headers: Exchange['headers'], nowMs: number): number | undefined {
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** What the provider's support is told; it is kept with the call (V1-18). */
export function requestIdIn(headers: Exchange['headers']): string | undefined {
  const id = headers['x-service-request-id'] ?? headers['x-request-id'];
  return id === undefined ? undefined : outsideText(id, 200);
}
