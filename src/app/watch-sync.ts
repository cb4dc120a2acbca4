import { v2Operations } from '../api/v2/operations.js';
import { loadPipeline } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { PortfolioRecord } from '../ledger/portfolios.js';
import { type Synced, syncWatches } from '../portfolio/watch/sync.js';
import { findPortfolios } from './find-portfolios.js';
import { checkOperations, type ProviderOptions, providerNames, withProvider } from './provider.js';
import { readSettings } from './stored-settings.js';
import { here, withLedger } from './surroundings.js';
import { type Stoppable, withWatchDoor } from './watch-door.js';
import { endOfWatch, type WatchEnd } from './watch-end.js';

export interface WatchSyncOptions extends ProviderOptions, Stoppable {
  /** Its name, or the path of its file; all portfolios without it. */
  readonly portfolio?: string | undefined;
  /** Whose `watch.fields` are watched; without it that of the last run. */
  readonly pipeline?: string | undefined;
  /** How many companies may be added or removed at the most. */
  readonly limit?: number | undefined;
}

export interface WatchSyncView extends Omit<Synced, 'halt'>, WatchEnd {
  readonly portfolios: readonly string[];
  /** Null: those of the account. */
  readonly fields: readonly string[] | null;
  readonly members: number;
  /** Members of whom no v2 company is confirmed: they cannot be watched. */
  readonly without: number;
  /** Companies that the provider watches for us now. */
  readonly watched: number;
}

/** Has the provider watch the confirmed companies of a portfolio, and no longer those that have left every list. */
export async function watchSync(options: WatchSyncOptions = {}, around = here()): Promise<WatchSyncView> {
  const { watchAdd, watchRemove, watchList } = v2Operations;
  checkOperations([watchAdd, watchRemove, watchList], options, around);
  const given = options.pipeline === undefined ? undefined : loadPipeline(options.pipeline, around.cwd);
  const names = providerNames(options, around);
  return await withLedger('existing', options, around, async (ledger) => {
    const portfolios = await findPortfolios(options.portfolio, names, ledger.portfolios, around);
    if (portfolios.length === 0)
      throw new UsageError('there is no portfolio of this provider yet', '`kybatch run <input>` makes one.');
    const fields = given === undefined ? await fieldsOf(portfolios, ledger) : given.watch.fields;
    const wish = { portfolioIds: portfolios.map(({ id }) => id), fields };
    const { halt, ...synced } = await withProvider(
      options,
      around,
      (provider) =>
        withWatchDoor(provider, options, ledger, around, (asking) => syncWatches(asking, wish, options.limit ?? null)),
      { keepSandbox: true },
    );
    const { listed, without } = await ledger.watches.members(wish.portfolioIds);
    const watched = await ledger.watches.watched(await ledger.calls.environment('v2', names.v2));
    const whose = { portfolios: portfolios.map(({ name }) => name), fields, members: listed, without, watched };
    return { ...whose, ...synced, ...endOfWatch(halt) };
  });
}

/** What the pipelines name that the portfolios were last run with, together; null where none names any. */
async function fieldsOf(portfolios: readonly PortfolioRecord[], ledger: Ledger): Promise<readonly string[] | null> {
  const named = new Set<string>();
  for (const { id } of portfolios) {
    const run = await ledger.portfolios.lastRun(id);
    for (const field of run === undefined ? [] : (readSettings(run).pipeline.watch.fields ?? [])) named.add(field);
  }
  return named.size === 0 ? null : [...named];
}
