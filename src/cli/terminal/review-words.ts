import type { AnsweredView, AppliedView, decisions, RuleProposal, RuleView } from '../../app/review/review.js';
import type { QuestionScope, ReviewSheets } from '../../app/run/next-step.js';
import type { ReleasedRun } from '../../app/run/progress.js';
import { correctedNumber } from '../../domain/entity-key.js';
import { gradeInWords, sameFields } from '../../domain/grade-order.js';
import { type LeftOut, safestRule } from '../../review/bulk-answer.js';
import { facetsOf } from '../../review/filter.js';
import { type Question, shownInput } from '../../review/questions.js';
import {
  acceptedInWords,
  printable,
  questionInFull,
  reasonInWords,
  reasonName,
  topicInWords,
  topicName,
} from '../../review/words.js';
import { isoTime } from '../../util/clock.js';
import { type Message, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, listed, shortRun, withCommas } from '../../util/words.js';
import { givenFlags, type Place, scopeFlags, suggestCommand, suggestReview } from './suggestions.js';
import { inColumns, shortened, shortenedPair } from './text.js';
import { block, commandLine, countLines, marked, textTable, type ViewPart, view } from './view.js';

type DecisionEntry = Awaited<ReturnType<typeof decisions>>[number];

/** The page may not import `review`. */
export {
  furtherTopic,
  otherCellsInWords,
  reasonInWords,
  reasonName,
  topicInWords,
  whyInWords,
} from '../../review/words.js';

export const nextCommands = (released: readonly ReleasedRun[], { dataDir }: Place): readonly string[] =>
  distinct(
    released.map(
      ({ sandbox, given, step }) => suggestCommand(step, { dataDir, sandbox, ...givenFlags(given) }).command,
    ),
  );

const distinct = (commands: readonly string[]): readonly string[] => [...new Set(commands)];

export const rowsOf = (released: readonly ReleasedRun[]): number => released.reduce((sum, { rows }) => sum + rows, 0);

export const nextInWords = (released: readonly ReleasedRun[], place: Place): ViewPart =>
  released.length > 0 &&
  block(
    'RESUME_NEXT',
    `${count(
      released.reduce((sum, { toDo }) => sum + toDo, 0),
      'row',
    )} can continue:`,
    nextCommands(released, place).map(commandLine),
  );

export const SIGNED_AS_USER = message('SIGNED_AS_USER', 'To sign with another name: --by NAME', 'detail');

/** "2 questions answered by anna, 1 not sure (it stays open), 3 left." */
export const answeredInWords = (answered: AnsweredView): Message =>
  message(
    'QUESTIONS_ANSWERED',
    `${listed([
      answered.decided === 0 ? 'No question answered' : answersInWords(answered),
      ...openInWords(answered),
      answered.left > 0 && `${withCommas(answered.left)} left`,
    ])}.`,
    answered.decided > 0 ? 'done' : undefined,
  );

const answersInWords = ({ decided, by }: Pick<AnsweredView, 'decided' | 'by'>): string =>
  `${count(decided, 'question')} answered by ${printable(by)}`;

const openInWords = ({ notSure = 0, held }: { readonly notSure?: number; readonly held: number }) => [
  notSure > 0 && `${notSure} not sure (${notSure === 1 ? 'it stays' : 'they stay'} open)`,
  held > 0 && `${held} ${held === 1 ? 'waits' : 'wait'} for a second person`,
];

