/** Where a stage of a row stands. */
export const STAGE_STATUSES = ['done', 'not_available', 'skipped', 'waiting', 'parked', 'failed', 'pending'] as const;
export type StageStatus = (typeof STAGE_STATUSES)[number];

/** How a row ends. They always add up to the number of input rows. */
export const ROW_OUTCOMES = ['complete', 'no_match', 'needs_review', 'invalid', 'failed', 'pending'] as const;
export type RowOutcome = (typeof ROW_OUTCOMES)[number];

/** A stage that needs nothing more. */
export const isStageFinished = (status: StageStatus | undefined): boolean =>
  status === 'done' || status === 'not_available' || status === 'skipped';

/** Of a stage that a row has never come to: it still may, or it ended before. */
export const unreachedStatus = (outcome: string): StageStatus => (outcome === 'pending' ? 'pending' : 'skipped');

/** Rows that are invalid alike, with the first of them. */
export interface InvalidReason {
  readonly code: string;
  readonly rows: number;
  readonly row: number;
  readonly line: number;
  readonly message: string;
}
