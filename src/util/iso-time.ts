/** The last moment that a Date can hold, either way. */
const LAST_MS = 8_640_000_000_000_000;

/** A time as text; null where it is none: a stored number can be damaged, and who looks is not ended by that. */
export const isoTime = (ms: number): string | null => (Math.abs(ms) <= LAST_MS ? new Date(ms).toISOString() : null);
