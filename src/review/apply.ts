import { correctionProblem } from '../domain/entity-key.js';
import { gradeInWords, seemsAnotherCompany } from '../domain/grade-order.js';
import type { RowRef } from '../ledger/review/review.js';
import type { ReviewStore } from '../ledger/review/review-store.js';
import { combineWithWaiting, isPersonName, isSamePerson, type PersonDecision } from '../ledger/review/second-person.js';
import { type Message, type MessageCode, message } from '../util/message-parts.js';
import { differingCell, type OtherCell } from './compare-cells.js';
import { basisOf, type Choice, choiceKey, type Question, questionsNamed } from './questions.js';
import type { SheetLine } from './read-sheet.js';
import {
  answeredWith,
  type GivenAnswer,
  recordAnswer,
  repeatedLineCheck,
  repeatsDecision,
  type Verdict,
  verdictNamed,
} from './record-answer.js';
import { headingOf } from './sheet-columns.js';
import { saidBeforeInWords, unsignedInWords } from './words.js';

export interface Applied {
  readonly applied: number;
  /** Of these, `not_sure`: their questions stay open. */
  readonly notSure: number;
  /** Of these, decisions that wait for a second person, and how many of them another person contradicts. */
  readonly held: number;
  readonly disagreeing: number;
  /** Of these, decisions on questions that have new candidates which the sheet does not show. */
  readonly unseen: number;
  /** Of these, answers to questions of another pipeline than the last one. They count when that pipeline runs. */
  readonly later: number;
  /** Decisions that existed before. If several people say the same, each counts. */
  readonly unchanged: number;
  /** Of these, `not_sure`. */
  readonly notSureBefore: number;
  readonly blank: number;
  /** Questions without a decision on any of their lines. */
  readonly unanswered: number;
  readonly refused: readonly Refusal[];
  readonly released: readonly RowRef[];
  /** The user who signed the decisions recorded now that name no person. Null: all name one. */
  readonly signedAs: string | null;
}

/**
 * Applies the valid lines and reports each invalid one. Applying the same sheet again changes nothing. A sheet older
 * than its question still counts, but only for the candidates it shows.
 */
export async function applySheet(
  lines: readonly SheetLine[],
  review: ReviewStore,
  by: string,
  now: number,
  /** True if the person who applies the sheet is named: that signs lines without a name. */
  isNamed = false,
): Promise<Applied> {
  const sheet = await checkSheet(lines, review, by, isNamed);
  const { answers, blank, unanswered } = sheet;
  const refused = [...sheet.refused];
  let { unchanged } = sheet;
  const spoken = await Promise.all(answers.map((people) => recordInOrder(people, review, now)));
  const given = spoken.flatMap((each) => each.given);
  const unsigned = spoken.flatMap((each) => each.unsigned);
  unchanged += answers.flat().length - given.length - unsigned.length;
  const saidBefore = given.filter(({ recorded }) => recorded.kind === 'said_before');
  const taken = spoken.flatMap(decidingAnswers);
  for (const { question, line, first } of unsigned)
    refused.push({ line, question: question.id, code: 'NOT_SIGNED', problem: unsignedInWords(first) });
  for (const { question, answer, line } of saidBefore)
    refused.push({
      line,
      question: question.id,
      code: 'SAID_BEFORE',
      problem: saidBeforeInWords(answer.by, 'decided by'),
    });
  return {
    applied: taken.length,
    notSure: taken.filter(({ answer }) => answer.verdict === 'not_sure').length,
    held: taken.filter(({ recorded }) => recorded.kind === 'held').length,
    disagreeing: taken.filter(({ recorded }) => recorded.kind === 'held' && recorded.against.length > 0).length,
    unseen: taken.filter(({ question, answer }) => hasUnseen(question, answer)).length,
    later: taken.filter(({ question }) => question.beside).length,
    unchanged,
    notSureBefore: sheet.notSureBefore,
    blank,
    unanswered,
    refused: refused.sort((a, b) => a.line - b.line),
    released: taken.flatMap(({ recorded }) => recorded.released),
    signedAs: taken.some(({ signed }) => !signed) ? by : null,
  };
}

