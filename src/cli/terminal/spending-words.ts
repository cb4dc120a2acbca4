import type { Amounts, StartedEvent } from '../../app/events.js';
import type { GoOnProposal } from '../../app/go-on.js';
import { count } from './text.js';

/** "9 v1 units", or "9 v1 units and 3 credit reports" where reports can be bought at all. */
export const amountsInWords = ({ units, reports }: Amounts): string =>
  `${count(units, 'v1 unit')}${reports === 0 ? '' : ` and ${count(reports, 'credit report')}`}`;

export const proposalInWords = ({ run, rows, atMost }: GoOnProposal): string =>
  `Run ${run}: ${count(rows, 'row')} to go, at most ${amountsInWords(atMost)}.\n`;

export const startInWords = ({ run, goesOn, outcomes, atMost }: StartedEvent): string =>
  `${goesOn ? 'Going on with run' : 'Run'} ${run}: ${count(outcomes.pending, 'row')} to go, at most ${amountsInWords(atMost)}.\n`;
