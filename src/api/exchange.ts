/** One completed HTTP exchange: everything the provider said, byte for byte. */
export interface Exchange {
  readonly status: number;
  /** Names in lower case. A header that came several times is joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** The decoded body, exactly as it came. */
  readonly body: Buffer;
  readonly durationMs: number;
}

/** Retry-After as seconds or as an HTTP date; undefined where it is absent or unreadable. */
export function retryAfterMs(headers: Exchange['headers'], nowMs: number): number | undefined {
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