/** The answers of a sheet that can be recorded. Nothing is written. */
export async function checkSheet(lines: readonly SheetLine[], review: ReviewStore, by: string, isNamed: boolean) {
  const questions = await questionsNamed(review, new Set(lines.map(({ question }) => question)));
  const inForce = (await review.decisions()).filter(({ withdrawnAt, held }) => withdrawnAt === null && !held);
  const checked = lines.map(lineChecker(lines, questions, repeatedLineCheck(inForce), by));
  const refused = checked.flatMap((result) => (result.kind === 'refused' ? [result.refusal] : []));
  const answers: Given[] = [];
  let unchanged = new Set(checked.flatMap((line) => (line.kind === 'recorded' ? line.question : []))).size;
  let notSureBefore = 0;
  const refusedLines = new Map(refused.map(({ question, line }) => [question, line]));
  for (const [id, group] of groupById(checked.filter(isSaid))) {
    const people = byPerson(group, by, isNamed);
    const conclusion = conclude(group, refusedLines.get(id));
    if (conclusion.kind === 'refused') refused.push(...conclusion.refusals);
    else if (conclusion.kind === 'unchanged') {
      unchanged += people.length;
      if (group[0]?.verdict === 'not_sure') notSureBefore += people.length;
    } else answers.push(people);
  }
  const blank = lines.filter((_, at) => checked[at]?.kind === 'blank');
  const answered = new Set(lines.filter((line) => !blank.includes(line)).map(({ question }) => question));
  const open = new Set(blank.map(({ question }) => question).filter((id) => !answered.has(id)));
  return { answers, refused, unchanged, notSureBefore, blank: blank.length, unanswered: open.size };
}

/** The answers to one question, one for each person, in the order of their lines. */
type Given = readonly {
  readonly line: number;
  readonly question: Question;
  readonly answer: GivenAnswer;
  /** The line itself names its person. Otherwise the person who applies the sheet counts. */
  readonly signed: boolean;
}[];

/**
 * A sheet may hold the answers of several people, and equal answers count as agreement. A second agreement needs a
 * signature, because the person who applies a sheet may only deliver what the first person filled in.
 */
async function recordInOrder(people: Given, review: ReviewStore, now: number) {
  const given = [];
  const unsigned = [];
  for (const one of people) {
    const before = given.filter(({ recorded }) => recorded.kind === 'held').map(({ answer }) => toWord(answer));
    const first = one.signed ? undefined : completed(toWord(one.answer), [...one.question.held, ...before]);
    if (first !== undefined) {
      unsigned.push({ ...one, first });
      continue;
    }
    const recorded = await recordAnswer(review, one.question, one.answer, now);
    given.push({ ...one, recorded });
    if (recorded.kind === 'in_force') break;
  }
  return { given, unsigned };
}

const toWord = ({ verdict, choice, corrected, by }: GivenAnswer): PersonDecision => ({
  decision: verdict,
  candidateId: answeredWith({ choice, corrected }),
  decidedBy: by,
});

/** Another person's waiting answer that would take effect with this one. */
function completed(word: PersonDecision, waiting: readonly PersonDecision[]): PersonDecision | undefined {
  const weighed = combineWithWaiting(word, waiting);
  return weighed.kind === 'in_force' ? weighed.first : undefined;
}

/** If people agree on one sheet, the answer that decided. None of theirs waits any more. */
function decidingAnswers({ given }: Awaited<ReturnType<typeof recordInOrder>>) {
  const deciding = given.filter(({ recorded }) => recorded.kind === 'in_force');
  return deciding.length > 0 ? deciding : given.filter(({ recorded }) => recorded.kind === 'held');
}

