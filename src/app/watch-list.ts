import type { WatchEvent, WatchRecord } from '../ledger/watches.js';
import { Inbox } from '../portfolio/watch/inbox.js';
import { here, type PlaceOptions, withLedger } from './surroundings.js';

export interface WatchListOptions extends PlaceOptions {
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
    watches: await watches.list(),
    events: await watches.lastEvents(options.eventsAtMost ?? 20),
    waiting: new Inbox(dataDir).waiting().length,
  }));
}
