/** One key a time; the end of it ends what listens. */
export interface Keys extends AsyncIterable<string, undefined> {
  /** Forgets what was pressed until now. */
  drop(): Promise<void>;
}
