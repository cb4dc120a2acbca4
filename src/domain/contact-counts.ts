/** A range of time as `/metrics/contacts` takes it: text, because its zone is not shown (V2-14). */
export interface ContactRange {
  readonly dateFrom: string;
  readonly dateTo: string;
}

/** How many contacts the account has revealed in a range, whoever did. */
export interface ContactCounts extends ContactRange {
  /** Null where the provider did not tell a number. */
  readonly emailCount: number | null;
  readonly phoneCount: number | null;
  /** What else it said, as JSON; null where it said no more. */
  readonly extra: string | null;
}

const DAY_MS = 86_400_000;
/** The last day that can be written with four digits of a year, with the margin. */
const LAST_MS = 253_402_300_799_999 - DAY_MS;

/** Whole days with one more on either side: whatever zone the provider reads them in, nothing between the two is left out. */
export const wholeDays = (fromMs: number, toMs: number): ContactRange => ({
  dateFrom: `${dayOf(fromMs - DAY_MS)} 00:00:00`,
  dateTo: `${dayOf(Math.max(fromMs, toMs) + DAY_MS)} 23:59:59`,
});

const dayOf = (ms: number): string => new Date(Math.min(Math.max(ms, 0), LAST_MS)).toISOString().slice(0, 10);
