import { isAtLeast, nameConflicts, numberConflicts } from '../domain/grade-order.js';
import { isSamePerson } from '../ledger/review/second-person.js';
import type { QuestionSummary } from './questions.js';

/** One answer to many questions: the only candidate with the grade is confirmed, or none if there is no candidate. */
export type Rule =
  | { readonly verdict: 'confirm' /** Five letters, or `?` for any. */; readonly minGrade: string }
  | { readonly verdict: 'none_of_these' };

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

export type RuleResult<Asked extends QuestionSummary> =
  | { readonly kind: 'answers'; readonly choice: Offered<Asked> | undefined }
  | { readonly kind: 'left_out'; readonly why: LeftOut };

type Offered<Asked extends QuestionSummary> = Asked['candidates'][number];

/**
 * A rule's answer to a question. A rule never confirms a candidate with another number. It confirms one with another
 * name only if the rule has an F there. `?` is not enough. Answers that name another company, unsure questions and
 * contradictions are left to a person. `by`: whose rule it is.
 */
export function applyRule<Asked extends QuestionSummary>(question: Asked, rule: Rule, by: string): RuleResult<Asked> {
  const why = question.stage === null ? reasonAgainst(question, rule) : 'about_an_answer';
  if (why !== undefined) return { kind: 'left_out', why };
  const [choice] = reaching(question, rule);
  const { held } = question;
  const isOtherwise = ({ candidateId }: Asked['held'][number]) => candidateId !== (choice?.id ?? null);
  if (held.some(isOtherwise)) return { kind: 'left_out', why: 'disagreement' };
  return held.some(({ decidedBy }) => isSamePerson(decidedBy, by))
    ? { kind: 'left_out', why: 'said_before' }
    : { kind: 'answers', choice };
}

function reasonAgainst(question: QuestionSummary, rule: Rule): LeftOut | undefined {
  if (question.decision?.decision === 'not_sure') return 'not_sure';
  // The best is first.
  const [best] = question.candidates;
  if (rule.verdict === 'none_of_these') return best === undefined ? undefined : 'has_candidates';
  if (best === undefined) return 'no_candidate';
  const [choice, second] = reaching(question, rule);
  if (choice === undefined) return tooLow(best, question, rule.minGrade);
  return second === undefined ? undefined : 'several_candidates';
}

function reaching<Asked extends QuestionSummary>(question: Asked, rule: Rule): readonly Offered<Asked>[] {
  const candidates: readonly Offered<Asked>[] = question.candidates;
  return rule.verdict === 'confirm'
    ? candidates.filter((choice) => tooLow(choice, question, rule.minGrade) === undefined)
    : [];
}

function tooLow(
  { matchGrade }: Offered<QuestionSummary>,
  { code }: QuestionSummary,
  minGrade: string,
): LeftOut | undefined {
  // The shown number is one of two that the provider has for this ID.
  if (numberConflicts(matchGrade) || code === 'CONTRADICTORY_CANDIDATE') return 'number_conflict';
  if (nameConflicts(matchGrade) && !nameConflicts(minGrade)) return 'name_conflict';
  return isAtLeast(matchGrade, minGrade) ? undefined : 'grade_too_low';
}

/**
 * The rule that confirms most questions without a guess: the same name, and the same number or VAT number. Undefined if
 * no rule confirms two.
 */
export function safestRule(questions: readonly QuestionSummary[]) {
  const pairs = new Map<string, QuestionSummary[]>();
  for (const question of questions) {
    const { code, held, candidates } = question;
    const grade = candidates[0]?.matchGrade ?? '';
    if (held.length > 0 || !SAFE_REASONS.has(code) || !SAFE_GRADE.test(grade)) continue;
    const key = `${code} ${grade}`;
    const those = pairs.get(key);
    if (those === undefined) pairs.set(key, [question]);
    else those.push(question);
  }
  const rules = [...pairs].map(([key, those]) => {
    const [reason = '', minGrade = ''] = key.split(' ');
    const fitting = those.filter((one) => applyRule(one, { verdict: 'confirm', minGrade }, '').kind === 'answers');
    return { reason, minGrade, questions: fitting.length };
  });
  return rules.filter(({ questions: fitting }) => fitting > 1).sort((a, b) => b.questions - a.questions)[0];
}

/** The number or the VAT number is in doubt, and nothing contradicts it. */
const SAFE_REASONS: ReadonlySet<string> = new Set(['NUMBER_UNREADABLE', 'REPAIRED_NUMBER', 'VAT_ONLY']);

/** Nothing differs, the name is the same, and so is a number. */
const SAFE_GRADE = /^(?:[AB]A[ABZ]|ZA[AB])[AB][ABZ]$/;
