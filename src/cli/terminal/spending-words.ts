import type { Amounts, StartedEvent } from '../../app/events.js';
import type { GoOnProposal } from '../../app/go-on.js';
import type { Proposal } from '../../app/start.js';
import { count } from './text.js';

/** "9 v1 units", or "9 v1 units and 3 credit reports" where reports can be bought at all. */
export const amountsInWords = ({ units, reports }: Amounts): string =>
  `${count(units, 'v1 unit')}${reports === 0 ? '' : ` and ${count(reports, 'credit report')}`}`;

const atMostInWords = ({ atMost, moreIfLost }: Pick<StartedEvent, 'atMost' | 'moreIfLost'>): string =>
  `at most ${amountsInWords(atMost)}${moreIfLost ? ', unless answers are lost and asked for again (--budget holds whatever happens)' : ''}`;

/** What is asked before anything is spent. */
export function spendQuestion({ plan, atMost }: Proposal): string {
  // A budget that is lower than the plan's bounds holds whatever happens.
  const isUnbound = (amount: number, planned: number) => amount > 0 && amount === planned;
  const isMore =
    plan.inDoubt === 'resend' &&
    (isUnbound(atMost.units, plan.units.atMost) || isUnbound(atMost.reports, plan.creditReportsAtMost));
  return `Spend up to ${amountsInWords(atMost)}${isMore ? ' (more where answers are lost and asked for again; --budget bounds that, too)' : ''}?`;
}

export const proposalInWords = ({ run, rows, fresh, ...may }: GoOnProposal, place: string): string =>
  `Run ${run}: ${count(rows, 'row')} to go, ${atMostInWords(may)}.\n${fresh ? freshInWords(run, place) : ''}`;

export const startInWords = ({ run, goesOn, toGo, fresh, ...may }: StartedEvent, place: string): string =>
  `${goesOn ? 'Going on with run' : 'Run'} ${run}: ${count(toGo, 'row')} to go, ${atMostInWords(may)}.\n${fresh && goesOn ? freshInWords(run, place) : ''}`;

/** Who goes on with such a run may not know how it was begun: what it costs, and what leads out. */
export const freshInWords = (run: string, place: string): string =>
  `Run ${run} was begun with --fresh: it buys again what was owned before it. To drop it instead: kybatch prune --run ${run}${place}\n`;
