import { hash } from 'node:crypto';
import { v2Operations } from '../api/v2/operations.js';
import type { Ledger } from '../ledger/ledger.js';
import type { WhichToRead } from '../ledger/watches.js';
import { notificationEvent } from '../portfolio/watch/callback.js';
import { Inbox } from '../portfolio/watch/inbox.js';
import { type Pulled, pullWatches } from '../portfolio/watch/pull.js';
import { findPortfolios } from './find-portfolios.js';
import { checkOperations, type Provider, type ProviderOptions, providerNames, withProvider } from './provider.js';
import { here, type Surroundings, withLedger } from './surroundings.js';
import { type Stoppable, withWatchDoor } from './watch-door.js';
import { endOfWatch, type WatchEnd } from './watch-end.js';

export interface WatchPullOptions extends ProviderOptions, Stoppable {
  /** Its name, or the path of its file; all that is watched without it. */
  readonly portfolio?: string | undefined;
  /** Only companies that callbacks have named. */
  readonly hinted?: boolean | undefined;
  /** How many companies may be asked about at the most. */
  readonly limit?: number | undefined;
}

export interface WatchPullView extends Omit<Pulled, 'halt'>, WatchEnd {
  /** Companies that callbacks named and that nobody watches. */
  readonly unknownHints: number;
}

/** Reads what the provider's watch says has changed since it was last read; whom it concerns becomes due. */
export async function watchPull(options: WatchPullOptions = {}, around = here()): Promise<WatchPullView> {
  checkOperations([v2Operations.watchHistory], options, around);
  const names = providerNames(options, around);
  return await withLedger('existing', options, around, async (ledger, dataDir) => {
    const portfolios = await findPortfolios(options.portfolio, names, ledger.portfolios, around);
    const portfolioIds = options.portfolio === undefined ? null : portfolios.map(({ id }) => id);
    const hinted = options.hinted === true;
    const which = { portfolioIds, hinted, notSince: around.clock.now(), limit: options.limit };
    return await withProvider(
      options,
      around,
      (provider) => pullFrom(provider, which, options, ledger, dataDir, around),
      {
        keepSandbox: true,
      },
    );
  });
}

/** The same for who has everything open. */
export async function pullFrom(
  provider: Provider,
  which: WhichToRead & { readonly limit?: number | undefined },
  stoppable: Stoppable,
  ledger: Ledger,
  dataDir: string,
  around: Surroundings,
): Promise<WatchPullView> {
  const { watches, calls } = ledger;
  const environmentId = await calls.environment('v2', provider.names.v2);
  const unknownHints = await takeHints(new Inbox(dataDir), environmentId, ledger, around);
  const companies = await watches.toRead(environmentId, which);
  const asked = companies.slice(0, which.limit ?? companies.length);
  const { halt, left, ...pulled } =
    asked.length === 0
      ? { ...NOTHING, due: await watches.markChanged() }
      : await withWatchDoor(provider, stoppable, ledger, around, (asking) => pullWatches(asking, asked));
  return { ...pulled, left: left + companies.length - asked.length, unknownHints, ...endOfWatch(halt) };
}

const NOTHING: Omit<Pulled, 'due'> = {
  read: 0,
  events: 0,
  left: 0,
  leftFailing: 0,
  cutShort: 0,
  troubles: [],
  halt: null,
};

/** What callbacks said is noted before the histories are asked for. Returns how many companies of theirs nobody watches. */
async function takeHints(
  inbox: Inbox,
  environmentId: number,
  { watches }: Ledger,
  { clock }: Surroundings,
): Promise<number> {
  const named = inbox.waiting();
  if (named.length === 0) return 0;
  const now = clock.now();
  const noted = await watches.hint(named, now);
  const watched = await watches.toRead(environmentId, { portfolioIds: null, hinted: true, notSince: 0 });
  const isWatched = new Set(watched.map(({ companyId }) => companyId));
  const read = new Map(named.map((companyId) => [companyId, inbox.told(companyId)]));
  for (const [companyId, told] of read) {
    if (!isWatched.has(companyId)) continue;
    for (const line of told.split('\n')) {
      const [event] = notificationEvent(line);
      if (event === undefined) continue;
      await watches.hear({ environmentId, companyId, events: [event], heardAt: now, rawSha256: hash('sha256', line) });
    }
  }
  // What came meanwhile is taken in the next time.
  inbox.remove(named.filter((companyId) => inbox.told(companyId) === read.get(companyId)));
  return Math.max(0, named.length - noted);
}
