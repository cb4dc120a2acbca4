import { outsideText } from '../util/outside-text.js';
import { type Decision, decide, type GradedCandidate, type MatchPolicy, type ReviewReason } from './decide.js';
import type { CandidateFacts, Subject } from './grade.js';
import { NAME_AGREEMENT, nameSimilarity } from './names.js';
import { matchNumber } from './numbers/same-number.js';

/**
 * A registration number that the provider names for something else that a row says. It is never a match: it is searched
 * for like any number, and who is found is held against the row as it was written.
 */
export interface Hint {
  /** What it was named for, in words: `the website example.com`. */
  readonly source: string;
  readonly operation: string;
  readonly registrationNumber: string;
  /** Null where none was named. */
  readonly countryCode: string | null;
  /** It was named for the row's name and nothing else. */
  readonly forName: boolean;
}

/** By the candidate's ID. */
export type Hints = ReadonlyMap<string, Hint>;

export const NO_HINTS: Hints = new Map();

/**
 * Whether this is whom the hint names: the very number, in the country that it names. A name finds namesakes and strangers:
 * who is named for it alone must have it.
 */
export function isNamedBy(hint: Hint, row: Subject, candidate: CandidateFacts): boolean {
  const { registration_number: number, country_code, state, jurisdiction } = candidate;
  const theirs = country_code?.toUpperCase() ?? null;
  const country = hint.countryCode ?? (row.countryCode || theirs);
  if (number === null || (theirs !== null && country !== theirs)) return false;
  if (hint.forName && nameSimilarity(row.name ?? '', candidate.name ?? '') < NAME_AGREEMENT) return false;
  const named = matchNumber({ countryCode: country ?? '', number: hint.registrationNumber });
  return named.is(number, state ?? jurisdiction ?? undefined);
}

/**
 * What the row's own words decide stands: a hint adds no evidence to a confirmation, and takes none away. Who is named by
 * a hint and is not confirmed by the row itself is a question for a person, with what was named and for what.
 */
export function decideWithHints(
  subject: Subject,
  graded: readonly GradedCandidate[],
  hints: Hints,
  policy: MatchPolicy,
): Decision {
  const own = decide(subject, graded, policy);
  const named = graded.filter(({ candidate }) => hints.has(candidate.id));
  const [about] = named;
  const hint = about && hints.get(about.candidate.id);
  if (own.kind === 'confirmed' || about === undefined || hint === undefined) return own;
  const grade = named.length === 1 ? about.graded.grade : undefined;
  const asked = (reason: ReviewReason, message: string): Decision => ({ kind: 'needs_review', reason, message, grade });
  const [number, , , country] = about.graded.grade;
  const said = hintInWords(hint);
  if (country === 'F') return asked('country_conflict', `${said}; the row says ${subject.countryCode}`);
  if (number === 'F') return asked('number_conflict', `${said}; the row says ${rowNumber(subject)}`);
  if (own.kind === 'needs_review' && !SAYS_LESS.has(own.reason)) return { ...own, message: `${own.message}; ${said}` };
  return asked('hint_only', `${said}; the row gave no number`);
}

/** That there is no number in the row is said better with the number that was named. */
const SAYS_LESS: ReadonlySet<ReviewReason> = new Set(['name_only', 'ticker_only']);

const rowNumber = ({ registrationNumber }: Subject): string => outsideText(registrationNumber?.raw ?? '', 60);

export function hintInWords({ source, registrationNumber, countryCode }: Hint): string {
  const country = countryCode === null ? '' : ` (${outsideText(countryCode, 8)})`;
  return `${source} names ${outsideText(registrationNumber, 60)}${country}`;
}
