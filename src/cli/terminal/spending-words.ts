import type { Amounts, StartedEvent } from '../../app/events.js';
import type { GoOnProposal } from '../../app/go-on.js';
import { count } from './text.js';

/** "9 v1 units", or "9 v1 units and 3 credit reports" where reports can be bought at all. */
export const amountsInWords = ({ units, reports }: Amounts): string =>
  `${count(units, 'v1 unit')}${reports === 0 ? '' : ` and ${count(reports, 'credit report')}`}`;

export const proposalInWords = ({ run, rows, fresh, atMost }: GoOnProposal, place: string): string =>
  `Run ${run}: ${count(rows, 'row')} to go, at most ${amountsInWords(atMost)}.\n${fresh ? freshInWords(run, place) : ''}`;

export const startInWords = ({ run, goesOn, toGo, fresh, atMost }: StartedEvent, place: string): string =>
  `${goesOn ? 'Going on with run' : 'Run'} ${run}: ${count(toGo, 'row')} to go, at most ${amountsInWords(atMost)}.\n${fresh && goesOn ? freshInWords(run, place) : ''}`;

/** Who goes on with such a run may not know how it was begun: what it costs, and what leads out. */
export const freshInWords = (run: string, place: string): string =>
  `Run ${run} was begun with --fresh: it buys again what was owned before it. To drop it instead: kybatch prune --run ${run}${place}\n`;
