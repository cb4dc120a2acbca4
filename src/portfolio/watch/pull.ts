import { hash } from 'node:crypto';
import { isPlainObject } from '../../api/v2/fields.js';
import { v2Operations } from '../../api/v2/operations.js';
import type { HeardEvent, WatchToRead } from '../../ledger/watches.js';
import type { ExactJson } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import { type Asking, type CompanyTrouble, haltOf, severalAtOnce, troubleOf, type WatchHalt } from './asking.js';
import { readPages } from './pages.js';

const { watchHistory } = v2Operations;

export interface Pulled {
  /** Companies whose history was read. */
  readonly read: number;
  /** Events that were not known. */
  readonly events: number;
  /** Members that are due for it. */
  readonly due: number;
  /** Companies whose history was not asked for. */
  readonly left: number;
  /** Histories that went on beyond the bound; the rest of them is not in the tables. */
  readonly cutShort: number;
  readonly troubles: readonly CompanyTrouble[];
  readonly halt: WatchHalt | null;
}

/**
 * Reads what has changed since each company was last read. What is known already is dropped; where the history of one
 * company cannot be read the others go on, and it is asked for again next time.
 */
export async function pullWatches(asking: Asking, companies: readonly WatchToRead[]): Promise<Pulled> {
  const { watches } = asking;
  const counts = { read: 0, events: 0, cutShort: 0 };
  const troubles: CompanyTrouble[] = [];
  const halt = await severalAtOnce(companies, async (company) => {
    const { events, cutShort, trouble, halt } = await pullOne(asking, company);
    counts.events += events;
    if (trouble !== undefined) troubles.push(trouble);
    else if (halt === undefined) counts.read += 1;
    if (cutShort) counts.cutShort += 1;
    return halt;
  });
  const left = companies.length - counts.read - troubles.length;
  return { ...counts, due: await watches.markChanged(), left, troubles, halt: halt ?? null };
}

interface PulledOne {
  readonly events: number;
  readonly cutShort: boolean;
  readonly trouble?: CompanyTrouble;
  readonly halt?: WatchHalt;
}

async function pullOne(asking: Asking, { companyId, since }: WatchToRead): Promise<PulledOne> {
  const { environmentId, watches, clock } = asking;
  const askedAt = clock.now();
  let events = 0;
  const params = { id: companyId, from_date: dayBefore(since) };
  const read = await readPages(asking, watchHistory, params, PAGES_AT_MOST, async ({ items, body }) => {
    const page = { events: items.flatMap(readEvent), heardAt: clock.now(), rawSha256: hash('sha256', body) };
    events += await watches.hear({ environmentId, companyId, ...page });
  });
  const cutShort = read.kind === 'cut_short';
  if (read.kind === 'all' || read.kind === 'cut_short') {
    await watches.read(environmentId, companyId, askedAt);
    return { events, cutShort };
  }
  const halt = haltOf(read);
  return { events, cutShort, ...(halt === undefined ? { trouble: troubleOf(companyId, read) } : { halt }) };
}

/** More changes of one company since the last look are no changes of a company. */
const PAGES_AT_MOST = 50;

const DAY_MS = 86_400_000;

/** Where a day begins for the provider is not shown, and its clock is not ours: one day more is read, and known already. */
const dayBefore = (at: number): string => new Date(at - DAY_MS).toISOString().slice(0, 10);

/** An item that is no record says nothing. */
function readEvent(item: ExactJson): HeardEvent[] {
  if (!isPlainObject(item)) return [];
  const { event_type, status, message, date_created, ...rest } = item;
  const told = { event_type, status, message, date_created };
  // What has another form than the document shows is kept beside.
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
