import { fitsPattern, isAtLeast } from '../domain/grade-order.js';
import { SECOND_PERSON } from '../ledger/review/second-person.js';
import type { QuestionSummary } from './questions.js';

/** Which questions are meant. An absent part matches all. */
export interface QuestionFilter {
  /** Codes such as `NAME_ONLY`, or `SECOND_PERSON` if a second person must agree. */
  readonly reasons?: readonly string[] | undefined;
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
  readonly value: string | null;
  readonly questions: number;
}

/** One pass: a page counts thousands of questions. */
export function facetsOf(questions: readonly QuestionSummary[]): Facets {
  const [reason, country, grade] = [
    new Map<string, number>(),
    new Map<string | null, number>(),
    new Map<string | null, number>(),
  ];
  const add = <Value>(counts: Map<Value, number>, value: Value) => counts.set(value, (counts.get(value) ?? 0) + 1);
  for (const question of questions) {
    for (const one of reasonsOf(question)) add(reason, one);
    add(country, question.countryCode);
    add(grade, bestGrade(question) ?? null);
  }
  return { reason: largestFirst(reason), country: largestFirst(country), bestGrade: largestFirst(grade) };
}

const largestFirst = (counts: ReadonlyMap<string | null, number>): readonly Facet[] =>
  [...counts]
    .map(([value, questions]) => ({ value, questions }))
    .sort((a, b) => b.questions - a.questions || ((a.value ?? '') < (b.value ?? '') ? -1 : 1));
