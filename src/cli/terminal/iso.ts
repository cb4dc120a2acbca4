import { isoTime } from '../../util/iso-time.js';

/** A time as JSON has it; null stays null. */
export const iso = (at: number | null): string | null => (at === null ? null : isoTime(at));
