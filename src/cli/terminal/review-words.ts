import type { AnsweredView, AppliedView, decisions, RuleProposal, RuleView } from '../../app/review/review.js';
import type { ReleasedRun } from '../../app/run/progress.js';
import { correctedNumber } from '../../domain/entity-key.js';
import { gradeInWords } from '../../domain/grade-order.js';
import { type Facet, facetsOf } from '../../review/filter.js';
import type { Question } from '../../review/questions.js';
import type { LeftOut } from '../../review/rule.js';
import { acceptedInWords, printable, questionInWords, topicInWords, topicName } from '../../review/words.js';
import { isoTime } from '../../util/clock.js';
import { type Message, message } from '../../util/message-parts.js';
import { givenFlags, type Place, placeFlags, suggestCommand } from './suggestions.js';
import { count } from './text.js';
import { block, listed, pick, textTable, type ViewPart, view } from './view.js';

type DecisionEntry = Awaited<ReturnType<typeof decisions>>[number];

/** The commands that continue the rows. */
export const nextCommands = (released: readonly ReleasedRun[], { dataDir }: Place): readonly string[] =>
  released.map(
    ({ run, sandbox, given }) =>
      suggestCommand({ kind: 'resume', run }, { dataDir, sandbox, ...givenFlags(given) }).command,
  );

export const rowsOf = (released: readonly ReleasedRun[]): number => released.reduce((sum, { rows }) => sum + rows, 0);

export const nextInWords = (released: readonly ReleasedRun[], place: Place): ViewPart =>
  released.length > 0 &&
  message(
    'RESUME_NEXT',
    `${count(rowsOf(released), 'row')} can go on with: ${nextCommands(released, place).join('; ')}`,
  );

/** "2 questions answered by anna, 1 not sure (it stays open), 3 left." */
export const answeredInWords = (answered: AnsweredView): Message =>
  message(
    'QUESTIONS_ANSWERED',
    `${listed([`${count(answered.decided, 'question')} answered by ${printable(answered.by)}`, ...openInWords(answered), `${answered.left} left`])}.`,
  );

/** Answers that leave their question open. */
const openInWords = ({ notSure = 0, held }: { readonly notSure?: number; readonly held: number }) => [
  notSure > 0 && `${notSure} not sure (${notSure === 1 ? 'it stays' : 'they stay'} open)`,
  held > 0 && `${held} ${held === 1 ? 'waits' : 'wait'} for a second person`,
];

export const appliedInWords = ({ refused, released, ...applied }: AppliedView, args: Place): readonly Message[] => {
  const place = placeFlags(args);
  const { disagreeing, unseen, later } = applied;
  return view(
    message(
      'ANSWERS_APPLIED',
      `${listed([
        `${count(applied.applied - applied.notSure - applied.held, 'decision')} taken`,
        ...openInWords(applied),
        `${applied.unchanged} known already`,
        `${count(refused.length, 'line')} refused`,
        `${applied.blank} left blank`,
      ])}.`,
      refused.length > 0 ? 'attention' : 'done',
    ),
    disagreeing > 0 &&
      message(
        'PEOPLE_DISAGREE',
        `${count(disagreeing, 'question')} on which two people disagree: whoever says the same as one of them decides.`,
        'attention',
      ),
    unseen > 0 &&
      message(
        'CANDIDATES_NOT_SHOWN',
        `${count(unseen, 'question decided here has', 'questions decided here have')} candidates by now that the file does not show. What was decided counts; \`kybatch review decisions${place}\` lists it, and \`kybatch review withdraw ID${place}\` takes it back.`,
        'attention',
      ),
    later > 0 &&
      message(
        'OTHER_PIPELINE',
        `${count(later, 'decision here answers', 'decisions here answer')} what another pipeline has asked than the one that was run last, and ${later === 1 ? 'counts' : 'count'} when that is run again.`,
      ),
    nextInWords(released, args),
  );
};

export function refusalInWords(
  file: string,
  { line, problem, next }: AppliedView['refused'][number],
  place: Place,
): Message {
  const flags = placeFlags(place);
  const remedy =
    next?.kind === 'withdraw'
      ? `\`kybatch review withdraw ${next.decision}${flags}\` takes that back`
      : next && `\`kybatch review export${flags}\` writes the question as it is now`;
  return message('LINE_REFUSED', listed([`${file}, line ${line}: ${printable(problem)}`, remedy], '; '), 'attention');
}

/** Questions of a pipeline that was not run last. */
export const otherPipelineInWords = (questions: readonly Question[]): readonly Message[] => {
  const others = questions.filter((question) => question.beside);
  const names = [...new Set(others.flatMap(({ askedBy }) => askedBy ?? []))].map(printable).join(', ');
  const which = names === '' ? 'another pipeline' : `pipeline ${names}`;
  return view(
    others.length > 0 &&
      message(
        'OTHER_PIPELINE',
        `${others.length} of them ${others.length === 1 ? 'was' : 'were'} asked with ${which}, not with the one that was run last: an answer counts when it is run again.`,
      ),
  );
};

/** The questions. If there are several, also their number by reason, country and grade. */
export function listInWords(shown: readonly Question[], all: readonly Question[]): readonly Message[] {
  const part = shown.length < all.length ? ` (${shown.length} shown)` : '';
  return view(
    shown.map((question) => message('QUESTION', questionInWords(question))),
    block(
      all.length === 0 ? 'NO_QUESTIONS' : 'OPEN_QUESTIONS',
      all.length > 1 && facetsInWords(all),
      `${count(all.length, 'open question')}${part}.`,
    ),
  );
}