export const appliedInWords = ({ refused, released, ...applied }: AppliedView, args: Place): readonly Message[] => {
  const { disagreeing, unseen, later } = applied;
  const decided = applied.applied - applied.notSure - applied.held;
  const before = applied.unchanged - applied.notSureBefore;
  if (applied.blank > 0 && applied.applied + applied.unchanged + refused.length === 0)
    return [
      message(
        'ANSWERS_APPLIED',
        `No decision yet: the column "decision" is empty for ${count(applied.unanswered, 'question')}. Fill it in, save the file, and apply it again.`,
        'attention',
      ),
    ];
  return view(
    message(
      'ANSWERS_APPLIED',
      `${listed([
        decided === 0 ? 'No new decision' : `${count(decided, 'decision')} recorded`,
        ...openInWords(applied),
        before > 0 && `${withCommas(before)} recorded before`,
        applied.notSureBefore > 0 && `${withCommas(applied.notSureBefore)} not sure before`,
        refused.length > 0 && `${count(refusedQuestions(refused), 'question')} refused`,
        applied.unanswered > 0 && `${count(applied.unanswered, 'question')} without a decision`,
      ])}.`,
      refused.length > 0 ? 'attention' : 'done',
    ),
    applied.signedAs !== null && {
      ...SIGNED_AS_USER,
      text: `Signed as ${printable(applied.signedAs)}. ${SIGNED_AS_USER.text}`,
    },
    disagreeing > 0 &&
      message(
        'PEOPLE_DISAGREE',
        `Two people disagree on ${count(disagreeing, 'question')}. The next person who agrees with one of them decides.`,
        'attention',
      ),
    unseen > 0 &&
      message(
        'CANDIDATES_NOT_SHOWN',
        `${count(unseen, 'question has', 'questions have')} new candidates that the file does not show. The decisions count. To check them: \`kybatch review decisions\`. To undo one: \`kybatch review withdraw ID\`.`,
        'attention',
      ),
    later > 0 &&
      message(
        'OTHER_PIPELINE',
        `${count(later, 'decision answers', 'decisions answer')} a question of another pipeline than the last one. ${later === 1 ? 'It counts' : 'They count'} when that pipeline runs again.`,
      ),
    nextInWords(released, args),
  );
};

/** As the other counts are. A line that names no question counts as one. */
const refusedQuestions = (refused: AppliedView['refused']): number =>
  new Set(refused.map(({ question, line }) => question || line)).size;

export function refusalInWords(file: string, { line, problem, next }: AppliedView['refused'][number]): Message {
  const remedy =
    next?.kind === 'withdraw'
      ? `To undo it: \`kybatch review withdraw ${next.decision}\``
      : next && `For the current question: \`kybatch review export\``;
  return block('LINE_REFUSED', `! ${file}, line ${line}: ${printable(problem)}`, remedy && `  ${remedy}`);
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
        `${count(others.length, 'question comes', 'questions come')} from ${which}, which did not run last. An answer counts when it runs again.`,
      ),
  );
};

export interface QuestionListOptions {
  readonly full: boolean;
  readonly limit: number | undefined;
  readonly open: number;
}

/** One screen: the number of questions by reason, and the first of them with the best candidate. */
export function listInWords(
  all: readonly Question[],
  { full, limit = full || all.length === ROWS + 1 ? all.length : ROWS, open }: QuestionListOptions,
) {
  if (all.length === 0)
    return [message('NO_QUESTIONS', open === 0 ? 'No open questions.' : 'No open question fits.', 'done')];
  const shown = all.slice(0, limit);
  const places = new Set(all.map(listOf));
  const title = `${openCount(all.length, open)}${places.size === 1 ? ` · ${[...places].join('')}` : ''}`;
  const held = all.filter((question) => question.held.length > 0).length;
  return view(
    full && shown.map((question) => message('QUESTION', questionInFull(question))),
    block(
      'OPEN_QUESTIONS',
      shortened(title, WIDTH),
      '',
      reasonLines(all),
      held > 0 && `\n${held} of them ${held === 1 ? 'waits' : 'wait'} for a second person (--reason SECOND_PERSON).`,
    ),
    !full && block('QUESTION', '', questionTable(shown, all)),
    shown.length < all.length && message('QUESTIONS_LEFT', `  …  ${withCommas(all.length - shown.length)} more: --all`),
  );
}

/** "13 open questions", or "7 of 13 open questions" if a run or a filter selects some. */
export const openCount = (selected: number, open: number): string =>
  `${selected < open ? `${withCommas(selected)} of ` : ''}${count(Math.max(selected, open), 'open question')}`;

/** The questions of a list that fit one screen with their commands. */
const ROWS = 5;

/** The number of questions of each reason, and the fields that all their best candidates share with the row. */
function reasonLines(all: readonly Question[]): readonly string[] {
  const reasons = facetsOf(all).reason.flatMap(({ value }) => {
    const those = all.filter((question) => question.code === value);
    const best = those.map(({ stage, candidates: [choice] }) => (stage === null ? (choice?.matchGrade ?? '') : ''));
    return those.length === 0 ? [] : [{ code: value ?? '', questions: those.length, same: sameFields(best) }];
  });
  const [names, codes] = [reasons.map(({ code }) => reasonName(code)), reasons.map(({ code }) => code)].map((texts) =>
    Math.max(...texts.map(({ length }) => length)),
  );
  return countLines(
    reasons.map(({ code, questions, same }) => [
      questions,
      `${reasonName(code).padEnd(names ?? 0)}  ${code.padEnd(codes ?? 0)}`,
      same.length === 0 ? '' : `best: same ${same.join(', ')}`,
    ]),
  ).map((line) => shortened(line, WIDTH));
}

