import type { AnsweredView, AppliedView, decisions, RuleProposal, RuleView } from '../../app/review/review.js';
import type { ReleasedRun } from '../../app/run/progress.js';
import { correctedNumber } from '../../domain/entity-key.js';
import { gradeInWords } from '../../domain/grade-order.js';
import { type Facet, type Facets, facetsOf } from '../../review/filter.js';
import type { Question } from '../../review/questions.js';
import type { LeftOut } from '../../review/rule.js';
import { acceptedInWords, printable, questionInWords, topicInWords, topicName } from '../../review/words.js';
import { isoTime } from '../../util/clock.js';
import { type Message, message } from '../../util/message-parts.js';
import { givenFlags, type Place, placeFlags, suggestCommand } from './suggestions.js';
import { count } from './text.js';
import { textTable } from './view.js';

type DecisionEntry = Awaited<ReturnType<typeof decisions>>[number];

/** The commands that go on with the rows that wait no longer. */
export const nextCommands = (released: readonly ReleasedRun[], { dataDir }: Place): readonly string[] =>
  released.map(
    ({ run, sandbox, given }) =>
      suggestCommand({ kind: 'resume', run }, { dataDir, sandbox, ...givenFlags(given) }).command,
  );

export const rowsOf = (released: readonly ReleasedRun[]): number => released.reduce((sum, { rows }) => sum + rows, 0);

export const nextInWords = (released: readonly ReleasedRun[], place: Place): readonly Message[] =>
  released.length === 0
    ? []
    : [
        message(
          'RESUME_NEXT',
          `${count(rowsOf(released), 'row')} can go on with: ${nextCommands(released, place).join('; ')}`,
        ),
      ];

/** "2 questions answered by anna, 1 not sure (it stays open), 3 left." */
export const answeredInWords = (view: AnsweredView): Message =>
  message(
    'QUESTIONS_ANSWERED',
    `${count(view.decided, 'question')} answered by ${printable(view.by)}${openInWords(view)}, ${view.left} left.`,
  );

/** What was said, and leaves its question open. */
function openInWords({ notSure, held }: Pick<AnsweredView, 'notSure' | 'held'>): string {
  const unsure = notSure === 0 ? '' : `, ${notSure} not sure (${notSure === 1 ? 'it stays' : 'they stay'} open)`;
  return held === 0 ? unsure : `${unsure}, ${held} ${held === 1 ? 'waits' : 'wait'} for a second person`;
}

type Counts = Pick<AppliedView, 'applied' | 'notSure' | 'held' | 'disagreeing' | 'unchanged' | 'blank'>;

export const appliedInWords = (counts: Counts, refused: number): readonly Message[] => {
  const { applied, notSure, held, disagreeing, unchanged, blank } = counts;
  const taken = `${count(applied - notSure - held, 'decision')} taken${openInWords(counts)}`;
  return [
    message(
      'ANSWERS_APPLIED',
      `${taken}, ${unchanged} known already, ${count(refused, 'line')} refused, ${blank} left blank.`,
    ),
    ...(disagreeing === 0
      ? []
      : [
          message(
            'PEOPLE_DISAGREE',
            `${count(disagreeing, 'question')} on which two people disagree: whoever says the same as one of them decides.`,
          ),
        ]),
  ];
};

export function refusalInWords(
  file: string,
  { line, problem, next }: AppliedView['refused'][number],
  place: Place,
): Message {
  const flags = placeFlags(place);
  const helps = {
    export: `; \`kybatch review export${flags}\` writes the question as it is now`,
    withdraw: next?.kind === 'withdraw' ? `; \`kybatch review withdraw ${next.decision}${flags}\` takes that back` : '',
  };
  return message(
    'LINE_REFUSED',
    `${file}, line ${line}: ${printable(problem)}${next === undefined ? '' : helps[next.kind]}`,
  );
}

export const unseenInWords = (questions: number, place: string): Message =>
  message(
    'CANDIDATES_NOT_SHOWN',
    `${count(questions, 'question')} decided here ${questions === 1 ? 'has' : 'have'} candidates by now that the file does not show. What was decided counts; \`kybatch review decisions${place}\` lists it, and \`kybatch review withdraw ID${place}\` takes it back.`,
  );

export const laterInWords = (decisions: number): Message =>
  message(
    'OTHER_PIPELINE',
    `${count(decisions, 'decision')} here ${decisions === 1 ? 'answers' : 'answer'} what another pipeline has asked than the one that was run last, and ${decisions === 1 ? 'counts' : 'count'} when that is run again.`,
  );

