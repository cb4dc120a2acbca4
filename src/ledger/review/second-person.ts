// The rule that a confirmation may need two people: which answers agree, and what a row waits for.

import { plainLetters } from '../../domain/names/similarity.js';
import { normalizeText } from '../../util/text-limits.js';
import type { DecisionEntry, DecisionRecord } from './review.js';

export type PersonDecision = Pick<DecisionRecord, 'decision' | 'candidateId' | 'decidedBy'>;

/** The effect of an answer if a confirmation needs two people. */
type CombinedDecision<Held extends PersonDecision> =
  /** In force: alone, or together with the same earlier answer. */
  | { readonly kind: 'in_force'; readonly first: Held | undefined }
  /** It waits for another person. `against`: different answers. */
  | { readonly kind: 'held'; readonly against: readonly Held[] }
  /** The same person answered so before. */
  | { readonly kind: 'said_before'; readonly before: Held };

/**
 * A confirmation waits until another person confirms the same candidate. `none_of_these` needs one person, unless
 * another person's confirmation waits: then they disagree, and a third person who agrees with one of them decides.
 */
export function combineWithWaiting<Held extends PersonDecision>(
  said: PersonDecision,
  waiting: readonly Held[],
): CombinedDecision<Held> {
  if (said.decision === 'not_sure') return { kind: 'in_force', first: undefined };
  const isOwn = ({ decidedBy }: Held) => isSamePerson(decidedBy, said.decidedBy);
  const others = waiting.filter((word) => !isOwn(word));
  const first = others.find((word) => isSameWord(word, said));
  if (first !== undefined) return { kind: 'in_force', first };
  if (said.decision === 'none_of_these' && others.length === 0) return { kind: 'in_force', first };
  const before = waiting.find((word) => isOwn(word) && isSameWord(word, said));
  return before === undefined ? { kind: 'held', against: others } : { kind: 'said_before', before };
}

const isSameWord = (one: PersonDecision, other: PersonDecision): boolean =>
  one.decision === other.decision && one.candidateId === other.candidateId;

/** Ignores spelling: a second person needs another name. */
export const isSamePerson = (one: string, other: string): boolean => plain(one) === plain(other);

/** The name has a letter or a digit, without which people cannot be told apart. */
export const isPersonName = (name: string): boolean => plain(name) !== '';

/**
 * Letters and digits alone, in one case, without diacritics. `plainLetters` lacks the last two letters: adding them
 * there would change stored company keys.
 */
const plain = (name: string): string =>
  plainLetters(normalizeText(normalizeText(name, 'NFKD').toUpperCase().toLowerCase(), 'NFKD').replace(UNSAID, ''))
    .replaceAll('ħ', 'h')
    .replaceAll('ŧ', 't');

/** Also characters that Unicode calls letters but that are invisible, and apostrophes. */
const UNSAID = /[^\p{L}\p{N}]|\p{Lm}|\p{Default_Ignorable_Code_Point}/gu;

/** A confirmation by one person. If two are needed, it is the first, whichever list it was made for. */
export const isSingleConfirmation = ({ decision, secondBy }: Pick<DecisionEntry, 'decision' | 'secondBy'>): boolean =>
  decision === 'confirm' && secondBy === null;

/** The message of a row that waits for a second person. It names no company, so erasure can leave it. */
export function waitingInWords(words: readonly PersonDecision[]): { readonly code: string; readonly message: string } {
  const people = words.map(({ decidedBy, decision }) => `${decidedBy} answered ${decision}`).join(', ');
  const isOne = words.every((word) => words[0] !== undefined && isSameWord(word, words[0]));
  return {
    code: SECOND_PERSON,
    message: isOne ? `waits for a second person: ${people}` : `${DISAGREE}, a third may decide: ${people}`,
  };
}

/** The beginning of a row's message if the answers differ. */
export const DISAGREE = 'two people disagree';

export const SECOND_PERSON = 'SECOND_PERSON';