function byPerson(group: readonly Said[], by: string, isNamed: boolean): Given {
  const people: Given[number][] = [];
  for (const { question, verdict, choice, corrected, shown, line } of group) {
    const answer = { verdict, choice, corrected, shown, by: line.decidedBy || by, note: line.note };
    const signed = isNamed || group.some((other) => isSamePerson(other.line.decidedBy, answer.by));
    if (!people.some((other) => isSamePerson(other.answer.by, answer.by)))
      people.push({ line: line.line, question, answer, signed });
  }
  return people;
}

const hasUnseen = ({ candidates }: Question, { shown }: GivenAnswer): boolean =>
  shown !== undefined && candidates.some(({ id }) => !shown.includes(id));

function groupById(said: readonly Said[]): Map<string, Said[]> {
  const groups = new Map<string, Said[]>();
  for (const one of said) {
    const group = groups.get(one.question.id);
    if (group === undefined) groups.set(one.question.id, [one]);
    else group.push(one);
  }
  return groups;
}

type Conclusion =
  | { readonly kind: 'answer' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] };

/** The joint result of all lines of one question. A refused line may contradict the others, so none of them counts. */
function conclude(group: readonly Said[], refusedLine: number | undefined): Conclusion {
  const [first, ...others] = group;
  if (first === undefined) return { kind: 'refused', refusals: [] };
  const all = (code: MessageCode, problem: string, next?: Refusal['next']): Conclusion => ({
    kind: 'refused',
    refusals: group.map(({ line }) => toRefusal(line, code, problem, next)),
  });
  const waitFor = (line: number) => `line ${line} of the same question is refused. Correct that line first.`;
  if (refusedLine !== undefined) return all('OTHER_LINE_REFUSED', waitFor(refusedLine));
  if (others.some((other) => other.verdict !== first.verdict || answeredWith(other) !== answeredWith(first))) {
    const confirms = new Set(group.flatMap(({ choice }) => choice?.id ?? []));
    const where = group.map(({ line }) => line.line).join(', ');
    return confirms.size > 1
      ? all('SEVERAL_CONFIRMED', `lines ${where} confirm ${confirms.size} candidates for one question. Keep one.`)
      : all('LINES_DISAGREE', `lines ${where} answer one question differently. Keep one answer.`);
  }
  const { question } = first;
  if (repeatsDecision(question, first)) return { kind: 'unchanged' };
  const { decision } = question;
  if (!question.open && decision !== undefined) {
    const when = new Date(decision.decidedAt).toISOString().slice(0, 10);
    const people = decision.secondBy === null ? decision.decidedBy : `${decision.decidedBy} and ${decision.secondBy}`;
    const problem = `already decided: ${decision.decision}, by ${people} on ${when}`;
    return all('DECIDED_ALREADY', problem, { kind: 'withdraw', decision: decision.id });
  }
  const noteless = group.find(({ lacksNote }) => lacksNote)?.line.line;
  if (noteless === undefined) return { kind: 'answer' };
  const refusals = group.map(({ line, choice, lacksNote }) =>
    lacksNote && choice !== undefined
      ? toRefusal(line, 'NOTE_NEEDED', noteNeededInWords(choice), undefined)
      : toRefusal(line, 'OTHER_LINE_REFUSED', waitFor(noteless), undefined),
  );
  return { kind: 'refused', refusals };
}

export interface Refusal {
  readonly line: number;
  readonly question: string;
  /** Why the line is refused, for scripts, and in words. */
  readonly code: MessageCode;
  readonly problem: string;
  /** The remedy: export the question again, or withdraw the decision. */
  readonly next?: { readonly kind: 'export' } | { readonly kind: 'withdraw'; readonly decision: number };
}

interface Said {
  readonly kind: 'said';
  readonly line: SheetLine;
  readonly question: Question;
  readonly verdict: Verdict;
  readonly choice: Choice | undefined;
  readonly corrected: string | undefined;
  /** The candidates in the sheet. Undefined: all of the question. */
  readonly shown: readonly string[] | undefined;
  /** It confirms a candidate that looks like another company, and does not say why. */
  readonly lacksNote: boolean;
}

