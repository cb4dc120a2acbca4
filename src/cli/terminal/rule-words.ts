import type { RuleProposal, RuleView } from '../../app/review-rule.js';
import type { LeftOut } from '../../review/rule.js';
import { printable } from '../../review/words.js';
import { type Place, placeFlags } from './commands.js';
import { nextInWords } from './review-words.js';
import { count, textTable } from './text.js';

const SHOWN = 20;
const HEADER = ['question', 'row', 'line', 'your ID', 'input', 'candidate', 'number', 'grade'];

/** What a rule would answer: the first of them, or each; and what it leaves out. */
export function ruleProposalInWords(proposal: RuleProposal, all: boolean): string {
  const { answers } = proposal;
  const shown = all ? answers : answers.slice(0, SHOWN);
  const lines = shown.map(({ question, choice }) => {
    const [row] = question.rows;
    const cells = [question.input.name, choice?.name, choice?.registrationNumber, choice?.matchGrade];
    const place = [String(row?.row ?? ''), String(row?.line ?? ''), row?.inputId];
    return [question.id, ...[...place, ...cells].map((cell) => short(printable(cell ?? '')))];
  });
  const others = answers.length - shown.length;
  const more = others === 0 ? '' : `… and ${others} more (--all shows each)\n`;
  return `${answers.length === 0 ? '' : textTable(HEADER, lines)}${more}${leftOutInWords(proposal)}`;
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

function leftOutInWords({ leftOut }: RuleProposal): string {
  const parts = [...leftOut].map(([why, questions]) => `${questions} ${LEFT_OUT[why]}`);
  return parts.length === 0 ? '' : `Left to be looked at: ${parts.join('; ')}.\n`;
}

export function ruleInWords(view: RuleView, place: Place): string {
  const { outcome, batch, decided, held, by, released } = view;
  if (outcome !== 'answered') return `No question fits. ${leftOutInWords(view)}`.trimEnd().concat('\n');
  const waits = held === 0 ? '' : `, ${held} ${held === 1 ? 'waits' : 'wait'} for a second person`;
  const undo = `kybatch review withdraw --batch ${batch}${placeFlags(place)}`;
  return `${count(decided, 'question')} answered by ${printable(by)}${waits}. All of it is taken back with: ${undo}\n${nextInWords(released, place)}`;
}

export const leftOutToJson = ({ leftOut }: RuleProposal) => Object.fromEntries(leftOut);
