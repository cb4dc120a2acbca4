import { mismatchInWords, readIdentityMismatch } from '../domain/identity-mismatch.js';
import { idSpaces } from '../domain/provider.js';
import type { DecisionEntry, Recorded } from '../ledger/review/review.js';
import type { QuestionTopic } from '../ledger/rows/runs.js';
import { type Choice, lacksGoodCandidate, type Question } from './questions.js';

/** The topic of a question, for people. */
export const topicInWords = ({ space, stage }: QuestionTopic): string =>
  stage === null ? idSpaces[space].words : `bought ${stage}`;

/** The same in one word, for programs. */
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

/**
 * The question for the terminal: at most `most` candidates from the given one on. Each keeps its number on every page.
 */
export function questionInWords(question: Question, from = 0, most = Number.POSITIVE_INFINITY): string {
  const { id, code, message, input, candidates, decision } = question;
  const shown = candidates.slice(from, from + most);
  const lines = [
    `${id}  ${topicInWords(question)} · ${rowsInWords(question)} · ${code}${besideInWords(question)}`,
    `  ${printable(message)}`,
    ...(decision === undefined ? [] : [`  ${earlierInWords(decision)}`]),
    ...heldInWords(question).map((words) => `  ${words}`),
    `  input  ${inputInWords(input)}`,
    ...shown.flatMap((choice, index) => [
      `  ${String(from + index + 1).padStart(5)}  ${choiceInWords(choice)}`,
      `         ${choice.matchGrade}  ${printable(choice.evidence)}`,
    ]),
    ...(candidates.length === 0 ? ['         no candidate was found'] : []),
    ...(lacksGoodCandidate(question) ? ['         correct your list, or give the number here'] : []),
    ...(shown.length < candidates.length
      ? [`         ${from + 1} to ${from + shown.length} of ${candidates.length} shown`]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

interface Said {
  readonly verdict: DecisionEntry['decision'];
  readonly choice?: Choice | undefined;
  readonly corrected?: string | undefined;
}

/** The result of an answer, in words. */
export function answerInWords({ verdict, choice, corrected }: Said, recorded: Recorded): string {
  const other = corrected === undefined ? verdict.replaceAll('_', ' ') : `the number is ${corrected}`;
  const said = choice === undefined ? other : `confirmed: ${choice.name ?? choice.id}`;
  return printable(`${said}${recordedInWords(recorded)}`);
}

function recordedInWords(recorded: Recorded): string {
  if (recorded.kind === 'in_force') return recorded.with === null ? '' : `, as ${recorded.with} had`;
  if (recorded.kind === 'said_before' || recorded.against.length === 0) return '; it waits for a second person';
  const others = [...new Set(recorded.against.map(({ decidedBy }) => decidedBy))].join(', ');
  return `; ${others} said otherwise: the question stays open until one more person has said the same as one of you`;
}

/** `where`: where the name is given. */
export const saidBeforeInWords = (by: string, where: '--by' | 'decided_by'): string =>
  printable(`${by} has said so already: a second person must agree, by another name (${where})`);

/** For an unsigned line that would complete another person's answer. */
export const unsignedInWords = ({ decision, decidedBy }: Pick<DecisionEntry, 'decision' | 'decidedBy'>): string =>
  printable(
    `${decidedBy} has ${decision === 'confirm' ? 'confirmed it' : `said ${decision}`}; the second person signs in the column decided_by, or with --by`,
  );

const besideInWords = ({ beside, askedBy }: Question): string =>
  beside ? ` · asked with ${askedBy === undefined ? 'another pipeline' : `pipeline ${printable(askedBy)}`}` : '';

function earlierInWords({ decision, decidedBy, note }: DecisionEntry): string {
  const said = decision === 'not_sure' ? 'was not sure' : `said ${decision}, but the candidates have changed since`;
  return printable(`${decidedBy} ${said}${note === null ? '' : `: ${note}`}`);
}

/** The answers so far, if two people must agree. */
function heldInWords({ held, candidates, needsTwo }: Question): readonly string[] {
  if (held.length === 0) return needsTwo ? ['a confirmation counts when a second person has agreed'] : [];
  const said = held.map(({ decision, candidateId, decidedBy, note }) => {
    const place = candidates.findIndex(({ id }) => id === candidateId);
    const whom = place === -1 ? 'a candidate that is not named any more' : `candidate ${place + 1}`;
    const what = decision === 'confirm' ? `confirmed ${whom}` : `said ${decision}`;
    return printable(`${decidedBy} has ${what}${note === null ? '' : `: ${note}`}`);
  });
  const agree = new Set(held.map(({ decision, candidateId }) => `${decision} ${candidateId}`)).size === 1;
  return [
    ...said,
    agree ? 'it waits for a second person' : 'they disagree: whoever says the same as one of them decides',
  ];
}

function rowsInWords({ rows }: Question): string {
  const [first] = rows;
  if (first === undefined) return 'no row';
  const others = rows.length - 1;
  const own = first.inputId === undefined || first.inputId === '' ? '' : `your ID ${printable(first.inputId)}, `;
  return `${own}row ${first.row} (line ${first.line}) of ${first.runId}${others === 0 ? '' : ` and ${others} more`}`;
}

/** Names come from outside: they must not move the cursor or change colours. */
export const printable = (text: string): string => text.replace(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