const WIDTH = 80;

/** "suppliers.csv · run 4331d2": the list of the first row that asks. */
const listOf = ({ rows: [row] }: Question): string =>
  row === undefined ? '' : printable(`${row.list} · run ${shortRun(row.runId)}`);

const rowOf = ({ rows: [row] }: Question): string => String(row?.row ?? '');

/**
 * Two lines for each question: the names, then the numbers. Further ones if not only the first search asks about the row,
 * or several rows ask. If there are several lists, each has a heading.
 */
function questionTable(shown: readonly Question[], all: readonly Question[]): readonly string[] {
  const isOne = new Set(all.map(listOf)).size === 1;
  const placeOf = (question: Question) => `${listOf(question)} ${rowOf(question)}`;
  const places = all.map(placeOf);
  const asksAgain = (question: Question) => places.filter((place) => place === placeOf(question)).length > 1;
  const width = Math.max(3, ...shown.map((question) => rowOf(question).length));
  const widths = [YOURS, WIDTH - 6 - YOURS - width] as const;
  const line = (place: string, yours: string, best: string) => {
    const [left, right] = shortenedPair([printable(yours), printable(best)], widths);
    return `  ${place.padStart(width)}  ${inColumns(left, YOURS)}  ${right}`;
  };
  const linesAbout = (question: Question): readonly string[] => {
    const { input, candidates, stage, space, rows } = question;
    const [best] = candidates;
    const found = best === undefined ? 'no candidate' : count(candidates.length, 'candidate');
    const why = stage === null ? `${found} · ${reasonInWords(question)}` : `bought ${stage} differs`;
    return [
      line(rowOf(question), input.name ?? '(no name)', bestInWords(best)),
      line('', shownInput(question).registration_number ?? '(no number)', why),
      ...(stage === null && (space !== 'v1' || asksAgain(question))
        ? [line('', '', `asked by ${topicInWords(question)}`)]
        : []),
      ...(rows.length > 1 ? [line('', `and ${count(rows.length - 1, 'more row')}`, '').trimEnd()] : []),
    ];
  };
  return [
    line('row', 'your company', 'best candidate'),
    ...[...new Set(shown.map(listOf))].flatMap((list) => [
      ...(isOne ? [] : [`  ${shortened(list, WIDTH - 2)}`]),
      ...shown.filter((question) => listOf(question) === list).flatMap(linesAbout),
    ]),
  ];
}

const YOURS = 36;

function bestInWords(best: Question['candidates'][number] | undefined): string {
  if (best === undefined) return '–';
  const name = best.matchGrade.charAt(1) === 'A' ? 'same name' : (best.name ?? '(no name)');
  return name === 'same name' ? `${name} · ${best.registrationNumber ?? '(no number)'}` : name;
}

