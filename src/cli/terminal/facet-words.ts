import { type Facet, type Facets, facetsOf } from '../../review/filter.js';
import type { Question } from '../../review/questions.js';
import { textTable } from './text.js';

const MOST = 12;

/** How many questions there are of each kind, for whoever decides what to look at first. */
export function facetsInWords(questions: readonly Question[]): string {
  const { reason, country, bestGrade } = facetsOf(questions);
  return [table('reason', reason), table('country', country), table('best grade', bestGrade)].join('\n');
}

function table(name: string, facets: readonly Facet[]): string {
  const lines = facets.slice(0, MOST).map(({ value, questions }) => [value ?? '(none)', questions]);
  const others = facets.slice(MOST);
  const rest = others.reduce((sum, { questions }) => sum + questions, 0);
  return textTable([name, 'questions'], [...lines, ...(rest === 0 ? [] : [[`${others.length} more`, rest]])]);
}

export const facetsToJson = (questions: readonly Question[]) => {
  const { reason, country, bestGrade }: Facets = facetsOf(questions);
  const toJson = (facets: readonly Facet[]) => facets.map(({ value, questions: each }) => ({ value, questions: each }));
  return { reason: toJson(reason), country: toJson(country), best_grade: toJson(bestGrade) };
};
