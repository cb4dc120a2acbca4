import { asCorrection, correctedNumber } from '../domain/entity-key.js';
import type { DecisionEntry, DecisionRecord, Recorded } from '../ledger/review/review.js';
import type { ReviewStore } from '../ledger/review/review-store.js';
import { type Choice, choiceKey, type Question, questionId, shownInput } from './questions.js';
import type { SheetLine } from './read-sheet.js';
import { inputInWords } from './words.js';

export type Verdict = DecisionRecord['decision'];

export const VERDICTS: readonly Verdict[] = ['confirm', 'none_of_these', 'not_sure'];

/** In any spelling of a spreadsheet. A yes or no is clear if only one candidate is `offered`. */
export function verdictNamed(text: string, offered: number): Verdict | undefined {
  const said = text.toLowerCase().replace(/[\s-]+/g, '_');
  if (offered === 1 && YES.has(said)) return 'confirm';
  if (offered <= 1 && NO.has(said)) return 'none_of_these';
  return VERDICTS.find((word) => word === said);
}

const YES: ReadonlySet<string> = new Set(['yes', 'y', 'ja', 'oui', 'si', 'sí', 'sì', 'sim', 'ok', 'x', '✓']);
const NO: ReadonlySet<string> = new Set(['no', 'n', 'nein', 'non', 'nee', 'não', 'nao', 'nej', 'nei', '✗']);

export interface GivenAnswer {
  readonly verdict: Verdict;
  /** Present only with `confirm`. */
  readonly choice?: Choice | undefined;
  /** With `none_of_these`: the registration number to search for instead. */
  readonly corrected?: string | undefined;
  /** The IDs of the candidates that the person saw. Default: all of the question. */
  readonly shown?: readonly string[] | undefined;
  readonly by: string;
  readonly note?: string | undefined;
  /** The name of a group of answers by one rule. */
  readonly batch?: string | null;
}

/** Records the answer and releases the waiting rows, unless a second person must agree. */
export function recordAnswer(
  review: ReviewStore,
  question: Question,
  { verdict, choice, corrected, shown, by, note, batch = null }: GivenAnswer,
  now: number,
): Promise<Recorded> {
  if ((verdict === 'confirm') !== (choice !== undefined)) throw new Error('a candidate is named to be confirmed');
  const { environmentId, entityKey, space, stage, candidates } = question;
  return review.record({
    environmentId,
    entityKey,
    space,
    stage,
    decision: verdict,
    candidateId: answeredWith({ choice, corrected }),
    shown: shown ?? candidates.map(({ id }) => id),
    summary: `${inputInWords(shownInput(question))} → ${corrected === undefined ? wordsFor(verdict, choice) : `number ${corrected}`}`,
    decidedBy: by,
    decidedAt: now,
    note: note === undefined || note === '' ? null : note,
    batch,
  });
}

/**
 * The decision in force is the same. If the question is open, it has new candidates: then only `not_sure`, or an answer
 * about the candidates already seen, counts as a repetition.
 */
export function repeatsDecision(
  { decision, open }: Question,
  { verdict, choice, corrected, shown }: Pick<GivenAnswer, 'verdict' | 'choice' | 'corrected' | 'shown'>,
): boolean {
  if (decision === undefined || decision.decision !== verdict) return false;
  if (decision.candidateId !== answeredWith({ choice, corrected })) return false;
  return !open || verdict === 'not_sure' || (shown?.every((id) => decision.shown.includes(id)) ?? false);
}

/** The confirmed candidate, or the correction instead of it. */
export const answeredWith = ({ choice, corrected }: Pick<GivenAnswer, 'choice' | 'corrected'>): string | null =>
  choice?.id ?? (corrected === undefined ? null : asCorrection(corrected));

const wordsFor = (verdict: Verdict, choice: Choice | undefined): string =>
  choice === undefined ? verdict.replaceAll('_', ' ') : nameOf(choice);

const nameOf = ({ name, registrationNumber, id }: Choice) =>
  [name, registrationNumber, `ID ${id}`].filter((part) => part !== null).join(', ');

/** Whether a line answers an open question in a way that is not recorded yet. */
export function isNewAnswer(line: SheetLine, question: Question | undefined): boolean {
  if (question === undefined || (line.decision === '' && line.correctedNumber === '')) return false;
  const verdict = line.correctedNumber === '' ? verdictNamed(line.decision, 1) : 'none_of_these';
  return ![question.decision, ...question.held].some((recorded) => recorded?.decision === verdict);
}

/** Whether a sheet has questions without an answer that were decided elsewhere, so that it need not be filled in. */
export async function outdatedSheetCheck(review: ReviewStore): Promise<(lines: readonly SheetLine[]) => boolean> {
  const inForce = (await review.decisions()).filter(
    ({ withdrawnAt, held, decision }) => withdrawnAt === null && !held && decision !== 'not_sure',
  );
  const decided = new Set(inForce.map(questionId));
  return (lines) => {
    const filled = lines.filter(({ decision, correctedNumber: corrected }) => decision !== '' || corrected !== '');
    const answered = new Set(filled.map(({ question }) => question));
    return lines.some(({ question }) => decided.has(question) && !answered.has(question));
  };
}

/** Whether a line gives the same answer as one of these decisions. */
export function repeatedLineCheck(decisions: readonly DecisionEntry[]): (line: SheetLine) => boolean {
  const answers = new Set(
    decisions.map((made) =>
      answer(
        questionId(made),
        made.decision,
        correctedNumber(made) ?? (made.candidateId && choiceKey(made.candidateId)),
      ),
    ),
  );
  return ({ question, decision, candidate, correctedNumber: corrected }) => {
    const verdict = corrected === '' ? verdictNamed(decision, 1) : 'none_of_these';
    const meant = verdict === 'confirm' ? candidate : corrected;
    return verdict !== undefined && answers.has(answer(question, verdict, meant));
  };
}

/** `meant`: the key of the confirmed candidate, or the corrected number. */
const answer = (question: string, verdict: Verdict, meant: string | null): string =>
  `${question} ${verdict} ${meant ?? ''}`;
