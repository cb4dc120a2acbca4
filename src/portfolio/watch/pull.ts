// Reads the change histories of watched companies.

import { hash } from 'node:crypto';
import { isPlainObject } from '../../api/v2/fields.js';
import { v2Operations } from '../../api/v2/operations.js';
import { isRetryable } from '../../calls/retry.js';
import type { ReceivedEvent, WatchToRead } from '../../ledger/portfolio/watches.js';
import { type ExactJson, stringifyExact } from '../../util/exact-json.js';
import {
  type CompanyTrouble,
  errorOf,
  haltOf,
  inParallel,
  readPages,
  troubleOf,
  type WatchClient,
  type WatchHalt,
} from './ask.js';

const { watchHistory } = v2Operations;

export interface Pulled {
  /** Companies whose history was read. */
  readonly read: number;
  /** New events. */
  readonly events: number;
  /** Members that became due. */
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
  /** Another try may succeed. */
  readonly mayComeRight?: boolean;
  readonly halt?: WatchHalt;
}

async function pullOne(asking: WatchClient, { companyId, since }: WatchToRead): Promise<PulledOne> {
  const { environmentId, watches, clock, askEach } = asking;
  const askedAt = clock.now();
  let events = 0;
  const params = { id: companyId, from_date: dayBefore(since) };
  const read = await readPages({ ask: askEach }, watchHistory, params, PAGES_AT_MOST, async ({ items, body }) => {
    const page = { events: items.flatMap(readEvent), heardAt: clock.now(), rawSha256: hash('sha256', body) };
    events += await watches.hear({ environmentId, companyId, ...page });
  });
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
const PAGES_AT_MOST = 50;

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
