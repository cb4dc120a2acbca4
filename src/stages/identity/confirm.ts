import type { Decision, GradedCandidate, MatchPolicy } from '../../domain/decide.js';
import { questionKey } from '../../domain/entity-key.js';
import type { CandidateFacts, Subject } from '../../domain/grade.js';
import { decideWithHints, type Hints, hintInWords } from '../../domain/hints.js';
import type { IdSpace } from '../../domain/id-spaces.js';
import { postCheck } from '../../domain/post-check.js';
import type { Identified, Remembered, SeenCandidate, StageContext, StageOutcome } from '../stage.js';

/**
 * Confirm: no call is made. What a person decided about this question before comes first, whatever we think today. Who was
 * confirmed before, and is looked for anew, stays confirmed: it is the record's own number and country that contradict.
 */
export async function confirm(
  space: IdSpace,
  subject: Subject,
  { seen, hints, unreadable, before }: Seen,
  policy: MatchPolicy,
  { questions, keepCandidates }: Pick<StageContext, 'questions' | 'keepCandidates'>,
): Promise<StageOutcome> {
  // The key is worked out only where somebody decided something, or has to.
  const question = {
    space,
    stage: null,
    get key() {
      return questionKey(space, subject);
    },
  };
  const judge = (candidates: readonly GradedCandidate[]) =>
    conclude(space, decideWithHints(subject, candidates, hints, policy), candidates, unreadable);
  const remembered = await questions.remembered(question);
  const recalled = remembered && recall(space, remembered, seen, judge);
  const judged = recalled ?? judge(seen);
  const stays = recalled === undefined && judged.kind !== 'done' ? staysConfirmed(space, before, seen) : undefined;
  const outcome = stays?.outcome ?? judged;
  if (outcome.kind === 'needs_review') questions.keep(question, { ...outcome, answered: false });
  else if (recalled !== undefined) questions.keep(question, { ...ANSWERED, answered: true });
  const found = seen.map(
    ({ candidate, graded }): SeenCandidate => ({
      candidate,
      grade: graded.grade,
      evidence: [...graded.evidence, ...hintOn(candidate, hints)],
      decision: verdictOn(candidate.id, outcome, space),
    }),
  );
  keepCandidates(space, [...(stays?.kept ?? []), ...found]);
  return outcome;
}

export interface Seen {
  readonly seen: readonly GradedCandidate[];
  /** Whom of them somebody else has named. */
  readonly hints: Hints;
  /** Candidates beside them that nobody can read. */
  readonly unreadable: number;
  /** As what the company was confirmed before. */
  readonly before: Identified | undefined;
}

function hintOn({ id }: CandidateFacts, hints: Hints): readonly string[] {
  const hint = hints.get(id);
  return hint === undefined ? [] : [`${hintInWords(hint)} (${hint.operation})`];
}

/** The candidate as it was confirmed, unless the new search says the same number and country of it. */
function staysConfirmed(space: IdSpace, before: Identified | undefined, seen: readonly GradedCandidate[]) {
  if (before?.candidate == null) return undefined;
  const { candidate } = before;
  const again = seen.find(({ candidate: { id } }) => id === candidate.id);
  if (again !== undefined && postCheck(candidate, again.candidate).ok)
    return { outcome: stillConfirmed(space, { ...before, candidate: again.candidate }), kept: [] };
  const evidence = again === undefined ? 'the new search did not bring it' : 'the new search says something else of it';
  const kept = {
    candidate,
    grade: before.grade ?? '',
    evidence: ['confirmed before', evidence],
    decision: 'confirmed',
  };
  return { outcome: stillConfirmed(space, before), kept: [kept] };
}

const stillConfirmed = (space: IdSpace, known: Identified): StageOutcome => ({ kind: 'done', ids: { [space]: known } });

export const UNREADABLE_CANDIDATE = 'UNREADABLE_CANDIDATE';

function conclude(
  space: IdSpace,
  decision: Decision,
  seen: readonly GradedCandidate[],
  unreadable: number,
): StageOutcome {
  switch (decision.kind) {
    case 'confirmed':
      return confirmed(space, decision, decision.matchedOn);
    case 'needs_review': {
      const { reason, message, grade = seen.length === 1 ? seen[0]?.graded.grade : undefined } = decision;
      return { kind: 'needs_review', code: reason.toUpperCase(), message, ...(grade === undefined ? {} : { grade }) };
    }
    case 'no_match':
      // The company may be the one that could not be read: "no" would be a guess.
      if (unreadable > 0)
        return {
          kind: 'needs_review',
          code: UNREADABLE_CANDIDATE,
          message: `${NO_MATCH[decision.reason]}, but ${unreadable === 1 ? 'one candidate' : `${unreadable} candidates`} could not be read: ask the provider, or decide that none of these is meant`,
        };
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
  space: IdSpace,
  { decision, candidateId, shown }: Remembered,
  seen: readonly GradedCandidate[],
  judge: (candidates: readonly GradedCandidate[]) => StageOutcome,
): StageOutcome | undefined {
  if (decision === 'not_sure') return undefined;
  if (decision === 'confirm') {
    const chosen = seen.find(({ candidate }) => candidate.id === candidateId);
    return chosen && confirmed(space, { candidate: chosen.candidate, grade: chosen.graded.grade }, 'review');
  }
  const unseen = seen.filter(({ candidate }) => !shown.includes(candidate.id));
  if (unseen.length > 0) return judge(unseen);
  return { kind: 'no_match', code: 'REVIEWED', message: 'a person decided that none of the candidates is meant' };
}

const confirmed = (
  space: IdSpace,
  { candidate, grade }: { readonly candidate: CandidateFacts; readonly grade: string },
  matchedOn: string,
): StageOutcome => ({ kind: 'done', ids: { [space]: { id: candidate.id, candidate, matchedOn, grade } } });

function verdictOn(id: string, outcome: StageOutcome, space: IdSpace): string {
  if (outcome.kind !== 'done') return outcome.kind;
  return outcome.ids?.[space]?.id === id ? 'confirmed' : 'rejected';
}
