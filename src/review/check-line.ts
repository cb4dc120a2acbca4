import { correctionProblem } from '../domain/corrected-number.js';
import { isPersonName, isSamePerson } from '../ledger/two-people.js';
import { type Verdict, verdictNamed } from './give-answer.js';
import { basisOf, type Choice, choiceKey, type Question } from './questions.js';
import type { SheetLine } from './read-sheet.js';
import { type OtherCell, otherCell } from './told-cells.js';

export interface Refusal {
  readonly line: number;
  readonly question: string;
  readonly problem: string;
  /** What helps: a look at the question as it is now, or taking back what was decided. */
  readonly next?: { readonly kind: 'export' } | { readonly kind: 'withdraw'; readonly decision: number };
}

export interface Said {
  readonly kind: 'said';
  readonly line: SheetLine;
  readonly question: Question;
  readonly verdict: Verdict;
  readonly choice: Choice | undefined;
  /** The number that the row should have. */
  readonly corrected: string | undefined;
  /** The candidates that the sheet shows; undefined: all that the question has. */
  readonly shown: readonly string[] | undefined;
}

type Checked = Said | { readonly kind: 'blank' } | { readonly kind: 'refused'; readonly refusal: Refusal };

export const isSaid = (checked: Checked): checked is Said => checked.kind === 'said';

/** What one line of a sheet says by itself. Only lines that carry a decision are judged. `by`: who applies the sheet. */
export function lineChecker(lines: readonly SheetLine[], questions: readonly Question[], by: string) {
  const byId = new Map(questions.map((question) => [question.id, question]));
  const sheet = candidatesByQuestion(lines);

  return (line: SheetLine): Checked => {
    if (line.problem !== undefined) return refuse(line, `the line cannot be read: ${line.problem}`);
    const corrected = line.correctedNumber === '' ? undefined : line.correctedNumber;
    if (line.decision === '' && corrected === undefined) return { kind: 'blank' };
    const verdict = line.decision === '' ? 'none_of_these' : verdictNamed(line.decision);
    if (verdict === undefined) {
      return refuse(line, `"${line.decision}" is no decision; write confirm, none_of_these or not_sure`);
    }
    if (line.decidedBy !== '' && !isPersonName(line.decidedBy))
      return refuse(line, `"${line.decidedBy}" in decided_by is nobody's name: there is no letter or digit in it`);
    if (line.question === '') return refuse(line, 'the question column is empty');
    const question = byId.get(line.question);
    if (question === undefined) return refuse(line, `no such question: "${line.question}"`);
    if (verdict !== 'not_sure' && isFilledIn(line, question) && !isSamePerson(line.decidedBy, by))
      return refuse(line, filledInWords(line.decidedBy, by));
    if (line.basis === '') return refuse(line, 'the basis column is empty or missing on this line', WRITE);
    const upToDate = line.basis === question.basis;
    if (!upToDate && line.basis !== basisOfSheet(question, lines))
      return refuse(line, `its basis ${line.basis} is not the basis of this question: ${APART}`, WRITE);
    const problem = corrected === undefined ? undefined : correctedProblem(corrected, verdict, question);
    if (problem !== undefined) return refuse(line, problem);
    const choice = question.candidates.find(({ key }) => key === line.candidate);
    if (verdict === 'confirm' && line.candidate === '')
      return refuse(line, 'there is no candidate on this line to confirm');
    if (line.candidate !== '' && choice === undefined) {
      if (upToDate) return refuse(line, `"${line.candidate}" is no candidate of this question`);
      if (verdict === 'confirm') return refuse(line, GONE, WRITE);
    }
    const other = otherCell(line.told, question, choice?.id ?? null);
    if (other !== undefined) return refuse(line, otherInWords(other, line), WRITE);
    const onSheet = ({ key }: Choice) => sheet.get(question.id)?.has(key) ?? false;
    const shown = upToDate ? undefined : question.candidates.filter(onSheet).map(({ id }) => id);
    const said = { verdict, choice: verdict === 'confirm' ? choice : undefined, corrected };
    return { kind: 'said', line, question, ...said, shown };
  };
}

/**
 * The basis that a sheet older than its question must have: that of the candidates it shows. An ID cell that a spreadsheet
 * has changed no longer fits its key. Undefined: the basis cannot be checked.
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
  { stage, countryCode, input }: Question,
): string | undefined {
  if (verdict !== 'none_of_these') return `corrected_number and ${verdict} exclude each other: keep one of them`;
  if (stage !== null) return 'this question is about what was bought: answer it with confirm or none_of_these';
  return correctionProblem(number, countryCode, input.registration_number);
}

/** The name may be there since the file was written: it is that of somebody who was not sure, and says nothing of who decides. */
const isFilledIn = ({ hasEarlier, decidedBy }: SheetLine, { unsure }: Question): boolean =>
  !hasEarlier && unsure.includes(decidedBy);

const filledInWords = (name: string, by: string): string =>
  `${name} was not sure, and the file had that name in decided_by already: empty that cell, and the note if it is ${name}'s, and ${by} signs; if it is ${name} who decides, apply the file with --by ${name}`;

/** The keys of the candidates that a sheet shows, decided or not. */
function candidatesByQuestion(lines: readonly SheetLine[]): ReadonlyMap<string, ReadonlySet<string>> {
  const sheet = new Map<string, Set<string>>();
  for (const { question, candidate } of lines)
    sheet.set(question, (sheet.get(question) ?? new Set<string>()).add(candidate));
  return sheet;
}

function otherInWords({ column, cell, means }: OtherCell, { question, candidate }: SheetLine): string {
  const whose = column.startsWith('input_') ? `question ${question}` : `candidate ${candidate}`;
  const [shows, has] = [cell, means].map((text) => (text === '' ? 'nothing' : `"${text}"`));
  return `${column} shows ${shows}, but ${whose} has ${has}: ${APART}`;
}

const APART = 'a part of the line was sorted or pasted alone, or the file is older than what is known now';
const GONE = 'the provider was asked again since this file was written and does not name this candidate any more';
const WRITE = { kind: 'export' } as const;

const refuse = (line: SheetLine, problem: string, next?: Refusal['next']): Checked => ({
  kind: 'refused',
  refusal: toRefusal(line, problem, next),
});

export const toRefusal = ({ line, question }: SheetLine, problem: string, next: Refusal['next']): Refusal => ({
  line,
  question,
  problem,
  ...(next === undefined ? {} : { next }),
});
