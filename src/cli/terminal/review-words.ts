import type { ReleasedRun } from '../../app/released-runs.js';
import type { AnsweredView, AppliedView, decisions } from '../../app/review.js';
import { correctedNumber } from '../../domain/corrected-number.js';
import { gradeInWords } from '../../domain/grade-order.js';
import type { Question } from '../../review/questions.js';
import { acceptedInWords, printable, questionInWords, topicInWords, topicName } from '../../review/words.js';
import { isoTime } from '../../util/iso-time.js';
import { givenFlags, type Place, placeFlags, suggestCommand } from './commands.js';
import { facetsInWords } from './facet-words.js';
import { count } from './text.js';

type DecisionEntry = Awaited<ReturnType<typeof decisions>>[number];

/** The commands that go on with the rows that wait no longer. */
export const nextCommands = (released: readonly ReleasedRun[], { dataDir }: Place): readonly string[] =>
  released.map(
    ({ run, sandbox, given }) =>
      suggestCommand({ kind: 'resume', run }, { dataDir, sandbox, ...givenFlags(given) }).command,
  );

export const rowsOf = (released: readonly ReleasedRun[]): number => released.reduce((sum, { rows }) => sum + rows, 0);

export const nextInWords = (released: readonly ReleasedRun[], place: Place): string =>
  released.length === 0
    ? ''
    : `${count(rowsOf(released), 'row')} can go on with: ${nextCommands(released, place).join('; ')}\n`;

/** "2 questions answered by anna, 1 not sure (it stays open), 3 left." */
export const answeredInWords = (view: AnsweredView): string =>
  `${count(view.decided, 'question')} answered by ${printable(view.by)}${openInWords(view)}, ${view.left} left.\n`;

/** What was said, and leaves its question open. */
function openInWords({ notSure, held }: Pick<AnsweredView, 'notSure' | 'held'>): string {
  const unsure = notSure === 0 ? '' : `, ${notSure} not sure (${notSure === 1 ? 'it stays' : 'they stay'} open)`;
  return held === 0 ? unsure : `${unsure}, ${held} ${held === 1 ? 'waits' : 'wait'} for a second person`;
}

type Counts = Pick<AppliedView, 'applied' | 'notSure' | 'held' | 'disagreeing' | 'unchanged' | 'blank'>;

export const appliedInWords = (counts: Counts, refused: number): string => {
  const { applied, notSure, held, disagreeing, unchanged, blank } = counts;
  const taken = `${count(applied - notSure - held, 'decision')} taken${openInWords(counts)}`;
  const apart =
    disagreeing === 0
      ? ''
      : `${count(disagreeing, 'question')} on which two people disagree: whoever says the same as one of them decides.\n`;
  return `${taken}, ${unchanged} known already, ${count(refused, 'line')} refused, ${blank} left blank.\n${apart}`;
};

export function refusalInWords(
  file: string,
  { line, problem, next }: AppliedView['refused'][number],
  place: Place,
): string {
  const flags = placeFlags(place);
  const helps = {
    export: `; \`kybatch review export${flags}\` writes the question as it is now`,
    withdraw: next?.kind === 'withdraw' ? `; \`kybatch review withdraw ${next.decision}${flags}\` takes that back` : '',
  };
  return `${file}, line ${line}: ${printable(problem)}${next === undefined ? '' : helps[next.kind]}\n`;
}

export const unseenInWords = (questions: number, place: string): string =>
  `${count(questions, 'question')} decided here ${questions === 1 ? 'has' : 'have'} candidates by now that the file does not show. What was decided counts; \`kybatch review decisions${place}\` lists it, and \`kybatch review withdraw ID${place}\` takes it back.\n`;

export const laterInWords = (decisions: number): string =>
  `${count(decisions, 'decision')} here ${decisions === 1 ? 'answers' : 'answer'} what another pipeline has asked than the one that was run last, and ${decisions === 1 ? 'counts' : 'count'} when that is run again.\n`;

