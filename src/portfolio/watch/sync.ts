// Registers the companies of portfolios with the provider's watch.

import { idText } from '../../api/schema.js';
import { isPlainObject } from '../../api/v2/fields.js';
import { v2Operations } from '../../api/v2/operations.js';
import type { WantedWatches } from '../../ledger/portfolio/watches.js';
import { ExactNumber } from '../../util/exact-json.js';
import {
  type CompanyTrouble,
  haltOf,
  inParallel,
  readPages,
  troubleOf,
  type WatchClient,
  type WatchHalt,
} from './ask.js';

const { watchAdd, watchRemove, watchList } = v2Operations;

export interface Synced {
  readonly added: number;
  readonly removed: number;
  /** Registered again with other fields. */
  readonly changed: number;
  /** To be added or removed, but not done. */
  readonly left: number;
  readonly troubles: readonly CompanyTrouble[];
  /** What ended it early. */
  readonly halt: WatchHalt | null;
}

/**
 * Registers the companies of these portfolios and removes those that left. The provider's list is read first, so that
 * nothing is registered twice after a lost answer. Each registration is recorded at once, so that the next attempt
 * continues there.
 */
export async function syncWatches(asking: WatchClient, wish: WantedWatches, limit: number | null): Promise<Synced> {
  const { environmentId, watches, clock } = asking;
  const listed = await readList(asking);
  if (!Array.isArray(listed)) return { ...NOTHING, ...listed };
  for (const { companyId, fields } of await watches.reconcile(environmentId, listed, wish, clock.now()))
    await asking.wasDone(watchAdd, paramsOf(companyId, fields), 'found in the watch list');
  const work = new Settling(asking, wish.fields, limit);
  // Removing first may free capacity.
  await work.all(await watches.toRemove(environmentId), 'remove');
  await work.all(await watches.toAdd(environmentId, wish), 'add');
  return work.done;
}

type ToSettle = Awaited<ReturnType<WatchClient['watches']['toAdd']>>;

class Settling {
  readonly #counts = { added: 0, removed: 0, changed: 0, left: 0 };
  readonly #troubles: CompanyTrouble[] = [];
  #halt: WatchHalt | undefined;

  constructor(
    private readonly asking: WatchClient,
    private readonly fields: WantedWatches['fields'],
    private room: number | null,
  ) {}

  get done(): Synced {
    return { ...this.#counts, troubles: this.#troubles, halt: this.#halt ?? null };
  }

  async all(companies: ToSettle, how: 'add' | 'remove'): Promise<void> {
    const taken = this.#halt === undefined ? companies.slice(0, this.room ?? companies.length) : [];
    if (this.room !== null) this.room -= taken.length;
    const before = this.#settled;
    this.#halt ??= await inParallel(taken, (company) => this.#one(company, how));
    this.#counts.left += companies.length - (this.#settled - before);
  }

  get #settled(): number {
    return this.#counts.added + this.#counts.removed + this.#counts.changed + this.#troubles.length;
  }

  async #one({ companyId, registered }: ToSettle[number], how: 'add' | 'remove'): Promise<WatchHalt | undefined> {
    const { environmentId, watches, clock } = this.asking;
    // The document shows no way to add a watched company again, so it is removed first.
    if (registered) {
      const halt = await this.#ask('remove', companyId);
      if (halt !== true) return halt;
    }
    if (how === 'remove') {
      await watches.removed(environmentId, companyId);
      this.#counts.removed += 1;
      return undefined;
    }
    await watches.asked(environmentId, companyId, this.fields, clock.now());
    const halt = await this.#ask('add', companyId);
    if (halt !== true) return halt;
    await watches.registered(environmentId, companyId, clock.now());
    this.#counts[registered ? 'changed' : 'added'] += 1;
    return undefined;
  }

  /** True: done. Trouble with this company alone is recorded and is no halt. */
  async #ask(how: 'add' | 'remove', id: string): Promise<true | WatchHalt | undefined> {
    const outcome =
      how === 'add'
        ? await this.asking.askOnce(watchAdd, paramsOf(id, this.fields))
        : await this.asking.ask(watchRemove, { id });
    // It is not watched, as intended.
    if (outcome.kind === 'answer' || (how === 'remove' && outcome.kind === 'not_available')) return true;
    const halt = haltOf(outcome);
    if (halt === undefined) this.#troubles.push(troubleOf(id, outcome));
    return halt;
  }
}

/** Sorted, so that the same request has the same key. */
const paramsOf = (id: string, fields: WantedWatches['fields']) =>
  fields === null ? { id } : { id, fields: [...fields].sort() };

const NOTHING: Synced = { added: 0, removed: 0, changed: 0, left: 0, troubles: [], halt: null };

/** The provider's list. An incomplete list is refused: the missing part would be registered again. */
async function readList(
  asking: WatchClient,
  size: { readonly per_page?: number } = LARGE_PAGES,
): Promise<string[] | Pick<Synced, 'halt' | 'troubles'>> {
  const ids: string[] = [];
  const read = await readPages(asking, watchList, size, PAGES_AT_MOST, async ({ items }) => {
    for (const item of items) {
      const id = isPlainObject(item) ? item.id : undefined;
      if (typeof id === 'string' || id instanceof ExactNumber) ids.push(idText(id));
    }
  });
  if (read.kind === 'all') return ids;
  if (read.kind === 'cut_short')
    return { halt: null, troubles: [{ companyId: '', message: 'it could not be read to its last page' }] };
  if (read.kind === 'failed' && read.error.class === 'fail_row' && size === LARGE_PAGES)
    return await readList(asking, {});
  const halt = haltOf(read);
  return halt === undefined ? { halt: null, troubles: [troubleOf('', read)] } : { halt, troubles: [] };
}

const PAGES_AT_MOST = 10_000;
/** The document shows no maximum. If it is refused, the provider's default is used. */
const LARGE_PAGES = { per_page: 100 };
