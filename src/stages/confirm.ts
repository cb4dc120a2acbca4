import type { ApiName } from '../api/operation.js';
import { type Decision, decide, type GradedCandidate } from '../domain/decide.js';
import { questionKey } from '../domain/entity-key.js';
import { gradeCandidate, type Subject } from '../domain/grade.js';
import type { KeptCandidate, Remembered, StageContext, StageOutcome } from './stage.js';

/** Which confirmed identity an outcome is about: the two company ID spaces, or the report's (V2-4). */
export type Identity = ApiName | 'credit';

/** Confirm: no call is made. What a person decided about this question before comes first, whatever we think today. */
export async function confirm(
  identity: Identity,
  subject: Subject,
  seen: readonly GradedCandidate[],
  context: StageContext,
): Promise<StageOutcome> {
  // The key is worked out only where somebody decided something, or has to.
  const question = {
    about: identity,
    get key() {
      return questionKey(identity, subject);
    },
  };
  const judge = (candidates: readonly GradedCandidate[]) =>
    conclude(identity, decide(subject, candidates, context.policy.match), candidates);
  const remembered = await context.remembered(question);
  const recalled = remembered && recall(identity, remembered, seen, judge);
  const outcome = recalled ?? judge(seen);
  if (outcome.kind === 'needs_review') context.keepQuestion(question, { ...outcome, answered: false });
  else if (recalled !== undefined) context.keepQuestion(question, { ...ANSWERED, answered: true });
  context.keepCandidates(
    identity,
    seen.map(
      ({ candidate, graded }): KeptCandidate => ({
        candidate,
        grade: graded.grade,
        evidence: graded.evidence,
        decision: verdictOn(candidate.id, outcome, identity),
      }),
    ),
  );
  return outcome;
}

function conclude(identity: Identity, decision: Decision, seen: readonly GradedCandidate[]): StageOutcome {
  switch (decision.kind) {
    case 'confirmed':
      return confirmed(identity, decision, decision.matchedOn);
    case 'needs_review': {
      const [only] = seen;
      const grade = seen.length === 1 && only !== undefined ? { grade: only.graded.grade } : {};
      return { kind: 'needs_review', code: decision.reason.toUpperCase(), message: decision.message, ...grade };
    }
    case 'no_match':
      return { kind: 'no_match', code: decision.reason.toUpperCase(), message: NO_MATCH[decision.reason] };
  }
}

const NO_MATCH = {
  no_candidates: 'the searches found nothing',
  no_candidate_with_number: 'no candidate has this registration number',
  no_candidate_with_vat_number: 'no candidate has this VAT number',
} as const;

const ANSWERED = { code: 'REVIEWED', message: 'a person decided' } as const;

/**
 * The same question is not asked twice. An answer about a candidate that is no longer found is asked again, and "none
 * of these" says nothing about candidates that the person has not seen.
 */
function recall(
  identity: Identity,
  { decision, candidateId, shown }: Remembered,
  seen: readonly GradedCandidate[],
  judge: (candidates: readonly GradedCandidate[]) => StageOutcome,
): StageOutcome | undefined {
  if (decision === 'not_sure') return undefined;
  if (decision === 'confirm') {
    const chosen = seen.find(({ candidate }) => candidate.id === candidateId);
    return chosen && confirmed(identity, { candidate: chosen.candidate, grade: chosen.graded.grade }, 'review');
  }
  const unseen = seen.filter(({ candidate }) => !shown.includes(candidate.id));
  if (unseen.length > 0) return judge(unseen);
  return { kind: 'no_match', code: 'REVIEWED', message: 'a person decided that none of the candidates is meant' };
}

function confirmed(
  identity: Identity,
  { candidate, grade }: Pick<Extract<Decision, { kind: 'confirmed' }>, 'candidate' | 'grade'>,
  matchedOn: string,
): StageOutcome {
  if (identity === 'credit') return { kind: 'done', facts: { creditSourceId: candidate.id } };
  return { kind: 'done', facts: { [identity]: { candidate, matchedOn, grade } } };
}

function verdictOn(id: string, outcome: StageOutcome, identity: Identity): string {
  if (outcome.kind !== 'done') return outcome.kind;
  const chosen = identity === 'credit' ? outcome.facts?.creditSourceId : outcome.facts?.[identity]?.candidate.id;
  return chosen === id ? 'confirmed' : 'rejected';
}

export const grade = (subject: Subject, candidates: Parameters<typeof gradeCandidate>[1][]): GradedCandidate[] =>
  candidates.map((candidate) => ({ candidate, graded: gradeCandidate(subject, candidate) }));
