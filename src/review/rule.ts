import { isAtLeast, nameConflicts, numberConflicts } from '../domain/grade-order.js';
import type { Choice, Question } from './questions.js';

/** One answer to many questions: the only candidate is meant where its grade is good enough; or nobody is, where there is none. */
export type Rule =
  | { readonly verdict: 'confirm' /** Five letters, or `?` for any. */; readonly minGrade: string }
  | { readonly verdict: 'none_of_these' };

/** Why a rule leaves a question to a person who looks at it. */
export type LeftOut =
  | 'no_candidate'
  | 'has_candidates'
  | 'several_candidates'
  | 'number_conflict'
  | 'name_conflict'
  | 'grade_too_low'
  | 'about_an_answer'
  | 'not_sure';

export type Ruling =
  | { readonly kind: 'answers'; readonly choice: Choice | undefined }
  | { readonly kind: 'left_out'; readonly why: LeftOut };

/**
 * What a rule says to a question. Nobody is confirmed by one whose number is another, nor whose name is, unless the rule asks for
 * an F in its place and means it: `?` does not. A bought answer that names another company, and what somebody was in doubt
 * about, are looked at one by one.
 */
export function rulingOn({ stage, candidates, decision }: Question, rule: Rule): Ruling {
  const leave = (why: LeftOut): Ruling => ({ kind: 'left_out', why });
  if (stage !== null) return leave('about_an_answer');
  if (decision?.decision === 'not_sure') return leave('not_sure');
  const [choice, ...others] = candidates;
  if (rule.verdict === 'none_of_these')
    return choice === undefined ? { kind: 'answers', choice } : leave('has_candidates');
  if (choice === undefined) return leave('no_candidate');
  if (others.length > 0) return leave('several_candidates');
  const { matchGrade } = choice;
  if (numberConflicts(matchGrade)) return leave('number_conflict');
  if (nameConflicts(matchGrade) && !nameConflicts(rule.minGrade)) return leave('name_conflict');
  return isAtLeast(matchGrade, rule.minGrade) ? { kind: 'answers', choice } : leave('grade_too_low');
}
