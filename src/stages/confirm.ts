import type { ApiName } from '../api/operation.js';
import { type Decision, decide, type GradedCandidate } from '../domain/decide.js';
import { gradeCandidate, type Subject } from '../domain/grade.js';
import type { KeptCandidate, Remembered, StageContext, StageOutcome } from './stage.js';

/** Which confirmed identity an outcome is about: the two company ID spaces, or the report's (V2-4). */
export type Identity = ApiName | 'credit';

/** Confirm: no call is made. What a person decided about this question before comes first. */
export async function confirm(
  identity: Identity,
  subject: Subject,
  seen: readonly GradedCandidate[],
  context: StageContext,
): Promise<StageOutcome> {
  const decision = decide(subject, seen, context.policy.match);
  const remembered =
    decision.kind === 'confirmed' || identity === 'credit' ? undefined : await context.remembered(identity);
  const outcome =
    remembered === undefined ? conclude(identity, decision, seen) : recall(identity, remembered, decision, seen);
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

/** The same question is not asked twice. An answer about a candidate that is no longer found is asked again. */
function recall(
  identity: Identity,
  remembered: Remembered,
  decision: Decision,
  seen: readonly GradedCandidate[],
): StageOutcome {
  if (remembered.decision === 'none_of_these') {
    return { kind: 'no_match', code: 'REVIEWED', message: 'a person decided that none of the candidates is meant' };
  }
  const chosen = seen.find(({ candidate }) => candidate.id === remembered.candidateId);
  if (remembered.decision !== 'confirm' || chosen === undefined) return conclude(identity, decision, seen);
  return confirmed(identity, { candidate: chosen.candidate, grade: chosen.graded.grade }, 'review');
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
