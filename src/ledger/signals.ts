/**
 * What those who share a ledger tell each other at once. Nothing rests on it: one that is missed is found in the ledger, or met
 * at the provider's.
 */
export interface Signals {
  tell(signal: Signal): Promise<void>;
  /** Told of what others tell, until the returned way to stop is called. */
  listen(told: (signal: Signal) => void): Promise<() => Promise<void>>;
}

/** The provider has asked somebody to slow down. */
export interface Signal {
  readonly kind: 'slow_down';
  /** The start that was asked. */
  readonly startId: number;
  readonly environmentId: number;
  readonly pauseMs: number;
}
