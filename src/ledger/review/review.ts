import type { IdOwner } from '../../domain/identity-mismatch.js';
import { plainLetters } from '../../domain/names/similarity.js';
import { normalizeText } from '../../util/text-limits.js';
import type { CandidateRecord, IdClaim, NewQuestion, QuestionTopic } from '../rows/runs.js';
import type { StageDependenciesOf } from './withdrawal-effects.js';

export interface ReviewStore {
  /** Has anybody ever decided anything? */
  anyDecision(): Promise<boolean>;
  /** `asking`: a list that wants two people is not told what one has confirmed, unless that was to itself, before it did. */
  decisionFor(environmentId: number, entityKey: string, asking?: AskingRun): Promise<DecisionRecord | undefined>;
  /** The companies that an ID was confirmed as in other rows than this one. */
  idHolders(claim: Omit<IdClaim, 'owner'>, place: PlaceOfRow): Promise<readonly IdOwner[]>;
  /** Has somebody confirmed it, and taken that back? */
  wasWithdrawn(environmentId: number, entityKey: string): Promise<boolean>;
  /** Every question with its row and candidates, or those of some runs; the oldest run first, rows in the order of the file. */
  questions(runIds?: readonly string[]): Promise<readonly AskedQuestion[]>;
  /**
   * Writes the decision down; unless it is `not_sure`, rows that wait for it become pending and their runs go on. Where a list
   * that asks wants two people to agree, or somebody's word is held already, a confirmation is held until the second has.
   */
  record(decision: NewDecision): Promise<Recorded>;
  /** The newest first; withdrawn ones, and those that are held, too. */
  decisions(): Promise<readonly DecisionEntry[]>;
  /** Rows that rest on it are decided again. Undefined if there is no such decision in force, nor held. */
  withdraw(id: number, by: string, at: number, groundsOf: StageDependenciesOf): Promise<readonly RowRef[] | undefined>;
}

/** A row; of a plan, which has no run. */
export interface PlaceOfRow {
  readonly runId: string | null;
  readonly row: number;
}

/** Who wants to know what was decided. */
export interface AskingRun {
  /** Null for a plan: any list that wants two people is meant. */
  readonly runId: string | null;
  readonly secondPerson: boolean;
}

export interface AskedQuestion extends NewQuestion {
  readonly runId: string;
  readonly row: number;
  readonly environment: string;
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
  /** The row waits for the answer, or will when the pipeline that asked is run again. */
  readonly open: boolean;
  /** Another pipeline than that of the row's run has asked it. */
  readonly beside: boolean;
  /** A list that asks it wants a second person to agree to a confirmation. */
  readonly needsTwo: boolean;
  readonly candidates: readonly CandidateRecord[];
}

export interface RowRef {
  readonly runId: string;
  readonly row: number;
}

export interface DecisionRecord {
  readonly decision: 'confirm' | 'none_of_these' | 'not_sure';
  readonly candidateId: string | null;
  readonly decidedBy: string;
  readonly decidedAt: number;
  readonly note: string | null;
  /** The candidates that the person saw. */
  readonly shown: readonly string[];
}

export interface NewDecision extends DecisionRecord, QuestionTopic {
  readonly environmentId: number;
  readonly entityKey: string;
  /** What was decided, in words. */
  readonly summary: string;
  /** Names what was decided by one rule at once. */
  readonly batch?: string | null;
}

/** What became of a decision. */
export type Recorded = { readonly id: number; readonly released: readonly RowRef[] } & (
  | {
      readonly kind: 'in_force';
      /** Who had said the same, and waited for a second person. */
      readonly with: string | null;
    }
  /** It waits for a second person; `against`: what others have said otherwise. */
  | { readonly kind: 'held'; readonly against: readonly DecisionEntry[] }
  /** The same person has said so already, and another is waited for: nothing was written. */
  | { readonly kind: 'said_before' }
);

