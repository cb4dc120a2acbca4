// Statuses of stages, outcomes of rows, and guards.

export const STAGE_STATUSES = ['done', 'not_available', 'skipped', 'waiting', 'parked', 'failed', 'pending'] as const;
export type StageStatus = (typeof STAGE_STATUSES)[number];

/** The outcome of a row. The counts always add up to the number of rows. */
export const ROW_OUTCOMES = ['complete', 'no_match', 'needs_review', 'invalid', 'failed', 'pending'] as const;
export type RowOutcome = (typeof ROW_OUTCOMES)[number];

export const isStageFinished = (status: StageStatus | undefined): boolean =>
  status === 'done' || status === 'not_available' || status === 'skipped';

/** The status of a stage that a row has not reached: it still may, or the row ended before. */
export const unreachedStatus = (outcome: string): StageStatus => (outcome === 'pending' ? 'pending' : 'skipped');

/** Of several reasons why rows are on hold, the one that decides the exit code. */
export const decisiveHold = (parked: Readonly<Record<string, number>>): string | undefined => {
  const reasons = Object.keys(parked).filter((reason) => (parked[reason] ?? 0) > 0);
  return DECISIVE.find((reason) => reasons.includes(reason)) ?? reasons[0];
};

const DECISIVE = ['scope', 'budget', 'allowance', 'unanswered', 'in_doubt', 'ask_provider'];

/** Rows that are invalid for the same reason, with the first of them. */
export interface InvalidReason {
  readonly code: string;
  readonly rows: number;
  readonly row: number;
  readonly line: number;
  readonly message: string;
  readonly firstRows: readonly number[];
}

export const FIRST_ROWS = 4;

/**
 * Conditions that refuse an attempt before anything is spent. If `asks` is true and a person confirms the plan,
 * they are asked about the finding too. Otherwise it refuses. A new guard is one entry here and one function that finds
 * its condition.
 */
export const GUARDS = {
  rows_lost: { asks: false },
  new_provider: { asks: true },
  new_ledger: { asks: true },
  clock: { asks: false },
} as const satisfies Readonly<Record<string, { readonly asks: boolean }>>;

export type GuardName = keyof typeof GUARDS;

/** The stage of calls that check a key. They must fail, so they are free, and no row needs their answers. */
export const KEY_CHECK = 'key_check';

/**
 * The only rule for an unknown charge (in SQL: `UNKNOWN_CHARGE`). A call that is still open has no charge yet. A key
 * check is free, even if its answer was lost: older versions recorded it as unknown.
 */
export const isUnknownCharge = ({ charge, stage = null }: RecordedCharge): boolean =>
  charge === 'unknown' && stage !== KEY_CHECK;

interface RecordedCharge {
  readonly charge: string | null;
  readonly stage?: string | null;
}

export const OUTCOME_WORDS: Readonly<Record<RowOutcome, string>> = {
  complete: 'complete',
  no_match: 'no match',
  pending: 'to do',
  needs_review: 'need review',
  failed: 'failed',
  invalid: 'invalid',
};

export const STAGE_WORDS: Readonly<Record<string, string>> = {
  done: 'done',
  not_available: 'not available',
  waiting: 'waiting',
  parked: 'on hold',
  failed: 'failed',
  held: 'on hold for review',
  notStarted: 'not started',
  unreadable: 'unreadable',
};

/** People of a company's list who were not looked for. `errors` keeps it as a sentence, and the tables read it back. */
export interface PeopleLeft {
  readonly lookedFor: number;
  /** The list: officers or shareholders. */
  readonly list: string;
  /** Each with its number of people, as the first number in it. */
  readonly reasons: readonly string[];
}

export const PEOPLE_LEFT = 'PEOPLE_LEFT';

export const peopleLeftInWords = ({ lookedFor, list, reasons }: PeopleLeft): string =>
  `${lookedFor} ${list} were searched for. ${reasons.join('. ')}`;

/** How many people of the list were left out. Zero if the sentence is about another list. */
export function countPeopleLeft(sentence: string, list: string): number {
  // Older versions wrote "looked for" and semicolons.
  const [before = '', rest = ''] = sentence.split(/ were (?:looked|searched) for[.;] /);
  if (!before.endsWith(` ${list}`)) return 0;
  const counts = rest.split(/[.;] /).map((reason) => Number(/(?:^|\s)(\d+)\b/.exec(reason)?.[1] ?? 0));
  return counts.reduce((sum, count) => sum + count, 0);
}
