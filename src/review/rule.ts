import { isAtLeast, nameConflicts, numberConflicts } from '../domain/grade-order.js';
import { isSamePerson } from '../ledger/two-people.js';
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
  | 'not_sure'
  | 'disagreement'
  | 'said_before';

export type Ruling =
  | { readonly kind: 'answers'; readonly choice: Choice | undefined }
  | { readonly kind: 'left_out'; readonly why: LeftOut };

/**
 * What a rule says to a question. Nobody is confirmed by one whose number is another, nor whose name is, unless the rule asks for
 * an F in its place and means it: `?` does not. A bought answer that names another company, and what somebody was in doubt
 * about, or says otherwise, are looked at one by one. `by`: whose rule it is.
 */
export function rulingOn(question: Question, rule: Rule, by: string): Ruling {
  const why = question.stage === null ? reasonAgainst(question, rule) : 'about_an_answer';
  if (why !== undefined) return { kind: 'left_out', why };
  const [choice] = question.candidates;
  const { held } = question;
  const isOtherwise = ({ candidateId }: Question['held'][number]) => candidateId !== (choice?.id ?? null);
  if (held.some(isOtherwise)) return { kind: 'left_out', why: 'disagreement' };
  return held.some(({ decidedBy }) => isSamePerson(decidedBy, by))
    ? { kind: 'left_out', why: 'said_before' }
    : { kind: 'answers', choice };
}

function reasonAgainst({ candidates, decision }: Question, rule: Rule): LeftOut | undefined {
  if (decision?.decision === 'not_sure') return 'not_sure';
  const [choice, ...others] = candidates;
  if (rule.verdict === 'none_of_these') return choice === undefined ? undefined : 'has_candidates';
  if (choice === undefined) return 'no_candidate';
  if (others.length > 0) return 'several_candidates';
  const { matchGrade } = choice;
  if (numberConflicts(matchGrade)) return 'number_conflict';
  if (nameConflicts(matchGrade) && !nameConflicts(rule.minGrade)) return 'name_conflict';
  return isAtLeast(matchGrade, rule.minGrade) ? undefined : 'grade_too_low';
}
