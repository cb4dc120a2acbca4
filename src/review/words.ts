import { mismatchInWords, readIdentityMismatch } from '../domain/identity-mismatch.js';
import type { ReviewReason } from '../domain/match-decision.js';
import { idSpaces } from '../domain/provider.js';
import { lacksCourt, lacksState, otherCountryInWords } from '../domain/search-subject.js';
import type { DecisionEntry, Recorded } from '../ledger/review/review.js';
import type { QuestionTopic } from '../ledger/rows/runs.js';
import { listed } from '../util/words.js';
import { type Choice, lacksGoodCandidate, type Question, shownInput } from './questions.js';

/** The search or the bought data that a question is about, for people. */
export const topicInWords = ({ space, stage }: QuestionTopic): string =>
  stage === null ? idSpaces[space].words : `bought ${stage}`;

/** Nothing for the first search, which most questions are about. */
export const furtherTopic = (topic: QuestionTopic): string | false =>
  (topic.stage !== null || topic.space !== 'v1') && topicInWords(topic);

export const topicName = ({ space, stage }: QuestionTopic): string => stage ?? space;

/** The difference that was accepted with a bought answer. */
export const acceptedInWords = ({ stage, decision, entityKey }: Accepted): string =>
  stage === null || decision !== 'confirm'
    ? ''
    : `, although the ${stage} ${mismatchInWords(readIdentityMismatch(entityKey))}`;

type Accepted = Pick<DecisionEntry, 'stage' | 'decision' | 'entityKey'>;

export const inputInWords = (input: Question['input']): string =>
  sideInWords(
    input.name,
    [input.country, input.state, input.city],
    input.registration_number,
    input.vat_number,
    input.ticker === undefined ? undefined : `ticker ${input.ticker}`,
  );

/** The row's other filled cells, which may tell candidates apart. Long lists and texts are cut. */
export function otherCellsInWords({ otherCells }: Pick<Question, 'otherCells'>): string {
  const short = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const all = otherCells.map(({ column, text }) => printable(`${short(column, 30)}: ${short(text, 80)}`));
  const more = all.length - MOST_CELLS;
  return [...all.slice(0, MOST_CELLS), ...(more > 0 ? [`and ${more} more`] : [])].join(' · ');
}

const MOST_CELLS = 8;

const choiceInWords = (choice: Choice): string =>
  sideInWords(choice.name, [choice.countryCode, choice.state], choice.registrationNumber, choice.vatNumber);

type Field = string | null | undefined;

function sideInWords(name: Field, places: readonly Field[], number: Field, vat: Field, more?: string): string {
  const place = places.filter(Boolean).join(', ');
  return [name ?? '(no name)', place, number ?? '(no number)', vat ? `VAT ${vat}` : '', more ?? '']
    .filter((part) => part !== '')
    .map(printable)
    .join(' · ');
}

/** A question with all its candidates, their grades and the evidence. */
export const questionInFull = (question: Question): string =>
  linesOf(
    question,
    `${question.id}  ${topicInWords(question)} · ${question.code}${besideInWords(question)}\n  row    ${rowsInWords(question)}`,
    question.candidates.flatMap((choice, index) => [
      choiceLine(choice, index),
      `         ${choice.matchGrade}  ${printable(choice.evidence)}`,
    ]),
  );

/**
 * The question for the terminal: at most `most` candidates from the given one on. Each keeps its number on every page.
 */
export function questionInWords(question: Question, from = 0, most = Number.POSITIVE_INFINITY): string {
  const { candidates } = question;
  const shown = candidates.slice(from, from + most);
  const head = listed([furtherTopic(question), `row ${rowsInWords(question)}${besideInWords(question)}`], ' · ');
  return linesOf(question, head, [
    ...shown.flatMap((choice, index) => [
      choiceLine(choice, from + index),
      `         ${printable(choice.evidence).replaceAll('; ', ' · ')}`,
    ]),
    ...(shown.length < candidates.length
      ? [`         ${from + 1} to ${from + shown.length} of ${candidates.length} shown`]
      : []),
  ]);
}

