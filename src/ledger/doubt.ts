import type { CallContext } from './intent.js';

/**
 * Calls for one request that may have been charged, and must not just be repeated. Those that a person has let go on are
 * not counted; they still have their end.
 */
export interface Doubt {
  /** Nothing came back. */
  readonly lost: number;
  /** The provider answered, with a failure. */
  readonly answered: number;
  /** When the last of them was given up; 0 if there is none. */
  readonly lastEndedAt: number;
}

/** What a doubt is about: the request; for a report its company, whatever else is asked for with it. */
export type Doubtful = Pick<CallContext, 'environmentId' | 'requestKey' | 'meter' | 'subject'>;
