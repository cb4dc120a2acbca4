import type { Amounts, DueReason, ListNews, StartedEvent } from '../../app/events.js';
import type { GoOnProposal } from '../../app/go-on.js';
import { count, withCommas } from './text.js';

/** "9 v1 units", or "9 v1 units and 3 credit reports" where reports can be bought at all. */
export const amountsInWords = ({ units, reports }: Amounts): string =>
  `${count(units, 'v1 unit')}${reports === 0 ? '' : ` and ${count(reports, 'credit report')}`}`;

export const proposalInWords = ({ run, rows, fresh, atMost }: GoOnProposal, place: string): string =>
  `Run ${run}: ${count(rows, 'row')} to go, at most ${amountsInWords(atMost)}.\n${fresh ? freshInWords(run, place) : ''}`;

export const startInWords = ({ run, goesOn, toGo, fresh, atMost, list }: StartedEvent, place: string): string =>
  `${goesOn ? 'Going on with run' : 'Run'} ${run}: ${count(toGo, 'row')} to go, at most ${amountsInWords(atMost)}.\n${list === undefined ? '' : newsInWords(list, toGo)}${fresh && goesOn ? freshInWords(run, place) : ''}`;

/** A first file is all new: that goes without saying. */
function newsInWords({ due, left, members }: ListNews, toGo: number): string {
  const why = Object.entries(due).filter(([, rows]) => rows > 0);
  const plain = left === 0 && members === toGo && why.every(([reason]) => reason === 'new');
  if (plain || why.length === 0) return '';
  const reasons = why.map(([reason, rows]) => `${withCommas(rows)} ${REASONS[reason as DueReason]}`).join(', ');
  const gone = left === 0 ? '' : `; ${withCommas(left)} ${left === 1 ? 'has' : 'have'} left the list`;
  return `Of ${count(members, 'row')}: ${reasons}${gone}.\n`;
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
