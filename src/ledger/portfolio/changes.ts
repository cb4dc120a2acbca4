import type { ItemChange } from '../../domain/change.js';
import type { IdSpace } from '../../domain/provider.js';
import type { EntityIds } from '../erase/identifiers.js';

/** An answer, and the call whose answer it replaced. */
export interface ReplacedAnswer {
  readonly callId: number;
  readonly operation: string;
  readonly environmentId: number;
  readonly space: IdSpace;
  readonly id: string;
  readonly rawSha256: string | null;
  readonly replaces: number | null;
  /** For a report: its company, as far as known. */
  readonly creditId: string | null;
  /** 0: a review question about it is open, or a person rejected it. */
  readonly stands: 0 | 1;
}

export interface PastAnswer {
  readonly callId: number;
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly rawSha256: string;
  readonly fetchedAt: number;
  readonly replaces: number | null;
}

export interface Comparison {
  readonly answer: ReplacedAnswer;
  /** Null: the two can no longer be compared, so earlier findings stay. */
  readonly items: readonly ItemChange[] | null;
  readonly oldRawSha256: string;
}

export interface ChangeQuery {
  /** Absent: all portfolios. */
  readonly portfolioIds?: readonly number[] | undefined;
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  /** Recorded from this time on. */
  readonly notedFrom?: number | undefined;
  /** About one of these companies. Absent: all. */
  readonly about?: EntityIds | undefined;
  readonly newestFirst?: boolean | undefined;
  readonly limit: number;
}

export interface ChangePage {
  readonly changes: readonly NamedChange[];
  /** The last number on the page: with `newestFirst` the lowest. On an empty page, the last of all. */
  readonly last: number;
  readonly more: boolean;
}

/** The changes for one member by one answer. */
export interface MemberChange {
  readonly id: number;
  readonly changedAt: number;
  readonly runId: string | null;
  readonly memberId: number;
  readonly portfolio: string;
  readonly portfolioId: number;
  /** In the newest file. Null: it left the list. */
  readonly row: number | null;
  readonly line: number | null;
  readonly inputId: string | null;
  readonly ids: Readonly<Partial<Record<IdSpace, string>>>;
  readonly oldRawSha256: string;
  readonly newRawSha256: string;
  readonly items: readonly ItemChange[];
}

export interface NamedChange extends MemberChange {
  readonly name: string | null;
}