export const questionJson = (question: Question) => {
  const { beside, askedBy = null, candidates, decision } = question;
  return {
    question: question.id,
    about: topicName(question),
    askedWith: beside ? askedBy : undefined,
    ...pick(question, 'code', 'message'),
    rows: question.rows.map(({ runId, row, line, inputId = null }) => ({ run: runId, row, line, id: inputId })),
    ...pick(question, 'countryCode', 'input'),
    candidates: candidates.map((choice) => ({
      candidate: choice.key,
      ...pick(choice, 'id', 'name', 'registrationNumber', 'vatNumber', 'countryCode', 'state'),
      grade: choice.matchGrade,
      agreement: gradeInWords(choice.matchGrade),
      evidence: choice.evidence,
    })),
    secondPerson: question.needsTwo,
    proposed: question.held.map((held) => ({
      ...pick(held, 'id', 'decision'),
      candidate: candidates.find(({ id }) => id === held.candidateId)?.key ?? null,
      by: held.decidedBy,
      note: held.note,
    })),
    earlier: decision && { decision: decision.decision, by: decision.decidedBy, note: decision.note },
  };
};

export function decisionInWords(entry: DecisionEntry): string {
  const { secondBy, withdrawnAt } = entry;
  const batches = listed([...new Set([entry.firstBatch, entry.batch])]);
  return printable(
    listed(
      [
        String(entry.id).padStart(5),
        day(entry.decidedAt),
        secondBy === null ? entry.decidedBy : `${entry.decidedBy} and ${secondBy}`,
        entry.decision,
        `${topicInWords(entry)}: ${entry.summary}${acceptedInWords(entry)}`,
        entry.note !== null && `"${entry.note}"`,
        batches !== '' && `[${batches}]`,
        entry.held && withdrawnAt === null && '(waits for a second person)',
        withdrawnAt !== null && `(withdrawn ${day(withdrawnAt)} by ${entry.withdrawnBy ?? '?'})`,
      ],
      '  ',
    ),
  );
}

const day = (at: number) => isoTime(at)?.slice(0, 10) ?? 'a day that is damaged';

export const decisionJson = (entry: DecisionEntry) => ({
  id: entry.id,
  about: topicName(entry),
  decision: entry.decision,
  candidateId: correctedNumber(entry) === undefined ? entry.candidateId : null,
  correctedNumber: correctedNumber(entry) ?? null,
  ...pick(entry, 'summary', 'decidedBy', 'secondBy', 'held', 'batch', 'decidedAt'),
  ...(entry.secondBy === null ? {} : pick(entry, 'firstBatch', 'firstAt')),
  note: entry.note,
  ...(entry.withdrawnAt === null ? {} : pick(entry, 'withdrawnAt', 'withdrawnBy')),
});

const FACETS_SHOWN = 12;

/** The number of questions by reason, country and grade. */
function facetsInWords(questions: readonly Question[]): string {
  const { reason, country, bestGrade } = facetsOf(questions);
  return [facetTable('reason', reason), facetTable('country', country), facetTable('best grade', bestGrade)].join('\n');
}

function facetTable(name: string, facets: readonly Facet[]): string {
  const others = facets.slice(FACETS_SHOWN);
  const rest = others.reduce((sum, { questions }) => sum + questions, 0);
  return textTable(
    [name, 'questions'],
    [
      ...facets.slice(0, FACETS_SHOWN).map(({ value, questions }) => [value ?? '(none)', questions]),
      ...(rest === 0 ? [] : [[`${others.length} more`, rest]]),
    ],
  );
}

const SHOWN = 20;
const HEADER = ['question', 'row', 'line', 'your ID', 'input', 'candidate', 'number', 'grade'];

/** The questions that a rule would answer, and the number of those it leaves out. */
export function ruleProposalInWords(proposal: RuleProposal, all: boolean): readonly Message[] {
  const { answers } = proposal;
  const shown = all ? answers : answers.slice(0, SHOWN);
  const lines = shown.map(({ question, choice }) => {
    const [row] = question.rows;
    const place = [String(row?.row ?? ''), String(row?.line ?? ''), row?.inputId];
    const cells = [question.input.name, choice?.name, choice?.registrationNumber, choice?.matchGrade];
    return [question.id, ...[...place, ...cells].map((cell) => short(printable(cell ?? '')))];
  });
  const others = answers.length - shown.length;
  const more = others === 0 ? '' : `… and ${others} more (--all shows each)`;
  return view(
    answers.length > 0 && message('RULE_PROPOSED', `${textTable(HEADER, lines)}${more}`.trimEnd()),
    leftOutInWords(proposal),
  );
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

function leftOutInWords({ leftOut }: RuleProposal): Message | undefined {
  const parts = [...leftOut].map(([why, questions]) => `${questions} ${LEFT_OUT[why]}`);
  return parts.length === 0 ? undefined : message('QUESTIONS_LEFT_OUT', `Left to be looked at: ${parts.join('; ')}.`);
}

export function ruleInWords(answered: RuleView, place: Place): readonly Message[] {
  const { outcome, batch, decided, by, released } = answered;
  if (outcome !== 'answered')
    return [message('NO_QUESTION_FITS', listed(['No question fits.', leftOutInWords(answered)?.text], ' '))];
  const answers = listed([
    `${count(decided, 'question')} answered by ${printable(by)}`,
    ...openInWords({ held: answered.held }),
  ]);
  const undo = `kybatch review withdraw --batch ${batch}${placeFlags(place)}`;
  return view(
    message('RULE_APPLIED', `${answers}. All of it is taken back with: ${undo}`, 'done'),
    nextInWords(released, place),
  );
}
