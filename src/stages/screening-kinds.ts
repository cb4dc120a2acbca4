import type { Operation } from '../api/operation.js';
import { v1Operations } from '../api/v1/operations.js';
import { v2Operations } from '../api/v2/operations.js';
import { holdersToScreen, officersToScreen, type ScreenedPeople } from './screened-people.js';
import type { ScreeningOptions } from './screening-options.js';
import type { StageCall } from './stage.js';

/** A list of a company, and the search for those in it. */
export interface ScreenedKind {
  readonly list: Operation;
  /** The member of a full record that holds the same. */
  readonly inRecord: string | null;
  readonly people: (items: readonly unknown[]) => ScreenedPeople;
  readonly words: string;
  readonly search: Operation;
  /** Null where it is no list of pages. */
  readonly pagesAtMost: number | null;
}

/** Who is looked for, and by which operations. */
export function kindsOf({
  from,
  officers,
  shareholders,
  currentOnly,
  pagesAtMost,
}: ScreeningOptions): readonly ScreenedKind[] {
  const { officersKyb, officersSearchKyb, shareholdersKyb, shareholdersSearchKyb } = v1Operations;
  const people = (items: readonly unknown[]) => officersToScreen(items, currentOnly);
  const byOfficer = { people, words: 'officers', pagesAtMost: null };
  if (from === 'v2') {
    const { kybOfficers: list, kybOfficersSearch: search } = v2Operations;
    return [{ ...byOfficer, list, inRecord: null, search }];
  }
  const holder = { people: holdersToScreen, words: 'shareholders', pagesAtMost };
  return [
    ...(officers ? [{ ...byOfficer, list: officersKyb, inRecord: 'officers', search: officersSearchKyb }] : []),
    ...(shareholders
      ? [{ ...holder, list: shareholdersKyb, inRecord: 'shareholders', search: shareholdersSearchKyb }]
      : []),
  ];
}

/** What a row asks for at the most. */
export const callsToScreen =
  ({ peopleAtMost }: ScreeningOptions) =>
  ({ list, search, pagesAtMost }: ScreenedKind): readonly StageCall[] => [
    { operation: list, atMost: 1 },
    { operation: search, atMost: peopleAtMost * (pagesAtMost ?? 1) },
  ];
