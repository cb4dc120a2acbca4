import { asksTheWatch, type Pipeline } from '../config/pipeline.js';
import { LedgerError } from '../domain/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { PortfolioRecord } from '../ledger/portfolios.js';
import { withProvider } from './provider.js';
import { mayBegin, type SpendingOptions } from './spending.js';
import type { Surroundings } from './surroundings.js';
import { pullFrom, type WatchPullView } from './watch-pull.js';

/**
 * Before it is decided what is due: what the provider's watch says has changed. A start goes on without it, and says so.
 * Null: nobody was asked.
 */
export async function pullFirst(
  pipeline: Pipeline,
  portfolio: PortfolioRecord | undefined,
  options: SpendingOptions,
  ledger: Ledger,
  dataDir: string,
  around: Surroundings,
): Promise<Heard | null> {
  if (!asksTheWatch(pipeline) || portfolio === undefined) return null;
  const tell = (why: string) => around.onNote?.(`the watch was not asked what has changed: ${why}`);
  if (!mayBegin(options, pipeline)) {
    // What a look costs is not told, and nobody has agreed to anything yet.
    tell('that may cost something. `kybatch watch pull` asks it, and so does a start with --yes');
    return null;
  }
  const since = around.clock.now();
  let companies = 0;
  const which = { portfolioIds: [portfolio.id], hinted: false, notSince: since - pipeline.watch.everyMs };
  try {
    const view = await withProvider(
      options,
      around,
      (provider) => pullFrom(provider, which, options, ledger, dataDir, around),
      { deadlineMs: pipeline.deadlineMs, keepSandbox: true },
    );
    companies = view.read + view.troubles.length;
    const why = shortcomings(view);
    if (why !== undefined) around.onNote?.(`the watch could not be read to the end: ${why}`);
  } catch (error) {
    if (error instanceof LedgerError) throw error;
    tell(error instanceof Error ? error.message : String(error));
  }
  return { since, companies };
}

/** From when on something may have been heard, and about how many companies. */
export interface Heard {
  readonly since: number;
  readonly companies: number;
}

/** Of an interrupt the start itself tells. */
function shortcomings({ stopped, troubles, left, leftFailing, cutShort }: WatchPullView): string | undefined {
  const [first] = troubles;
  const said = [
    stopped === null ? '' : `${stopped.message}; ${notAsked(left, leftFailing)}`,
    first === undefined
      ? ''
      : `the ${historiesOf(troubles.length)} (${inShort(troubles.map(({ companyId }) => companyId))}) failed, and the next start asks again: ${first.message}`,
    cutShort === 0 ? '' : `the ${historiesOf(cutShort)} ${cutShort === 1 ? 'has' : 'have'} more pages than are read`,
  ].filter((part) => part !== '');
  return said.length === 0 ? undefined : said.join('; ');
}

/** `leftFailing`: of those, the ones that were asked about in vain before; where that is all of them, everybody else was. */
const notAsked = (left: number, leftFailing: number): string =>
  left > 0 && left === leftFailing
    ? `the ${historiesOf(left)} that failed before ${left === 1 ? 'was' : 'were'} not asked for`
    : `${companies(left)} ${left === 1 ? 'was' : 'were'} not asked about`;

const historiesOf = (number: number): string => `${number === 1 ? 'history' : 'histories'} of ${companies(number)}`;
const companies = (number: number): string => `${number} ${number === 1 ? 'company' : 'companies'}`;

/** Few are named: `kybatch watch pull --json` names all. */
const inShort = (ids: readonly string[]): string =>
  ids.length > NAMED_AT_MOST ? `${ids.slice(0, NAMED_AT_MOST).join(', ')} …` : ids.join(', ');

const NAMED_AT_MOST = 5;