function linesOf(question: Question, head: string, choices: readonly string[]): string {
  const { candidates, decision } = question;
  const lines = [
    head,
    `  why    ${printable(whyInWords(question))}`,
    ...(decision === undefined ? [] : [`  ${earlierInWords(decision)}`]),
    ...heldInWords(question).map((words) => `  ${words}`),
    `  yours  ${inputInWords(shownInput(question))}`,
    ...(question.otherCells.length === 0 ? [] : [`  also   ${otherCellsInWords(question)}`]),
    ...choices,
    ...(candidates.length === 0 ? ['         no candidate was found'] : []),
    ...(lacksGoodCandidate(question) ? ['         correct your list, or give the number here'] : []),
  ];
  return `${lines.join('\n')}\n`;
}

const choiceLine = (choice: Choice, index: number): string =>
  `  ${String(index + 1).padStart(5)}  ${choiceInWords(choice)}`;

export function reasonInWords(question: Question): string {
  const { code, input } = question;
  if (code === 'NUMBER_UNREADABLE' && lacksCourt(input)) return 'court missing';
  if (otherCountry(question) !== undefined) return 'country or number?';
  if (code === 'SEVERAL_CANDIDATES' && lacksState(input)) return 'state missing';
  const namesakes = countNamesakes(question);
  return namesakes > 1 ? `${namesakes} have this name` : reasonName(code);
}

const otherCountry = ({ code, input }: Question): string | undefined =>
  code === 'NUMBER_UNREADABLE' ? otherCountryInWords(input) : undefined;

/**
 * Why the row asks, as a sentence. A name that several candidates have decides even less. Of a row that is confirmed
 * elsewhere, none of the candidates may be right.
 */
export function whyInWords(question: Question): string {
  const { message, isKnown, stage, space } = question;
  const namesakes = countNamesakes(question);
  const isSafe = isKnown && stage === null;
  return [
    otherCountry(question) ?? message,
    ...(namesakes > 1 ? [`${namesakes} candidates have this name`] : []),
    ...(isSafe
      ? [`The company is confirmed: with none of these, only data of the ${idSpaces[space].words} is missing`]
      : []),
  ].join('. ');
}

/** The candidates with the name of a row that gives only a name. */
const countNamesakes = ({ code, candidates }: Question): number =>
  code === 'NAME_ONLY' ? candidates.filter(({ matchGrade }) => matchGrade.charAt(1) === 'A').length : 0;

export const reasonName = (code: string): string =>
  (Object.hasOwn(REASONS, code) ? REASONS[code as keyof typeof REASONS] : undefined) ??
  code.toLowerCase().replaceAll('_', ' ');

const REASONS: Readonly<Record<Uppercase<ReviewReason>, string>> & Readonly<Record<string, string>> = {
  NUMBER_UNREADABLE: 'number unclear',
  NUMBER_ALONE: 'number only',
  SEVERAL_CANDIDATES: 'several companies',
  NAME_CONFLICT: 'name differs',
  NAME_NEEDED: 'name missing',
  NUMBER_CONFLICT: 'number differs',
  COUNTRY_CONFLICT: 'country differs',
  VAT_CONFLICT: 'VAT differs',
  LEGAL_FORM_DIFFERS: 'legal form differs',
  CANDIDATE_WITHOUT_NUMBER: 'candidate unnumbered',
  CONTRADICTORY_CANDIDATE: 'two numbers, one ID',
  REPAIRED_NUMBER: 'number repaired',
  VAT_ONLY: 'VAT only',
  TICKER_ONLY: 'ticker only',
  NAME_ONLY: 'name only',
  HINT_ONLY: 'other source only',
  IDENTITY_MISMATCH: 'bought data differs',
  ID_TAKEN: 'ID taken before',
  UNREADABLE_CANDIDATE: 'candidate unreadable',
  CANDIDATES_NOT_RETURNED: 'candidates not sent',
  CANDIDATES_UNSEEN: 'more candidates',
  SECOND_PERSON: 'second person',
};

