import type { CandidateFacts, Subject } from '../../domain/candidate-grade.js';
import { correctedNumber, followCorrections, whichCompany } from '../../domain/entity-key.js';
import { compareGrades } from '../../domain/grade-order.js';
import { type IdOwner, recordProblem } from '../../domain/identity-mismatch.js';
import {
  type Decision,
  decideWithHints,
  type GradedCandidate,
  type Hints,
  hintInWords,
  type MatchPolicy,
} from '../../domain/match-decision.js';
import { type IdSpace, INFORMATIVE_SPACES } from '../../domain/provider.js';
import type { SearchSubject } from '../../domain/search-subject.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import type { Identified, Ids, RecordedDecision, SeenCandidate, StageContext, StageOutcome } from '../stage.js';
import type { SearchDoubt } from './space-search.js';

/**
 * Confirms a candidate without a call. A person's earlier decision on this question comes first. A company that was
 * confirmed before stays confirmed when it is searched again: only the record's own number and country contradict it.
 */
export async function confirm(
  space: IdSpace,
  subject: Subject,
  { seen, elsewhere, hints, doubts, before }: SearchEvidence,
  policy: MatchPolicy,
  { questions, keepCandidates, claimId }: Pick<StageContext, 'questions' | 'keepCandidates' | 'claimId'>,
): Promise<StageOutcome> {
  const question = whichCompany(space, subject);
  const judge = (candidates: readonly GradedCandidate[]) =>
    conclude(space, decideWithHints(subject, candidates, hints, policy), { seen: candidates, elsewhere, doubts });
  const remembered = await questions.remembered(question);
  const recalled = remembered && recall(space, remembered, { seen, elsewhere }, judge);
  const judged = recalled ?? judge(seen);
  const stays = recalled === undefined && judged.kind !== 'done' ? staysConfirmed(space, before, seen) : undefined;
  const outcome = await unlessClaimed(space, stays?.outcome ?? judged, claimId);
  if (outcome.kind === 'needs_review') questions.keep(question, { ...outcome, answered: false });
  else if (recalled !== undefined) questions.keep(question, { ...ANSWERED, answered: true });
  const kept = ({ candidate, graded: { grade, evidence } }: GradedCandidate, decision: string): SeenCandidate => ({
    candidate,
    grade,
    evidence: [...evidence, ...hintOn(candidate, hints)],
    decision,
  });
  const verdict = ({ candidate }: GradedCandidate) => verdictOn(candidate, outcome, space);
  keepCandidates(space, [
    ...(stays?.kept ?? []),
    ...seen.map((one) => kept(one, verdict(one))),
    ...elsewhere.map((one) => kept(one, verdict(one) === 'confirmed' ? 'confirmed' : 'rejected')),
  ]);
  return outcome;
}

export async function withCorrectedNumber(
  space: IdSpace,
  subject: Subject,
  { questions }: Pick<StageContext, 'questions'>,
): Promise<Subject> {
  const find = await questions.corrections(space);
  if (find === undefined) return subject;
  let corrected = subject;
  for (const row of followCorrections(space, subject, find)) {
    if (row.before !== undefined)
      questions.keep({ space, stage: null, key: row.before.key }, { ...ANSWERED, answered: true });
    corrected = row.subject;
  }
  return corrected;
}

/**
 * An ID that already belongs to another company is a review question, unless a person assigned it to this one.
 */
async function unlessClaimed(
  space: IdSpace,
  outcome: StageOutcome,
  claimId: StageContext['claimId'],
): Promise<StageOutcome> {
  const known = outcome.kind === 'done' ? outcome.ids?.[space] : undefined;
  if (known?.candidate == null || known.matchedOn === 'review') return outcome;
  const { id, candidate, grade } = known;
  const other = await claimId(space, id, candidate);
  if (other === undefined) return outcome;
  return { kind: 'needs_review', code: ID_TAKEN, message: takenInWords(id, candidate, other), ...(grade && { grade }) };
}

export const ID_TAKEN = 'ID_TAKEN';

const takenInWords = (id: string, own: IdOwner, other: IdOwner): string =>
  `ID ${id} of ${own.registration_number} was confirmed for another company before: ${other.registration_number}`;

export interface SearchEvidence {
  readonly seen: readonly GradedCandidate[];
  /** Candidates of other countries, if the search cannot exclude them: they are evidence only. */
  readonly elsewhere: readonly GradedCandidate[];
  readonly doubts: readonly SearchDoubt[];
  readonly hints: Hints;
  readonly before: Identified | undefined;
}

function hintOn({ id }: CandidateFacts, hints: Hints): readonly string[] {
  const hint = hints.get(id);
  return hint === undefined ? [] : [`${hintInWords(hint)} (${hint.operation})`];
}

/** The match as confirmed before, unless the new search returns the same number and country. */
function staysConfirmed(space: IdSpace, before: Identified | undefined, seen: readonly GradedCandidate[]) {
  if (before?.candidate == null) return undefined;
  const { candidate } = before;
  const again = seen.find(({ candidate: { id } }) => id === candidate.id);
  if (again !== undefined && recordProblem(candidate, again.candidate) === undefined)
    return { outcome: stillConfirmed(space, { ...before, candidate: again.candidate }), kept: [] };
  const evidence = again === undefined ? 'the new search did not return it' : 'the new search has other data about it';
  const kept = {
    candidate,
    grade: before.grade ?? '',
    evidence: ['confirmed before', evidence],
    decision: 'confirmed',
  };
  return { outcome: stillConfirmed(space, before), kept: [kept] };
}

