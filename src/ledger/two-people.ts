import { plainLetters } from '../domain/names.js';
import { normalizeText } from '../util/text-limits.js';
import type { DecisionEntry, DecisionRecord } from './review.js';

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