export const besideInWords = (questions: readonly Question[]): readonly Message[] => {
  const beside = questions.filter((question) => question.beside);
  if (beside.length === 0) return [];
  const names = [...new Set(beside.flatMap(({ askedBy }) => askedBy ?? []))].map(printable).join(', ');
  const which = names === '' ? 'another pipeline' : `pipeline ${names}`;
  return [
    message(
      'OTHER_PIPELINE',
      `${beside.length} of them ${beside.length === 1 ? 'was' : 'were'} asked with ${which}, not with the one that was run last: an answer counts when it is run again.`,
    ),
  ];
};

/** The questions, and how many there are of each kind where there are more than a few. */
export function listInWords(shown: readonly Question[], all: readonly Question[]): readonly Message[] {
  const part = shown.length < all.length ? ` (${shown.length} shown)` : '';
  const kinds = all.length > 1 ? `${facetsInWords(all)}\n` : '';
  return [
    ...shown.map((question) => message('QUESTION', questionInWords(question))),
    message(
      all.length === 0 ? 'NO_QUESTIONS' : 'OPEN_QUESTIONS',
      `${kinds}${count(all.length, 'open question')}${part}.`,
    ),
  ];
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

const MOST = 12;

/** How many questions there are of each kind, for whoever decides what to look at first. */
function facetsInWords(questions: readonly Question[]): string {
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

const SHOWN = 20;
const HEADER = ['question', 'row', 'line', 'your ID', 'input', 'candidate', 'number', 'grade'];

/** What a rule would answer: the first of them, or each; and what it leaves out. */
export function ruleProposalInWords(proposal: RuleProposal, all: boolean): readonly Message[] {
  const { answers } = proposal;
  const shown = all ? answers : answers.slice(0, SHOWN);
  const lines = shown.map(({ question, choice }) => {
    const [row] = question.rows;
    const cells = [question.input.name, choice?.name, choice?.registrationNumber, choice?.matchGrade];
    const place = [String(row?.row ?? ''), String(row?.line ?? ''), row?.inputId];
    return [question.id, ...[...place, ...cells].map((cell) => short(printable(cell ?? '')))];
  });
  const others = answers.length - shown.length;
  const more = others === 0 ? '' : `… and ${others} more (--all shows each)`;
  return [
    ...(answers.length === 0 ? [] : [message('RULE_PROPOSED', `${textTable(HEADER, lines)}${more}`.trimEnd())]),
    ...leftOutInWords(proposal),
  ];
}

const short = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

const LEFT_OUT: Readonly<Record<LeftOut, string>> = {
  no_candidate: 'without a candidate',
  has_candidates: 'with candidates',
  several_candidates: 'with several candidates that reach the grade',
  number_conflict: 'whose candidate has another number',
  name_conflict: 'whose candidate has another name (an F in the second place of --min-grade takes them in)',
  grade_too_low: 'whose candidate has a lower grade',
  about_an_answer: 'about what was bought',
  not_sure: 'somebody was not sure about',
  disagreement: 'on which somebody says otherwise',
  said_before: 'that you have answered, and that wait for a second person',
};

function leftOutInWords({ leftOut }: RuleProposal): readonly Message[] {
  const parts = [...leftOut].map(([why, questions]) => `${questions} ${LEFT_OUT[why]}`);
  return parts.length === 0 ? [] : [message('QUESTIONS_LEFT_OUT', `Left to be looked at: ${parts.join('; ')}.`)];
}

export function ruleInWords(view: RuleView, place: Place): readonly Message[] {
  const { outcome, batch, decided, held, by, released } = view;
  if (outcome !== 'answered') {
    const leftOut = leftOutInWords(view);
    return [message('NO_QUESTION_FITS', ['No question fits.', ...leftOut.map(({ text }) => text)].join(' '))];
  }
  const waits = held === 0 ? '' : `, ${held} ${held === 1 ? 'waits' : 'wait'} for a second person`;
  const undo = `kybatch review withdraw --batch ${batch}${placeFlags(place)}`;
  return [
    message(
      'RULE_APPLIED',
      `${count(decided, 'question')} answered by ${printable(by)}${waits}. All of it is taken back with: ${undo}`,
    ),
    ...nextInWords(released, place),
  ];
}

export const leftOutToJson = ({ leftOut }: RuleProposal) => Object.fromEntries(leftOut);
