// The provider's watch: registers the companies of portfolios, and reads the histories of their changes.

import { hash } from 'node:crypto';
import { eachPage, readAnswer } from '../../api/answer.js';
import { ApiError } from '../../api/errors.js';
import type { Operation } from '../../api/operation.js';
import { idText } from '../../api/schema.js';
import { isPlainObject } from '../../api/v2/fields.js';
import { v2Operations } from '../../api/v2/operations.js';
import type { CallOutcome, NoAnswer, Parked, Stopped } from '../../calls/request.js';
import { isRetryable } from '../../calls/retry.js';
import type { ReceivedEvent, WantedWatches, WatchStore, WatchToRead } from '../../ledger/portfolio/watches.js';
import type { Clock } from '../../util/clock.js';
import { type ExactJson, ExactNumber, stringifyExact } from '../../util/exact-json.js';
import { sanitizeText } from '../../util/sanitize-text.js';

export interface WatchClient {
  readonly environmentId: number;
  readonly watches: WatchStore;
  readonly clock: Clock;
  readonly ask: Ask;
  /** Not repeated without an answer: it may have been done. */
  readonly askOnce: Ask;
  /** Sent once. One failure says nothing about the others: only several in a row do. */
  readonly askEach: Ask;
  /** Evidence shows that a lost call succeeded. */
  readonly wasDone: (operation: Operation, params: Params, note: string) => Promise<void>;
}

type Params = Readonly<Record<string, unknown>>;
type Ask = (operation: Operation, params: Params) => Promise<CallOutcome>;

/** All other companies would meet the same. */
export type WatchHalt = Parked | Stopped;

/** One company failed and the others continue. */
interface CompanyTrouble {
  readonly companyId: string;
  readonly message: string;
}

/** The outcome that ends everything. Undefined if only this company is concerned. */
const haltOf = (outcome: NoAnswer): WatchHalt | undefined =>
  outcome.kind === 'stopped' || (outcome.kind === 'parked' && outcome.reason !== 'unanswered') ? outcome : undefined;

function troubleOf(companyId: string, outcome: NoAnswer): CompanyTrouble {
  const said = outcome.kind === 'parked' ? outcome.message : (errorOf(outcome)?.message ?? outcome.kind);
  return { companyId, message: sanitizeText(said, 300) };
}

const errorOf = (outcome: NoAnswer): ApiError | undefined =>
  outcome.kind === 'failed' || outcome.kind === 'not_available' ? outcome.error : outcome.met?.error;

/** Runs several in parallel. After a halt nothing more begins, and running work finishes. */
async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<WatchHalt | undefined>,
): Promise<WatchHalt | undefined> {
  let next = 0;
  let halt: WatchHalt | undefined;
  const worker = async () => {
    while (halt === undefined && next < items.length) {
      const item = items[next++] as T;
      halt = (await work(item)) ?? halt;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_CALLS }, worker));
  return halt;
}

/** The provider publishes no limit. Few are enough, because nothing is urgent. */
export const PARALLEL_CALLS = 4;

interface Page {
  readonly items: readonly ExactJson[];
  readonly body: Buffer;
}

type PagesRead = { readonly kind: 'all' } | { readonly kind: 'cut_short' } | NoAnswer;

/** Reads all pages, each processed before the next is requested, up to `pagesAtMost`. */
async function readPages(
  { ask }: Pick<WatchClient, 'ask'>,
  operation: Operation,
  params: Params,
  pagesAtMost: number,
  take: (page: Page) => Promise<void>,
): Promise<PagesRead> {
  try {
    for await (const one of eachPage(operation, (page) => ask(operation, page === 1 ? params : { ...params, page }))) {
      if (one.kind !== 'page') return one;
      const { body } = one.answer;
      await take({ items: (readAnswer(operation, body) as { data: readonly ExactJson[] }).data, body });
      const { page, isLast, isRepeated, envelope } = one;
      const lacksPages = isRepeated && envelope.pages !== null && page < envelope.pages;
      if (lacksPages || (!isLast && page === pagesAtMost)) return { kind: 'cut_short' };
    }
    return { kind: 'all' };
  } catch (error) {
    if (error instanceof ApiError) return { kind: 'failed', error, attempts: 1 };
    throw error;
  }
}

const { watchHistory } = v2Operations;

export interface Pulled {
  readonly read: number;
  readonly events: number;
  readonly due: number;
  /** Companies whose history was not requested. */
  readonly left: number;
  /** The part of `left` that failed last time. */
  readonly leftFailing: number;
  /** Histories beyond the page limit. Their rest is not in the tables. */
  readonly cutShort: number;
  readonly troubles: readonly CompanyTrouble[];
  readonly halt: WatchHalt | null;
}

