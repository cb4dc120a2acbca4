import type { Amounts, DueReason, ListNews, Rest, StartedEvent } from '../../app/events.js';
import type { GoOnProposal } from '../../app/go-on.js';
import type { GuardFinding } from '../../app/guards.js';
import type { Proposal } from '../../app/start.js';
import { type Reveals, revealsAnything } from '../../domain/reveals.js';
import { sentence } from '../../util/sentence.js';
import { count, withCommas } from './text.js';

/** "9 v1 units", or "9 v1 units and 3 credit reports" where reports can be bought at all. */
export const amountsInWords = ({ units, reports }: Amounts): string =>
  `${count(units, 'v1 unit')}${reportsInWords(reports)}`;

const reportsInWords = (reports: number): string => (reports === 0 ? '' : ` and ${count(reports, 'credit report')}`);

/** Without v1 nothing is counted in units, and a call of v2 may cost all the same. What is revealed is charged by itself. */
const mostInWords = (most: Rest, asksV1: boolean): string => {
  const amounts = asksV1 ? amountsInWords(most) : `${count(most.v2Calls, 'v2 call')}${reportsInWords(most.reports)}`;
  return `${amounts}${revealsAnything(most.reveals) ? `, with up to ${revealsInWords(most.reveals)}` : ''}`;
};

/** "3 reveals of e-mail, 1 of phone" */
export const revealsInWords = ({ email, phone }: Reveals): string =>
  phone === 0
    ? `${count(email, 'reveal')} of e-mail`
    : email === 0
      ? `${count(phone, 'reveal')} of phone`
      : `${count(email, 'reveal')} of e-mail, ${withCommas(phone)} of phone`;

type May = Pick<StartedEvent, 'atMost' | 'asksV1' | 'moreIfLost' | 'reportsUnbound'>;

const atMostInWords = ({ atMost, asksV1, moreIfLost, reportsUnbound }: May): string =>
  `at most ${mostInWords(atMost, asksV1)}${reportsUnbound ? ' (the budget is one of units; --max-reports bounds reports)' : ''}${moreIfLost ? ', unless answers are lost and asked for again (--budget holds whatever happens)' : ''}`;

/** What guards have found, before somebody is asked. */
export const findingsInWords = (findings: readonly GuardFinding[]): string =>
  findings.map(({ guard, message, hint }) => `note (${guard}): ${sentence(message)}\n${hint}\n`).join('');

/** What is asked before anything is spent. */
export function spendQuestion({ plan, atMost }: Proposal): string {
  // A budget that is lower than the plan's bounds holds whatever happens.
  const isUnbound = (amount: number, planned: number) => amount > 0 && amount === planned;
  const isMore =
    plan.inDoubt === 'resend' &&
    (isUnbound(atMost.units, plan.units.atMost) || isUnbound(atMost.reports, plan.creditReportsAtMost));
  return `Spend up to ${mostInWords(atMost, plan.asksV1)}${isMore ? ' (more where answers are lost and asked for again; --budget bounds that, too)' : ''}?`;
}

export const proposalInWords = ({ run, rows, inDoubt, fresh, ...may }: GoOnProposal, place: string): string =>
  `Run ${run}: ${toGoInWords(rows, inDoubt, may)}.\n${fresh ? freshInWords(run, place) : ''}`;

export const startInWords = (
  { run, goesOn, toGo, inDoubt, fresh, list, ...may }: StartedEvent,
  place: string,
): string =>
  `${goesOn ? 'Going on with run' : 'Run'} ${run}: ${toGoInWords(toGo, inDoubt, may)}.\n${list === undefined ? '' : newsInWords(list, toGo)}${fresh && goesOn ? freshInWords(run, place) : ''}`;

/** Who waits for a person's word moves only if what the provider tells while others buy settles it: it is in the bound. */
function toGoInWords(toGo: number, inDoubt: number, may: May): string {
  if (inDoubt === 0) return `${count(toGo, 'row')} to go, ${atMostInWords(may)}`;
  const waiting = `${count(inDoubt, 'row')} ${inDoubt === 1 ? 'waits' : 'wait'} for a word about a lost call (\`kybatch doubt\`)`;
  return toGo === 0 ? `nothing to go; ${waiting}` : `${count(toGo, 'row')} to go, ${atMostInWords(may)}; ${waiting}`;
}

/** A first file is all new: that goes without saying. */
function newsInWords({ due, invalid, left, members }: ListNews, toGo: number): string {
  const why = Object.entries(due).filter(([, rows]) => rows > 0);
  const plain = left === 0 && members === toGo && why.every(([reason]) => reason === 'new');
  if (plain || why.length === 0) return '';
  const reasons = why.map(([reason, rows]) => `${withCommas(rows)} ${REASONS[reason as DueReason]}`).join(', ');
  const unfit = invalid === 0 ? '' : `; ${withCommas(invalid)} more invalid`;
  const gone = left === 0 ? '' : `; ${withCommas(left)} ${left === 1 ? 'has' : 'have'} left the list`;
  return `Of ${count(members, 'row')}: ${reasons}${unfit}${gone}.\n`;
}

/** Why a row is due. */
export const REASONS: Readonly<Record<DueReason, string>> = {
  new: 'new',
  changed: 'changed',
  unfinished: 'not come to an end yet',
  watch: 'changed by what the watch says',
  stale: 'stale',
  asked: 'asked for anew',
};

/** Who goes on with such a run may not know how it was begun: what it costs, and what leads out. */
export const freshInWords = (run: string, place: string): string =>
  `Run ${run} was begun with --fresh: it buys again what was owned before it. To drop it instead: kybatch prune --run ${run}${place}\n`;
