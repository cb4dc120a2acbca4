/** What the provider's own count says about calls whose charge nobody knew, from the answer before them to the one after. */
export interface UnitsTold {
  readonly calls: readonly number[];
  /** Units that remained before the first and after the last of them, told when nothing else was under way. */
  readonly from: number;
  readonly to: number;
  readonly toldAt: number;
  /** Units that other calls between the two are known to have been charged. */
  readonly known: number;
  /** Other calls between the two whose charge nobody knows. */
  readonly otherUnknown: number;
  /** When the last of the calls was begun. */
  readonly lastStartedAt: number;
  /** The allowance came back between the two: the figures have nothing to do with each other. */
  readonly renewed: boolean;
}

/** Units that are missing and not accounted for by calls whose charge is known. */
export const missingUnits = ({ from, to, known }: UnitsTold): number => from - to - known;

/**
 * Do the units that remain contradict this verdict? Fewer are missing than were to be charged, or some are missing that no
 * other call accounts for. Soon after a lost call the provider may still be at work on it, and charge for it yet.
 */
export function contradicts(told: UnitsTold, verdict: 'charged' | 'free'): boolean {
  const missing = missingUnits(told);
  if (told.renewed || missing < 0) return false;
  if (verdict === 'free') return missing > told.otherUnknown;
  return missing < told.calls.length && told.toldAt - told.lastStartedAt >= PROVIDER_GIVES_UP_MS;
}

/** The provider gives up after 25 s (V1-6); some slack for the way there. */
export const PROVIDER_GIVES_UP_MS = 30_000;