/**
 * Reads the changes since each company's last reading. Known events are dropped. Companies that fail now or failed last
 * time are tried after the others, so that they do not block the rest.
 */
export async function pullWatches(asking: WatchClient, companies: readonly WatchToRead[]): Promise<Pulled> {
  const counts = { events: 0, cutShort: 0 };
  const read = new Set<string>();
  const troubles = new Map<string, CompanyTrouble>();
  const again: WatchToRead[] = [];
  const pull = async (company: WatchToRead): Promise<WatchHalt | undefined> => {
    const { events, cutShort, trouble, mayComeRight, halt } = await pullOne(asking, company);
    counts.events += events;
    if (cutShort) counts.cutShort += 1;
    troubles.delete(company.companyId);
    if (trouble !== undefined) troubles.set(company.companyId, trouble);
    else if (halt === undefined) read.add(company.companyId);
    if (mayComeRight) again.push(company);
    return halt;
  };
  const failing = companies.filter(({ hasFailed }) => hasFailed);
  const others = companies.filter(({ hasFailed }) => !hasFailed);
  const halt = (await inParallel(others, pull)) ?? (await inParallel([...again, ...failing], pull));
  const left = companies.filter(({ companyId }) => !read.has(companyId) && !troubles.has(companyId));
  return {
    ...counts,
    read: read.size,
    due: await asking.watches.markChanged(),
    left: left.length,
    leftFailing: left.filter(({ hasFailed }) => hasFailed).length,
    troubles: [...troubles.values()],
    halt: halt ?? null,
  };
}

interface PulledOne {
  readonly events: number;
  readonly cutShort: boolean;
  readonly trouble?: CompanyTrouble;
  readonly mayComeRight?: boolean;
  readonly halt?: WatchHalt;
}

async function pullOne(asking: WatchClient, { companyId, since }: WatchToRead): Promise<PulledOne> {
  const { environmentId, watches, clock, askEach } = asking;
  const askedAt = clock.now();
  let events = 0;
  const params = { id: companyId, from_date: dayBefore(since) };
  const read = await readPages(
    { ask: askEach },
    watchHistory,
    params,
    HISTORY_PAGES_AT_MOST,
    async ({ items, body }) => {
      const page = { events: items.flatMap(readEvent), heardAt: clock.now(), rawSha256: hash('sha256', body) };
      events += await watches.hear({ environmentId, companyId, ...page });
    },
  );
  const cutShort = read.kind === 'cut_short';
  if (read.kind === 'all' || read.kind === 'cut_short') {
    await watches.read(environmentId, companyId, askedAt);
    return { events, cutShort };
  }
  const halt = haltOf(read);
  const met = errorOf(read);
  const mayComeRight = met !== undefined && isRetryable(met);
  // A request that was not tried, or met a general halt, has not failed.
  if (halt !== undefined && !mayComeRight) return { events, cutShort, halt };
  await watches.failed(environmentId, companyId, askedAt);
  return { events, cutShort, trouble: troubleOf(companyId, read), mayComeRight, ...(halt && { halt }) };
}

/** More changes of one company since the last reading are not plausible. */
const HISTORY_PAGES_AT_MOST = 50;

const DAY_MS = 86_400_000;

/** The provider's time zone and clock are unknown, so one more day is read. Its events are known already. */
const dayBefore = (at: number): string => new Date(at - DAY_MS).toISOString().slice(0, 10);

/** An item that is no object is skipped. */
export function readEvent(item: ExactJson): ReceivedEvent[] {
  if (!isPlainObject(item)) return [];
  const { event_type, status, message, date_created, ...rest } = item;
  const told = { event_type, status, message, date_created };
  // Values of undocumented types go to `extra`.
  const odd = Object.entries(told).filter(([, value]) => value != null && typeof value !== 'string');
  const extra = { ...rest, ...Object.fromEntries(odd) };
  return [
    {
      eventType: textOf(event_type),
      status: textOf(status),
      message: textOf(message),
      dateCreated: textOf(date_created),
      extra: Object.keys(extra).length === 0 ? null : stringifyExact(extra),
    },
  ];
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const { watchAdd, watchRemove, watchList } = v2Operations;

export interface Synced {
  readonly added: number;
  readonly removed: number;
  /** Registered again with other fields. */
  readonly changed: number;
  /** To be added or removed, but not done. */
  readonly left: number;
  readonly troubles: readonly CompanyTrouble[];
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
  const read = await readPages(asking, watchList, size, LIST_PAGES_AT_MOST, async ({ items }) => {
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

const LIST_PAGES_AT_MOST = 10_000;
/** The document shows no maximum. If it is refused, the provider's default is used. */
const LARGE_PAGES = { per_page: 100 };
