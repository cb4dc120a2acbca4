import type { KybatchError } from '../domain/errors.js';
import type { WatchHalt } from '../portfolio/watch/asking.js';
import { ParkedError } from './parked-error.js';

/** How a talk with the provider's watch came to its end. */
export interface WatchEnd {
  /** What ended it before its time: an allowance, a key that is refused, a provider that is down. */
  readonly stopped: KybatchError | null;
  readonly interrupted: boolean;
}

export function endOfWatch(halt: WatchHalt | null): WatchEnd {
  if (halt === null) return { stopped: null, interrupted: false };
  if (halt.kind === 'stopped') return { stopped: halt.error, interrupted: false };
  const interrupted = halt.reason === 'draining';
  return { stopped: interrupted ? null : new ParkedError(halt), interrupted };
}