export const questionJson = (question: Question) => {
  const { beside, askedBy = null, candidates, decision } = question;
  return {
    question: question.id,
    about: topicName(question),
    askedWith: beside ? askedBy : undefined,
    ...pick(question, 'code', 'message'),
    rows: question.rows.map(({ runId, list, row, line, inputId = null }) => ({
      run: runId,
      list,
      row,
      line,
      id: inputId,
    })),
    ...pick(question, 'countryCode', 'input', 'correctedNumber', 'otherCells'),
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

/** Who decided what and when, then both companies, then the note. */
export function decisionInWords(entry: DecisionEntry): string {
  const { secondBy, withdrawnAt } = entry;
  const batches = listed([...new Set([entry.firstBatch, entry.batch])]);
  const [yours, found] = `${entry.summary}${acceptedInWords(entry)}`.split(' → ');
  const lines = [
    listed(
      [
        String(entry.id).padStart(5),
        day(entry.decidedAt),
        secondBy === null ? entry.decidedBy : `${entry.decidedBy} and ${secondBy}`,
        correctedNumber(entry) === undefined ? entry.decision : 'corrected number',
        topicInWords(entry),
      ],
      '  ',
    ),
    `       ${yours}`,
    found !== undefined && `       → ${found}`,
    listed([entry.note !== null && `       "${entry.note}"`, batches !== '' && `[${batches}]`], ' '),
    entry.held && withdrawnAt === null && '       waits for a second person',
    withdrawnAt !== null && `       withdrawn ${day(withdrawnAt)} by ${entry.withdrawnBy ?? '?'}`,
  ];
  return lines.flatMap((line) => (line ? [printable(line)] : [])).join('\n');
}

const day = (at: number) => isoTime(at)?.slice(0, 10) ?? 'damaged date';

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

const SHOWN = 20;

/** The questions that a rule would answer, and the number of those it leaves out. */
export function ruleProposalInWords(proposal: RuleProposal, all: boolean): readonly Message[] {
  const { answers } = proposal;
  const shown = all ? answers : answers.slice(0, SHOWN);
  const linesIn = (list: string) =>
    shown
      .filter(({ question }) => listOf(question) === list)
      .map(({ question, choice }) => [
        Number(rowOf(question)),
        ...shortenedPair([printable(question.input.name ?? ''), printable(choice?.name ?? '')], [27, 27]),
        shortened(printable(choice?.registrationNumber ?? ''), 14),
      ]);
  const tables = [...new Set(shown.map(({ question }) => listOf(question)))].map(
    (list) => `${shortened(list, WIDTH)}\n${textTable(['row', 'your company', 'candidate', 'number'], linesIn(list))}`,
  );
  const others = answers.length - shown.length;
  const more = others === 0 ? '' : `…  ${withCommas(others)} more: --all`;
  const table = tables.join('\n');
  return view(answers.length > 0 && message('RULE_PROPOSED', `${table}${more}`.trimEnd()), leftOutInWords(proposal));
}

export const LEFT_OUT: Readonly<Record<LeftOut, string>> = {
  no_candidate: 'no candidate',
  has_candidates: 'has candidates',
  several_candidates: 'several candidates reach the grade',
  number_conflict: 'the candidate has another number',
  name_conflict: 'the candidate has another name (F as second letter of --min-grade allows it)',
  grade_too_low: 'the candidate has a lower grade',
  about_an_answer: 'about bought data',
  not_sure: 'a person was not sure',
  disagreement: 'a person answered differently',
  said_before: 'you have answered it, and a second person must answer',
};

const leftOutInWords = ({ leftOut }: RuleProposal): Message | false =>
  leftOut.size > 0 &&
  block(
    'QUESTIONS_LEFT_OUT',
    'The rule leaves these questions open:',
    countLines([...leftOut].map(([why, questions]) => [questions, LEFT_OUT[why]])),
  );

export function ruleInWords(answered: RuleView, place: Place, isNamed: boolean): readonly Message[] {
  const { outcome, batch, released } = answered;
  if (outcome !== 'answered')
    return view(message('NO_QUESTION_FITS', 'No question fits the rule.'), leftOutInWords(answered));
  const answers = listed([answersInWords(answered), ...openInWords({ held: answered.held })]);
  return view(
    marked('RULE_APPLIED', 'done', `${answers}.`),
    !isNamed && SIGNED_AS_USER,
    nextInWords(released, place),
    block('UNDO_NEXT', 'To undo all of them:', commandLine(`kybatch review withdraw --batch ${batch}`)),
  );
}

interface AnswerScope {
  readonly sheets: ReviewSheets;
  readonly isFiltered: boolean;
  readonly filter: string;
}

/** `filter`: the flags that chose the questions. `isFiltered`: a rule might then mean other questions than those. */
export function waysToAnswer(
  questions: readonly Question[],
  { sheets, isFiltered, filter, ...asking }: QuestionScope & AnswerScope,
  args: Place,
): Message {
  const inSheet = suggestReview({ ...asking, sheets: { ...sheets, missing: 0 } }, args);
  const newSheet = suggestReview({ ...asking, sheets: { ...sheets, asks: null } }, args);
  const filtered = (command: string) => (command.includes(' review export') ? `${command}${filter}` : command);
  const rule = isFiltered ? undefined : safestRule(questions);
  return block(
    'REVIEW_NEXT',
    '',
    ['Answer here:', commandLine(`kybatch review${scopeFlags({ portfolio: asking.portfolio })}${filter}`)],
    [`${inSheet.words}:`, commandLine(filtered(inSheet.command))],
    sheets.asks !== null &&
      sheets.missing > 0 && [
        `${count(sheets.missing, 'open question is', 'open questions are')} not in it. Write all to a new sheet:`,
        commandLine(filtered(newSheet.command)),
      ],
    rule !== undefined && [
      `Look at ${rule.questions} candidates with the same name and number, and confirm them:`,
      commandLine(`kybatch review confirm${scopeFlags(asking)} --reason ${rule.reason} --min-grade ${rule.minGrade}`),
    ],
  );
}