export const besideInWords = (questions: readonly Question[]): string => {
  const beside = questions.filter((question) => question.beside);
  if (beside.length === 0) return '';
  const names = [...new Set(beside.flatMap(({ askedBy }) => askedBy ?? []))].map(printable).join(', ');
  const which = names === '' ? 'another pipeline' : `pipeline ${names}`;
  return `${beside.length} of them ${beside.length === 1 ? 'was' : 'were'} asked with ${which}, not with the one that was run last: an answer counts when it is run again.\n`;
};

/** The questions, and how many there are of each kind where there are more than a few. */
export function listInWords(shown: readonly Question[], all: readonly Question[]): string {
  const each = shown.map((question) => `${questionInWords(question)}\n`).join('');
  const part = shown.length < all.length ? ` (${shown.length} shown)` : '';
  const kinds = all.length > 1 ? `${facetsInWords(all)}\n` : '';
  return `${each}${kinds}${count(all.length, 'open question')}${part}.\n`;
}

export function questionToJson(question: Question) {
  const {
    id,
    code,
    message,
    rows,
    countryCode,
    input,
    candidates,
    decision,
    needsTwo,
    held,
    beside,
    askedBy = null,
  } = question;
  return {
    question: id,
    about: topicName(question),
    ...(beside ? { asked_with: askedBy } : {}),
    code,
    message,
    rows: rows.map(({ runId, row, line, inputId = null }) => ({ run: runId, row, line, id: inputId })),
    country_code: countryCode,
    input,
    candidates: candidates.map(
      ({ key, id: candidateId, name, registrationNumber, vatNumber, countryCode, state, matchGrade, evidence }) => ({
        candidate: key,
        id: candidateId,
        name,
        registration_number: registrationNumber,
        vat_number: vatNumber,
        country_code: countryCode,
        state,
        grade: matchGrade,
        agreement: gradeInWords(matchGrade),
        evidence,
      }),
    ),
    second_person: needsTwo,
    proposed: held.map(({ id: word, decision: said, candidateId, decidedBy, note }) => ({
      id: word,
      decision: said,
      candidate: candidates.find((choice) => choice.id === candidateId)?.key ?? null,
      by: decidedBy,
      note,
    })),
    ...(decision === undefined
      ? {}
      : { earlier: { decision: decision.decision, by: decision.decidedBy, note: decision.note } }),
  };
}

export function decisionInWords(entry: DecisionEntry): string {
  const {
    id,
    decidedAt,
    decidedBy,
    secondBy,
    held,
    batch,
    firstBatch,
    decision,
    summary,
    note,
    withdrawnAt,
    withdrawnBy,
  } = entry;
  const people = secondBy === null ? decidedBy : `${decidedBy} and ${secondBy}`;
  const waits = held && withdrawnAt === null ? '  (waits for a second person)' : '';
  const batches = [...new Set([firstBatch, batch].filter((name) => name !== null))];
  const together = batches.length === 0 ? '' : `  [${batches.join(', ')}]`;
  const withdrawn = withdrawnAt === null ? '' : `  (withdrawn ${day(withdrawnAt)} by ${withdrawnBy ?? '?'})`;
  const remark = note === null ? '' : `  "${note}"`;
  const about = topicInWords(entry);
  return printable(
    `${String(id).padStart(5)}  ${day(decidedAt)}  ${people}  ${decision}  ${about}: ${summary}${acceptedInWords(entry)}${remark}${together}${waits}${withdrawn}`,
  );
}

const day = (at: number) => isoTime(at)?.slice(0, 10) ?? 'a day that is damaged';

export const decisionToJson = (entry: DecisionEntry) => ({
  id: entry.id,
  about: topicName(entry),
  decision: entry.decision,
  candidate_id: correctedNumber(entry) === undefined ? entry.candidateId : null,
  corrected_number: correctedNumber(entry) ?? null,
  summary: entry.summary,
  decided_by: entry.decidedBy,
  second_by: entry.secondBy,
  held: entry.held,
  batch: entry.batch,
  decided_at: isoTime(entry.decidedAt),
  ...(entry.secondBy === null
    ? {}
    : { first_batch: entry.firstBatch, first_at: entry.firstAt === null ? null : isoTime(entry.firstAt) }),
  note: entry.note,
  ...(entry.withdrawnAt === null ? {} : { withdrawn_at: isoTime(entry.withdrawnAt), withdrawn_by: entry.withdrawnBy }),
});
