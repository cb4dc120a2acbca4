import type { ReviewStore, RowRef } from '../ledger/review.js';
import { isSamePerson, type Word, weigh } from '../ledger/two-people.js';
import { isSaid, lineChecker, type Refusal, type Said, toRefusal } from './check-line.js';
import { type GivenAnswer, giveAnswer, meantBy, saysTheSame } from './give-answer.js';
import { type Question, readQuestions } from './questions.js';
import type { SheetLine } from './read-sheet.js';
import { saidBeforeInWords, unsignedInWords } from './words.js';

export interface Applied {
  /** Decisions written down now. */
  readonly applied: number;
  /** Those of them that say `not_sure`: their questions stay open. */
  readonly notSure: number;
  /** Those of them that wait for a second person; and of these, against whom somebody else has said otherwise. */
  readonly held: number;
  readonly disagreeing: number;
  /** Those of them whose question has candidates by now that the sheet does not show. */
  readonly unseen: number;
  /** Those of them that answer what another pipeline has asked than the one that was run last: they count with that. */
  readonly later: number;
  /** What was decided already; of several people who say the same of one question, each counts. */
  readonly unchanged: number;
  /** Lines without a decision. */
  readonly blank: number;
  readonly refused: readonly Refusal[];
  readonly released: readonly RowRef[];
}

/**
 * Applies the good lines and tells of each bad one. Applying the same sheet again changes nothing. A sheet that is older
 * than its question still counts: for the candidates that it shows, and as their decision it is remembered.
 */
export async function applySheet(
  lines: readonly SheetLine[],
  review: ReviewStore,
  by: string,
  now: number,
  /** Whoever applies it has said so by name: that is a signature for the lines that have none. */
  isNamed = false,
): Promise<Applied> {
  const checked = lines.map(lineChecker(lines, await readQuestions(review), by));
  const refused = checked.flatMap((result) => (result.kind === 'refused' ? [result.refusal] : []));
  const said = groupById(checked.filter(isSaid));
  const answers: Given[] = [];
  let unchanged = 0;
  for (const group of said.values()) {
    const people = byPerson(group, by, isNamed);
    const conclusion = conclude(group);
    if (conclusion.kind === 'refused') refused.push(...conclusion.refusals);
    else if (conclusion.kind === 'unchanged') unchanged += people.length;
    else answers.push(people);
  }
  const spoken = await Promise.all(answers.map((people) => giveInOrder(people, review, now)));
  const given = spoken.flatMap((each) => each.given);
  const unsigned = spoken.flatMap((each) => each.unsigned);
  unchanged += answers.flat().length - given.length - unsigned.length;
  const saidBefore = given.filter(({ recorded }) => recorded.kind === 'said_before');
  const taken = spoken.flatMap(lastWords);
  for (const { question, line, first } of unsigned)
    refused.push({ line, question: question.id, problem: unsignedInWords(first) });
  for (const { question, answer, line } of saidBefore)
    refused.push({ line, question: question.id, problem: saidBeforeInWords(answer.by, 'decided_by') });
  return {
    applied: taken.length,
    notSure: taken.filter(({ answer }) => answer.verdict === 'not_sure').length,
    held: taken.filter(({ recorded }) => recorded.kind === 'held').length,
    disagreeing: taken.filter(({ recorded }) => recorded.kind === 'held' && recorded.against.length > 0).length,
    unseen: taken.filter(({ question, answer }) => hasUnseen(question, answer)).length,
    later: taken.filter(({ question }) => question.beside).length,
    unchanged,
    blank: checked.filter(({ kind }) => kind === 'blank').length,
    refused: refused.sort((a, b) => a.line - b.line),
    released: taken.flatMap(({ recorded }) => recorded.released),
  };
}

/** What people say to one question, each of them once, in the order of their lines. */
type Given = readonly {
  readonly line: number;
  readonly question: Question;
  readonly answer: GivenAnswer;
  /** A line has the name of who says it; else it is that of whoever applies the sheet. */
  readonly signed: boolean;
}[];

/**
 * A sheet may hold the words of several people: those who say the same agree, where that is needed, and no longer than that.
 * Nobody agrees without a signature: whoever applies a sheet may be handing in what the first person has filled in.
 */
async function giveInOrder(people: Given, review: ReviewStore, now: number) {
  const given = [];
  const unsigned = [];
  for (const one of people) {
    const before = given.filter(({ recorded }) => recorded.kind === 'held').map(({ answer }) => toWord(answer));
    const first = one.signed ? undefined : completed(toWord(one.answer), [...one.question.held, ...before]);
    if (first !== undefined) {
      unsigned.push({ ...one, first });
      continue;
    }
    const recorded = await giveAnswer(review, one.question, one.answer, now);
    given.push({ ...one, recorded });
    if (recorded.kind === 'in_force') break;
  }
  return { given, unsigned };
}

const toWord = ({ verdict, choice, corrected, by }: GivenAnswer): Word => ({
  decision: verdict,
  candidateId: meantBy({ choice, corrected }),
  decidedBy: by,
});

/** Somebody else's word that waits, and would count with this one. */
function completed(word: Word, waiting: readonly Word[]): Word | undefined {
  const weighed = weigh(word, waiting);
  return weighed.kind === 'in_force' ? weighed.first : undefined;
}

/** Of people who have come to agree on one sheet, the word that decided; nobody's waits any more. */
function lastWords({ given }: Awaited<ReturnType<typeof giveInOrder>>) {
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

/** What all lines of one question say together. */
function conclude(group: readonly Said[]): Conclusion {
  const [first, ...others] = group;
  if (first === undefined) return { kind: 'refused', refusals: [] };
  const all = (problem: string, next?: Refusal['next']): Conclusion => ({
    kind: 'refused',
    refusals: group.map(({ line }) => toRefusal(line, problem, next)),
  });
  if (others.some((other) => other.verdict !== first.verdict || meantBy(other) !== meantBy(first))) {
    const confirms = new Set(group.flatMap(({ choice }) => choice?.id ?? []));
    const where = group.map(({ line }) => line.line).join(', ');
    return all(
      confirms.size > 1
        ? `${confirms.size} candidates are confirmed for one question (lines ${where}); only one can be meant`
        : `the lines ${where} answer one question differently`,
    );
  }
  const { question } = first;
  if (saysTheSame(question, first)) return { kind: 'unchanged' };
  const { decision } = question;
  if (!question.open && decision !== undefined) {
    const when = new Date(decision.decidedAt).toISOString().slice(0, 10);
    const people = decision.secondBy === null ? decision.decidedBy : `${decision.decidedBy} and ${decision.secondBy}`;
    const problem = `decided already: ${decision.decision}, by ${people} on ${when}`;
    return all(problem, { kind: 'withdraw', decision: decision.id });
  }
  return { kind: 'answer' };
}
