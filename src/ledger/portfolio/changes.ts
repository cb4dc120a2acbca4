import type { ItemChange } from '../../domain/change.js';
import type { IdSpace } from '../../domain/provider.js';

/** What new answers say otherwise than those before them. */
export interface ChangeStore {
  /**
   * Answers that took the place of others and were not compared with them by this version of the readers, until they are
   * noted. Those that are in question are left out: until a person has said that it is the company's, an answer changes
   * nothing.
   */
  toCompare(readers: number, limit: number): Promise<readonly ReplacedAnswer[]>;
  /** How many of those there are. */
  waiting(readers: number): Promise<number>;
  /** One that was replaced, as it was when it was new; undefined: its call is not kept any more. */
  find(callId: number): Promise<ReplacedAnswer | undefined>;
  /** The newest answers about a subject to each request, of those that were asked for before a call. */
  answersBefore(of: ReplacedAnswer, operations: readonly string[], callId: number): Promise<readonly PastAnswer[]>;
  /** All answers about the same subject to the same operation, in the order in which they were asked for. */
  answersLike(of: ReplacedAnswer): Promise<readonly DatedAnswer[]>;
  /** The body; undefined: it is gone, or damaged. */
  body(rawSha256: string): Promise<Buffer | undefined>;
  /** Keeps what was found; what an earlier version of the readers had found is gone. */
  note(compared: readonly Comparison[], readers: number, now: number): Promise<void>;
  /** What changed for the members of one portfolio, or of all, in the order in which it was noted. */
  list(query: ChangeQuery): Promise<ChangePage>;
  /** Digests of raw answers that begin so; two at the most. */
  digests(beginning: string): Promise<readonly string[]>;
}

/** An answer, and which one it took the place of. */
export interface ReplacedAnswer {
  readonly callId: number;
  readonly operation: string;
  readonly environmentId: number;
  readonly space: IdSpace;
  readonly id: string;
  readonly rawSha256: string | null;
  readonly replaces: number | null;
  /** Of a report: the company that it is about, as far as that is known. */
  readonly creditId: string | null;
  /** 0: whether it is the company's is in question, or somebody has said that it is not. */
  readonly stands: 0 | 1;
}

export interface PastAnswer {
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}

export interface DatedAnswer extends PastAnswer {
  readonly callId: number;
  readonly replaces: number | null;
}

export interface Comparison {
  readonly answer: ReplacedAnswer;
  /** Null: the two cannot be compared any more; what was found before stays. */
  readonly items: readonly ItemChange[] | null;
  readonly oldRawSha256: string;
}

export interface ChangeQuery {
  /** Of all without it. */
  readonly portfolioIds?: readonly number[] | undefined;
  /** Those that were noted after this one. */
  readonly after?: number | undefined;
  /** Those that were noted from this time on. */
  readonly notedFrom?: number | undefined;
  /** Answers at the most. */
  readonly limit: number;
}

export interface ChangePage {
  readonly changes: readonly NamedChange[];
  /** The last of them; where there is none, the last of all. */
  readonly last: number;
  readonly more: boolean;
}

/** What changed for one member by one answer. */
export interface MemberChange {
  readonly id: number;
  readonly changedAt: number;
  readonly runId: string | null;
  readonly memberId: number;
  readonly portfolio: string;
  readonly portfolioId: number;
  /** In the newest file; null: it has left the list. */
  readonly row: number | null;
  readonly line: number | null;
  readonly inputId: string | null;
  readonly ids: Readonly<Partial<Record<IdSpace, string>>>;
  readonly oldRawSha256: string;
  readonly newRawSha256: string;
  readonly items: readonly ItemChange[];
}

/** For people. */
export interface NamedChange extends MemberChange {
  /** What the company is called by now, as far as that is known. */
  readonly name: string | null;
}
