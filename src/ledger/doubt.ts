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