interface Said {
  readonly verdict: DecisionEntry['decision'];
  readonly choice?: Choice | undefined;
  readonly corrected?: string | undefined;
}

export function answerInWords({ verdict, choice, corrected }: Said, recorded: Recorded): string {
  const other = corrected === undefined ? verdict.replaceAll('_', ' ') : `the number is ${corrected}`;
  const said = choice === undefined ? other : `confirmed: ${chosenInWords(choice)}`;
  return printable(`${said}${recordedInWords(recorded)}`);
}

/** Namesakes differ by their number. */
const chosenInWords = ({ name, registrationNumber, id }: Choice): string =>
  [name, registrationNumber ?? `ID ${id}`].filter((part) => part !== null).join(', ');

function recordedInWords(recorded: Recorded): string {
  if (recorded.kind === 'in_force') return recorded.with === null ? '' : `, as ${recorded.with} had`;
  if (recorded.kind === 'said_before' || recorded.against.length === 0) return ', waits for a second person';
  const others = [...new Set(recorded.against.map(({ decidedBy }) => decidedBy))].join(', ');
  return `. ${others} answered differently. The question stays open until a third person agrees with one of you.`;
}

/** `where`: where the name is given. */
export const saidBeforeInWords = (by: string, where: '--by' | 'decided by'): string =>
  printable(`${by} has already answered. A second person must agree, under another name (${where}).`);

/** For an unsigned line that would complete another person's answer. */
export const unsignedInWords = ({ decision, decidedBy }: Pick<DecisionEntry, 'decision' | 'decidedBy'>): string =>
  printable(
    `${decidedBy} ${decision === 'confirm' ? 'confirmed it' : `answered ${decision}`}. The second person must give a name: in the column "decided by", or with --by`,
  );

const besideInWords = ({ beside, askedBy }: Question): string =>
  beside ? ` · from ${askedBy === undefined ? 'another pipeline' : `pipeline ${printable(askedBy)}`}` : '';

function earlierInWords({ decision, decidedBy, note }: DecisionEntry): string {
  const said = decision === 'not_sure' ? 'was not sure' : `answered ${decision}, but the candidates have changed since`;
  return printable(`${decidedBy} ${said}${note === null ? '' : `: ${note}`}`);
}

/** The answers so far, if two people must agree. */
function heldInWords({ held, candidates, needsTwo }: Question): readonly string[] {
  if (held.length === 0) return needsTwo ? ['a confirmation counts when a second person agrees'] : [];
  const said = held.map(({ decision, candidateId, decidedBy, note }) => {
    const place = candidates.findIndex(({ id }) => id === candidateId);
    const whom = place === -1 ? 'a candidate that is no longer listed' : `candidate ${place + 1}`;
    const what = decision === 'confirm' ? `confirmed ${whom}` : `answered ${decision}`;
    return printable(`${decidedBy} ${what}${note === null ? '' : `: ${note}`}`);
  });
  const agree = new Set(held.map(({ decision, candidateId }) => `${decision} ${candidateId}`)).size === 1;
  return [
    ...said,
    agree ? 'it waits for a second person' : 'they disagree: the next person who agrees with one of them decides',
  ];
}

/** "4 (line 5) of suppliers.csv · run 4331d2 · your ID C-4": the first row that asks. */
function rowsInWords({ rows }: Question): string {
  const [first] = rows;
  if (first === undefined) return 'unknown';
  const others = rows.length - 1;
  return [
    `${first.row} (line ${first.line}) of ${printable(first.list)}`,
    `run ${first.runId.replace(/^\d{4}-\d\d-\d\d-/, '')}`,
    ...(first.inputId === undefined || first.inputId === '' ? [] : [`your ID ${printable(first.inputId)}`]),
    ...(others === 0 ? [] : [`and ${others} more ${others === 1 ? 'row' : 'rows'}`]),
  ].join(' · ');
}

/** Names come from outside: they must not move the cursor or change colours. */
export const printable = (text: string): string => text.replace(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