const stillConfirmed = (space: IdSpace, known: Identified): StageOutcome => ({ kind: 'done', ids: { [space]: known } });

function conclude(
  space: IdSpace,
  decision: Decision,
  { seen, elsewhere, doubts }: Omit<SearchEvidence, 'before' | 'hints'>,
): StageOutcome {
  switch (decision.kind) {
    case 'confirmed': {
      const isExact = decision.matchedOn === 'registration_number' && decision.grade.startsWith('A');
      const against = doubts.find(
        ({ rulesOutYes }) => rulesOutYes === 'always' || (rulesOutYes === 'inexact' && !isExact),
      );
      if (against === undefined) return confirmed(space, decision, decision.matchedOn);
      const message = `one candidate agrees, but ${against.words}. Another one may agree, too`;
      return { kind: 'needs_review', code: against.code, message, grade: decision.grade };
    }
    case 'needs_review': {
      const { reason, message, grade = seen.length === 1 ? seen[0]?.graded.grade : undefined } = decision;
      return { kind: 'needs_review', code: reason.toUpperCase(), message, ...(grade === undefined ? {} : { grade }) };
    }
    case 'no_match': {
      const told = noMatchMessage(decision.reason, elsewhere);
      // The company may be an unreadable or unseen candidate: "no match" would be a guess.
      const open = doubts.filter(({ rulesOutNo }) => rulesOutNo);
      const [doubt] = open;
      if (doubt !== undefined)
        return {
          kind: 'needs_review',
          code: doubt.code,
          message: `${told}, but ${open.map(({ words }) => words).join(', and ')}. Ask the provider, or decide that none of these is right`,
        };
      return { kind: 'no_match', code: decision.reason.toUpperCase(), message: told };
    }
  }
}

const NO_MATCH = {
  no_candidates: 'the searches found nothing',
  no_candidate_with_number: 'no candidate has this registration number',
  no_candidate_with_vat_number: 'no candidate has this VAT number',
} as const;

/** Candidates in other countries say nothing about this company. */
function noMatchMessage(reason: keyof typeof NO_MATCH, elsewhere: readonly GradedCandidate[]): string {
  if (elsewhere.length === 0) return NO_MATCH[reason];
  const countries = [...new Set(elsewhere.map(({ candidate }) => sanitizeText(candidate.country_code ?? '')))].sort();
  return `${NO_MATCH[reason]} in its country, but companies in other countries do: ${countries.join(', ')}`;
}

const ANSWERED = { code: 'REVIEWED', message: 'a person decided' } as const;

/**
 * The same question is not asked twice. If the chosen candidate is no longer found, the question is asked again. "None
 * of these" does not cover candidates that the person has not seen.
 */
function recall(
  space: IdSpace,
  { decision, candidateId, shown }: RecordedDecision,
  { seen, elsewhere }: Pick<SearchEvidence, 'seen' | 'elsewhere'>,
  judge: (candidates: readonly GradedCandidate[]) => StageOutcome,
): StageOutcome | undefined {
  // A correction says nothing about the candidates of the corrected number.
  if (decision === 'not_sure' || correctedNumber({ decision, candidateId }) !== undefined) return undefined;
  if (decision === 'confirm') {
    const named = [...seen, ...elsewhere].filter(({ candidate }) => candidate.id === candidateId);
    const [chosen] = named.toSorted((a, b) => compareGrades(a.graded.grade, b.graded.grade));
    return chosen && confirmed(space, { candidate: chosen.candidate, grade: chosen.graded.grade }, 'review');
  }
  const unseen = seen.filter(({ candidate }) => !shown.includes(candidate.id));
  if (unseen.length > 0) return judge(unseen);
  return { kind: 'no_match', code: 'REVIEWED', message: 'a person decided that none of the candidates is right' };
}

const confirmed = (
  space: IdSpace,
  { candidate, grade }: { readonly candidate: CandidateFacts; readonly grade: string },
  matchedOn: string,
): StageOutcome => ({ kind: 'done', ids: { [space]: { id: candidate.id, candidate, matchedOn, grade } } });

/** An ID may come twice with different numbers: the confirmed one is the row's company. */
function verdictOn(candidate: CandidateFacts, outcome: StageOutcome, space: IdSpace): string {
  if (outcome.kind !== 'done') return outcome.kind;
  return outcome.ids?.[space]?.candidate === candidate ? 'confirmed' : 'rejected';
}

/** The match in a space with more facts than this one. In any space if none is named. */
export function confirmedElsewhere(ids: Ids, than?: IdSpace): CandidateFacts | undefined {
  const place = than === undefined ? -1 : INFORMATIVE_SPACES.indexOf(than);
  const before = place === -1 ? INFORMATIVE_SPACES : INFORMATIVE_SPACES.slice(0, place);
  for (const space of before) {
    const candidate = ids[space]?.candidate;
    if (candidate != null) return candidate;
  }
  return undefined;
}

/**
 * A location ID does not give a country, and a country inferred from a number is a guess. After a match its own country
 * is known, so later searches use that. It is not documented whether both APIs have the same location IDs.
 */
export function withKnownCountry(enquiry: SearchSubject, ids: Ids): SearchSubject {
  const country = confirmedElsewhere(ids)?.country_code?.toUpperCase() ?? '';
  const { countryCode, countryFrom: guessed } = enquiry.subject;
  if ((countryCode !== '' && guessed === undefined) || !/^[A-Z]{2}$/.test(country)) return enquiry;
  const { locationId: _, countryFrom: __, ...subject } = enquiry.subject;
  if (subject.countryCode === country) return { ...enquiry, subject };
  return { location: country, subject: { ...subject, countryCode: country } };
}
