import type { RowOutcome } from '../../domain/outcomes.js';

/** Light enough to be read through, and apart from each other for most eyes; the words beside them say the same. */
export const OUTCOME_FILLS: Readonly<Record<string, string>> = {
  complete: 'D9EAD3',
  no_match: 'E7E6E6',
  needs_review: 'FFF2CC',
  invalid: 'FCE4D6',
  failed: 'F4CCCC',
  pending: 'DDEBF7',
} satisfies Record<RowOutcome, string>;

/** A company that is not in the register any more. */
export const ENDED_FILL = 'F4B183';

/** One that is in it, and not as usual. */
export const TROUBLED_FILL = 'FFE699';

export const ALL_FILLS: readonly string[] = [...Object.values(OUTCOME_FILLS), ENDED_FILL, TROUBLED_FILL];