export interface DecisionEntry extends NewDecision {
  readonly id: number;
  /** Who agreed, where two people were needed. */
  readonly secondBy: string | null;
  readonly batch: string | null;
  /** Of two people: the batch of the first, and when that was said. */
  readonly firstBatch: string | null;
  readonly firstAt: number | null;
  /** It waits for a second person, and is not in force. */
  readonly held: boolean;
  readonly withdrawnAt: number | null;
  readonly withdrawnBy: string | null;
}

/** What one person says to a question. */
export type Word = Pick<DecisionRecord, 'decision' | 'candidateId' | 'decidedBy'>;

/** What becomes of a word where a confirmation needs two people. */
export type Weighed<Held extends Word> =
  /** It counts: by itself, or with whoever has said the same before. */
  | { readonly kind: 'in_force'; readonly first: Held | undefined }
  /** It waits for somebody else; `against` says otherwise. */
  | { readonly kind: 'held'; readonly against: readonly Held[] }
  /** The same person has said so already. */
  | { readonly kind: 'said_before'; readonly before: Held };

/**
 * A confirmation waits until another person has confirmed the same candidate. That none is meant needs one person only, unless
 * somebody else's confirmation waits: then the two disagree, and whoever says the same as one of them decides.
 */
export function weigh<Held extends Word>(said: Word, waiting: readonly Held[]): Weighed<Held> {
  if (said.decision === 'not_sure') return { kind: 'in_force', first: undefined };
  const isOwn = ({ decidedBy }: Held) => isSamePerson(decidedBy, said.decidedBy);
  const others = waiting.filter((word) => !isOwn(word));
  const first = others.find((word) => isSameWord(word, said));
  if (first !== undefined) return { kind: 'in_force', first };
  if (said.decision === 'none_of_these' && others.length === 0) return { kind: 'in_force', first };
  const before = waiting.find((word) => isOwn(word) && isSameWord(word, said));
  return before === undefined ? { kind: 'held', against: others } : { kind: 'said_before', before };
}

const isSameWord = (one: Word, other: Word): boolean =>
  one.decision === other.decision && one.candidateId === other.candidateId;

/** However a name is spelt: a second person has another one. */
export const isSamePerson = (one: string, other: string): boolean => plain(one) === plain(other);

/** There is a letter or a digit in it: nobody can be told apart by anything else. */
export const isPersonName = (name: string): boolean => plain(name) !== '';

/**
 * Letters and digits alone, in one case, without marks and strokes: what is seen of a name, however it was typed or saved.
 * The last two letters are not among the plain ones of companies' names: what was remembered by those would not be found again.
 */
const plain = (name: string): string =>
  plainLetters(normalizeText(normalizeText(name, 'NFKD').toUpperCase().toLowerCase(), 'NFKD').replace(UNSAID, ''))
    .replaceAll('ħ', 'h')
    .replaceAll('ŧ', 't');

/** Also what looks like a letter to Unicode and is none: fillers that show nothing, and apostrophes. */
const UNSAID = /[^\p{L}\p{N}]|\p{Lm}|\p{Default_Ignorable_Code_Point}/gu;

/** A confirmation by one person; where two are needed it is the first of them, whichever list it was said to. */
export const isAlone = ({ decision, secondBy }: Pick<DecisionEntry, 'decision' | 'secondBy'>): boolean =>
  decision === 'confirm' && secondBy === null;

/** Of a row whose question has been answered by one person. It names no company: purge leaves such words as they are. */
export function waitingInWords(words: readonly Word[]): { readonly code: string; readonly message: string } {
  const people = words.map(({ decidedBy, decision }) => `${decidedBy} has said ${decision}`).join(', ');
  const isOne = words.every((word) => words[0] !== undefined && isSameWord(word, words[0]));
  return {
    code: SECOND_PERSON,
    message: isOne ? `waits for a second person: ${people}` : `${DISAGREE}, a third may decide: ${people}`,
  };
}

/** How the message of a row begins where what they said is not the same. */
export const DISAGREE = 'two people disagree';

export const SECOND_PERSON = 'SECOND_PERSON';
