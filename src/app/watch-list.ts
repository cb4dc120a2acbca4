import type { WatchEvent, WatchRecord } from '../ledger/watches.js';
import { Inbox } from '../portfolio/watch/inbox.js';
import { isWanted, type ProviderOptions } from './provider.js';
import { here, withLedger } from './surroundings.js';

export interface WatchListOptions extends ProviderOptions {
  /** How many of the last events are told. */
  readonly eventsAtMost?: number | undefined;
}

export interface WatchListView {
  readonly watches: readonly WatchRecord[];
  /** The newest first. */
  readonly events: readonly WatchEvent[];
  /** Companies that callbacks have named since something was last read. */
  readonly waiting: number;
}

/** What the provider watches, as far as we had it registered or found it, and what was last heard. */
export function watchListed(options: WatchListOptions = {}, around = here()): Promise<WatchListView> {
  return withLedger('read', options, around, async ({ watches }, dataDir) => ({
    watches: (await watches.list()).filter(({ environment }) => isWanted(options, environment)),
    events: await watches.lastEvents(options.eventsAtMost ?? 20, (environment) => isWanted(options, environment)),
    waiting: new Inbox(dataDir).waiting().length,
  }));
}
