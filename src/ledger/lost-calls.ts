import { PROVIDER_GIVES_UP_MS } from './units-told.js';

/** What is known when nothing is in flight. */
export interface AnchorFacts {
  readonly anchorUnits: number | null;
  readonly resetAt: number | null;
  readonly remainingUnits: number;
  /** Units that answers since the anchor are known to have been charged. */
  readonly known: number;
  /** Calls since the anchor whose charge is unknown. */
  readonly lost: readonly LostCall[];
  readonly now: number;
}

export interface LostCall {
  readonly startedAt: number;
  /** Null: nothing came back. */
  readonly httpStatus: number | null;
}

export type AnchorVerdict =
  /** The provider may still be at work on a lost call, and charge for it yet. */
  | { readonly kind: 'too_early' }
  | {
      readonly kind: 'anchor';
      /** What the lost calls are settled as; null: they stay flagged, or there are none. */
      readonly settle: 'charged' | 'free' | null;
      readonly note: string;
      /** Units that nobody accounts for. */
      readonly drift: number;
    };

/**
 * At an anchor nothing was in flight: the units that remained then, less what we know to have been charged since, must
 * be what remains now. What is missing is what the lost calls cost: all of it or none of it settles them, anything
 * between stays flagged (V1-5).
 */
export function judgeLostCalls(facts: AnchorFacts): AnchorVerdict {
  const { anchorUnits, resetAt, remainingUnits, known, lost, now } = facts;
  const settled = (settle: 'charged' | 'free' | null, drift: number, note = ''): AnchorVerdict => ({
    kind: 'anchor',
    settle,
    note,
    drift,
  });
  if (anchorUnits === null) return settled(null, 0);
  const missing = anchorUnits - remainingUnits - known;
  // A new day, a renewed plan: the two figures have nothing to do with each other.
  if (missing < 0 || (resetAt !== null && resetAt <= now)) return settled(null, 0);
  if (lost.length === 0) return settled(null, missing);
  const note = `the remaining units fell from ${anchorUnits} to ${remainingUnits}; ${missing} of them ${missing === 1 ? 'belongs' : 'belong'} to ${lost.length} lost ${lost.length === 1 ? 'call' : 'calls'}`;
  if (missing === lost.length) return settled('charged', 0, note);
  if (lost.some((call) => mayBeAtWork(call, now))) return { kind: 'too_early' };
  return settled(missing === 0 ? 'free' : null, missing, note);
}

/** What was answered is over, if not as it should be. Behind a gateway that has given up the work may go on. */
const mayBeAtWork = ({ startedAt, httpStatus }: LostCall, now: number): boolean =>
  (httpStatus === null || httpStatus >= 500) && now - startedAt < PROVIDER_GIVES_UP_MS;