type Checked =
  | Said
  | { readonly kind: 'blank' }
  /** Its question is no longer asked, because its answer is recorded. */
  | { readonly kind: 'recorded'; readonly question: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

const isSaid = (checked: Checked): checked is Said => checked.kind === 'said';

/** Checks a single line. Only lines with a decision are checked. `by`: who applies the sheet. */
function lineChecker(
  lines: readonly SheetLine[],
  questions: readonly Question[],
  isRecorded: (line: SheetLine) => boolean,
  by: string,
) {
  const byId = new Map(questions.map((question) => [question.id, question]));
  const sheet = candidatesByQuestion(lines);

  return (line: SheetLine): Checked => {
    if (line.problem !== undefined) return refuse(line, 'LINE_UNREADABLE', `the line cannot be read: ${line.problem}`);
    const corrected = line.correctedNumber === '' ? undefined : line.correctedNumber;
    if (line.decision === '' && corrected === undefined) return { kind: 'blank' };
    const keys = byId.get(line.question)?.candidates.map(({ key }) => key) ?? [];
    const offered = new Set([...keys, ...(sheet.get(line.question) ?? [])].filter((key) => key !== '')).size;
    const verdict = line.decision === '' ? 'none_of_these' : verdictNamed(line.decision, offered);
    if (verdict === undefined) {
      return refuse(
        line,
        'DECISION_UNKNOWN',
        verdictNamed(line.decision, 1) !== undefined && offered > 1
          ? `"${line.decision}" is unclear: the question has ${offered} candidates. Write confirm on the line of the right one, or none_of_these.`
          : `"${line.decision}" is not a decision. Use confirm, none_of_these or not_sure.`,
      );
    }
    if (line.decidedBy !== '' && !isPersonName(line.decidedBy))
      return refuse(
        line,
        'NAME_INVALID',
        `"${line.decidedBy}" in "decided by" is not a name. Write a name with letters or digits`,
      );
    if (line.question === '')
      return refuse(
        line,
        'QUESTION_MISSING',
        'the cell in column question is empty. Copy it from another line of the question',
      );
    const question = byId.get(line.question);
    if (question === undefined && isRecorded(line)) return { kind: 'recorded', question: line.question };
    if (question === undefined) return refuse(line, 'QUESTION_NOT_FOUND', `no such question: "${line.question}"`);
    if (verdict !== 'not_sure' && isFilledIn(line, question) && !isSamePerson(line.decidedBy, by))
      return refuse(line, 'NAME_FILLED_IN', filledInWords(line.decidedBy, by));
    if (line.basis === '') return refuse(line, 'BASIS_MISSING', 'the cell in column basis is empty or missing', WRITE);
    const upToDate = line.basis === question.basis;
    if (!upToDate && line.basis !== basisOfSheet(question, lines))
      return refuse(line, 'BASIS_DIFFERS', `the basis ${line.basis} does not belong to this question: ${APART}`, WRITE);
    const problem = corrected === undefined ? undefined : correctedProblem(corrected, verdict, question);
    if (problem !== undefined) return refuse(line, problem.code, problem.text);
    const choice = question.candidates.find(({ key }) => key === line.candidate);
    if (verdict === 'confirm' && line.candidate === '')
      return refuse(
        line,
        'CANDIDATE_MISSING',
        'the line has no candidate to confirm. Use none_of_these, or fill in "corrected number"',
      );
    if (line.candidate !== '' && choice === undefined) {
      if (upToDate)
        return refuse(line, 'CANDIDATE_NOT_FOUND', `"${line.candidate}" is not a candidate of this question`);
      if (verdict === 'confirm') return refuse(line, 'CANDIDATE_GONE', GONE, WRITE);
    }
    const other = differingCell(line.told, question, choice?.id ?? null);
    if (other !== undefined) return refuse(line, 'CELL_DIFFERS', otherInWords(other, line), WRITE);
    const onSheet = ({ key }: Choice) => sheet.get(question.id)?.has(key) ?? false;
    const shown = upToDate ? undefined : question.candidates.filter(onSheet).map(({ id }) => id);
    const said = { verdict, choice: verdict === 'confirm' ? choice : undefined, corrected };
    const lacksNote = said.choice !== undefined && line.note === '' && seemsAnotherCompany(said.choice.matchGrade);
    return { kind: 'said', line, question, ...said, shown, lacksNote };
  };
}

/**
 * The basis that a sheet older than its question must have: that of the candidates it shows. An ID cell changed by a
 * spreadsheet no longer fits its key. Undefined if the basis cannot be checked.
 */
function basisOfSheet({ id, candidates, asked }: Question, lines: readonly SheetLine[]): string | undefined {
  const known = [...candidates, ...asked.flatMap((one) => one.candidates)].map((candidate) => candidate.id);
  const byKey = new Map(known.map((candidateId) => [choiceKey(candidateId), candidateId]));
  const shown = new Set<string>();
  for (const { candidate, told } of lines.filter(({ question }) => question === id)) {
    if (candidate === '') continue;
    const candidateId = byKey.get(candidate) ?? told.get('candidate_id') ?? '';
    if (choiceKey(candidateId) !== candidate) return undefined;
    shown.add(candidateId);
  }
  return basisOf(shown);
}

function correctedProblem(
  number: string,
  verdict: Verdict,
  { stage, countryCode, input, correctedNumber }: Question,
): Message | undefined {
  if (verdict !== 'none_of_these')
    return message('ANSWERED_TWICE', `"corrected number" and ${verdict} exclude each other. Keep one.`);
  if (stage !== null)
    return message('NUMBER_NOT_ASKED', 'this question is about bought data. Answer confirm or none_of_these.');
  const problem = correctionProblem(number, countryCode, input, correctedNumber);
  return problem === undefined ? undefined : message('NUMBER_UNUSABLE', problem);
}

/**
 * The name may have been written by the export: it is that of an earlier unsure person and does not say who decides.
 */
const isFilledIn = ({ hasEarlier, decidedBy }: SheetLine, { unsure }: Question): boolean =>
  !hasEarlier && unsure.includes(decidedBy);

const filledInWords = (name: string, by: string): string =>
  `"decided by" still has the name of ${name}, who was not sure. Empty that cell to decide as ${by}. If ${name} decides, add --by ${name}`;

function candidatesByQuestion(lines: readonly SheetLine[]): ReadonlyMap<string, ReadonlySet<string>> {
  const sheet = new Map<string, Set<string>>();
  for (const { question, candidate } of lines)
    sheet.set(question, (sheet.get(question) ?? new Set<string>()).add(candidate));
  return sheet;
}

function otherInWords({ column, cell, means }: OtherCell, { question, candidate }: SheetLine): string {
  const whose = column.startsWith('input_') ? `question ${question}` : `candidate ${candidate}`;
  const [shows, has] = [cell, means].map((text) => (text === '' ? 'nothing' : `"${text}"`));
  return `"${headingOf(column)}" shows ${shows}, but ${whose} has ${has}: ${APART}`;
}

const noteNeededInWords = ({ matchGrade }: Choice): string =>
  `this candidate looks like another company (${gradeInWords(matchGrade)}). Write in the note why it is the right one`;

const APART = 'part of the line was moved, or the sheet is out of date';
const GONE = 'a newer search no longer finds this candidate';
const WRITE = { kind: 'export' } as const;

const refuse = (line: SheetLine, code: MessageCode, problem: string, next?: Refusal['next']): Checked => ({
  kind: 'refused',
  refusal: toRefusal(line, code, problem, next),
});

const toRefusal = (
  { line, question }: SheetLine,
  code: MessageCode,
  problem: string,
  next: Refusal['next'],
): Refusal => ({
  line,
  question,
  code,
  problem,
  ...(next === undefined ? {} : { next }),
});
