import type { CallContext } from './intent.js';

/**
 * Calls for one request that may have been charged, and must not just be repeated. Those that a person has let go on are
 * not counted; they still have their end.
 */
export interface Doubt {
  /** Nothing came back, and nothing has told since whether it was charged. */
  readonly lost: number;
  /** The provider answered: with a failure, or with something that nobody can read. */
  readonly answered: number;
  /**
   * Paid for, for all one knows, and for nothing: successes that nobody can read, failures that nobody calls free
   * (V2-17; of a report they are only `answered`), lost calls that were charged.
   */
  readonly inVain: number;
  /** Of those, in the start that asks. */
  readonly inVainNow: number;
  /** How many other starts met some. */
  readonly inVainStarts: number;
  /** Answers that are whole, and cannot be read in one way: the next would be the same. */
  readonly malformed: number;
  /** When the last of them was given up; 0 if there is none. */
  readonly lastEndedAt: number;
}

/** What a doubt is about: the request; for a report its company, whatever else is asked for with it. */
export type Doubtful = Pick<CallContext, 'environmentId' | 'requestKey' | 'meter' | 'subject'> & {
  /** The start that asks. */
  readonly startId?: number;
};
