import { fitsPattern, isAtLeast } from '../domain/grade-order.js';
import { SECOND_PERSON } from '../ledger/review/second-person.js';
import type { QuestionSummary } from './questions.js';

/** Which questions are meant. An absent part matches all. */
export interface QuestionFilter {
  /** Codes such as `NAME_ONLY`, or `SECOND_PERSON` if a second person must agree. */
  readonly reasons?: readonly string[] | undefined;
  /** An ISO code. */
  readonly countryCode?: string | undefined;
  /** Of the best candidate, such as `A????`. */
  readonly grade?: string | undefined;
  /** The minimum grade of the best candidate, letter by letter. */
  readonly minGrade?: string | undefined;
}

export function matchesFilter(
  question: QuestionSummary,
  { reasons, countryCode, grade, minGrade }: QuestionFilter,
): boolean {
  const best = bestGrade(question) ?? '';
  return (
    (reasons === undefined || reasonsOf(question).some((reason) => reasons.includes(reason))) &&
    (countryCode === undefined || question.countryCode === countryCode) &&
    (grade === undefined || fitsPattern(best, grade)) &&
    (minGrade === undefined || isAtLeast(best, minGrade))
  );
}

export const bestGrade = ({ candidates }: QuestionSummary): string | undefined => candidates[0]?.matchGrade;

/** Its code, and `SECOND_PERSON` if one person has answered and another must agree. */
function reasonsOf(question: QuestionSummary): readonly string[] {
  const isHeld = 'isHeld' in question ? question.isHeld : question.held.length > 0;
  return isHeld ? [question.code, SECOND_PERSON] : [question.code];
}

/** The number of questions by reason, country and best grade, the most frequent first. */
export interface Facets {
  readonly reason: readonly Facet[];
  readonly country: readonly Facet[];
  readonly bestGrade: readonly Facet[];
}

export interface Facet {
  /** Null: none. */
  readonly value: string | null;
  readonly questions: number;
}

export const facetsOf = (questions: readonly QuestionSummary[]): Facets => ({
  reason: tally(questions.flatMap(reasonsOf)),
  country: tally(questions.map(({ countryCode }) => countryCode)),
  bestGrade: tally(questions.map((question) => bestGrade(question) ?? null)),
});

function tally(values: readonly (string | null)[]): readonly Facet[] {
  const counts = new Map<string | null, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, questions]) => ({ value, questions }))
    .sort((a, b) => b.questions - a.questions || ((a.value ?? '') < (b.value ?? '') ? -1 : 1));
}
