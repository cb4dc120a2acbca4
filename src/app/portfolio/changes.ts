// Shows the changes in portfolios, and the raw answers behind them.

import { type FieldChange, fieldsOf, isImportant } from '../../domain/change.js';
import { UsageError } from '../../domain/errors.js';
import { importantNames } from '../../export/run-tables.js';
import type { EntityIds } from '../../ledger/erase/identifiers.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { ChangeQuery, MemberChange, NamedChange } from '../../ledger/portfolio/changes.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { READERS_VERSION } from '../../readers/list.js';
import { type AppEnvironment, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';
import { isSelectedProvider, type ProviderOptions } from '../provider/provider.js';
import { namedRun } from '../run/runs.js';
import { portfoliosNamed } from './open-list.js';

export interface ChangesOptions extends ProviderOptions {
  /** The name of a portfolio. Default: all. */
  readonly portfolio?: string | undefined;
  /** A day, a time, a run (including its own changes), or the `nextSince` of an earlier call. */
  readonly since?: string | undefined;
}

export interface ChangesView {
  readonly changes: readonly ChangeView[];
  /** The `since` of the next call: nothing is repeated and nothing is missed. */
  readonly nextSince: string;
  readonly more: boolean;
  /** Answers that are not yet compared with earlier ones. The next attempt compares them. */
  readonly notCompared: number;
}

/** The changes of one company by one answer, item by item. */
export interface ChangeView extends Omit<NamedChange, 'items'> {
  readonly items: readonly ChangedItem[];
}

export interface ChangedItem {
  readonly oldRawSha256: string;
  readonly newRawSha256: string;
  /** The item as a whole if it is new or gone, then its fields. */
  readonly fields: readonly (FieldChange & { readonly important: boolean })[];
}

const CHANGES_AT_MOST = 1000;

/** The changes in the portfolios: differences between new answers and earlier ones. */
export function changes(options: ChangesOptions = {}, environment = processEnvironment()): Promise<ChangesView> {
  return withLedger('read', options, environment, async (ledger) => {
    const all = await ledger.portfolios.all();
    const portfolios = all.filter(({ providers }) => isSelectedProvider(options, providers));
    const from = await readSince(options.since, ledger);
    const page = await ledger.changes.list({
      ...from,
      ...wanted(options, portfolios, environment),
      limit: CHANGES_AT_MOST,
    });
    return {
      changes: await withImportance(page.changes, portfolios, ledger),
      nextSince: `${CURSOR}${page.last}`,
      more: page.more,
      notCompared: await ledger.changes.waiting(READERS_VERSION),
    };
  });
}

export interface RecentChangesOptions extends ProviderOptions {
  readonly portfolio?: string | undefined;
  /** The `nextBefore` of an earlier call. */
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
}

export interface RecentChangesView {
  readonly changes: readonly ChangeView[];
  /** The `before` of the next call. Null: there are no older changes. */
  readonly nextBefore: number | null;
  readonly notCompared: number;
}

/** The changes of the newest days first, for people. Within a day the important ones first, those of a company together. */
export function recentChanges(
  options: RecentChangesOptions = {},
  environment = processEnvironment(),
): Promise<RecentChangesView> {
  return withLedger('read', options, environment, async (ledger) => {
    const all = await ledger.portfolios.all();
    const portfolios = all.filter(({ providers }) => isSelectedProvider(options, providers));
    const { before, limit = 100 } = options;
    const page = await ledger.changes.list({
      ...wanted(options, portfolios, environment),
      before,
      limit,
      newestFirst: true,
    });
    return {
      changes: inReadingOrder(await withImportance(page.changes, portfolios, ledger)),
      nextBefore: page.more ? page.last : null,
      notCompared: await ledger.changes.waiting(READERS_VERSION),
    };
  });
}

function inReadingOrder(changes: readonly ChangeView[]): readonly ChangeView[] {
  const isImportantIn = ({ items }: ChangeView) =>
    items.some(({ fields }) => fields.some(({ important }) => important));
  const placeOf = (change: ChangeView) => {
    const day = Math.floor(change.changedAt / DAY_MS);
    const company = change.row === null ? JSON.stringify(change.ids) : `${change.portfolio} ${change.row}`;
    return { change, day, company, key: `${day} ${company}`, later: isImportantIn(change) ? 0 : 1 };
  };
  const placed = changes.map(placeOf);
  const important = new Set(placed.flatMap(({ key, later }) => (later === 0 ? [key] : [])));
  const laterOf = (key: string) => (important.has(key) ? 0 : 1);
  return placed
    .sort(
      (a, b) =>
        b.day - a.day ||
        laterOf(a.key) - laterOf(b.key) ||
        a.company.localeCompare(b.company) ||
        a.later - b.later ||
        b.change.id - a.change.id,
    )
    .map(({ change }) => change);
}

const DAY_MS = 86_400_000;

/** The changes of one company, newest first, each once even if several lists have it. */
export async function changesAbout(about: EntityIds, limit: number, ledger: Ledger): Promise<readonly ChangeView[]> {
  const { changes: found } = await ledger.changes.list({ about, limit, newestFirst: true });
  const once = new Map(found.map((change) => [change.id, change]));
  return await withImportance([...once.values()], await ledger.portfolios.all(), ledger);
}

async function withImportance(
  found: readonly NamedChange[],
  portfolios: readonly PortfolioRecord[],
  ledger: Ledger,
): Promise<readonly ChangeView[]> {
  const important = await importantByPortfolio(portfolios, ledger);
  return found.map((change) => viewOf(change, important.get(change.portfolioId) ?? new Set()));
}

function viewOf({ items, ...change }: NamedChange, important: ReadonlySet<string>): ChangeView {
  return {
    ...change,
    items: items.map((item) => ({
      oldRawSha256: item.oldRawSha256 ?? change.oldRawSha256,
      newRawSha256: item.newRawSha256 ?? change.newRawSha256,
      fields: fieldsOf(item).map((field) => ({ ...field, important: isImportant(field, important) })),
    })),
  };
}

/** The newest run of a portfolio says which changes are important. */
async function importantByPortfolio(portfolios: readonly PortfolioRecord[], ledger: Ledger) {
  const named = new Map<number, ReadonlySet<string>>();
  for (const { id } of portfolios) {
    const run = await ledger.portfolios.lastRun(id);
    if (run !== undefined) named.set(id, importantNames(run));
  }
  return named;
}

function wanted(
  { portfolio: name, sandbox }: ChangesOptions,
  portfolios: readonly PortfolioRecord[],
  environment: AppEnvironment,
): Pick<ChangeQuery, 'portfolioIds'> {
  if (name === undefined && !sandbox) return {};
  const found = name === undefined ? portfolios : portfoliosNamed(name, portfolios, environment);
  return { portfolioIds: found.map(({ id }) => id) };
}

const CURSOR = 'change:';
const DAY = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/;

async function readSince(
  since: string | undefined,
  { runs }: Ledger,
): Promise<Pick<ChangeQuery, 'after' | 'notedFrom'>> {
  if (since === undefined) return {};
  const [, cursor] = /^change:(\d{1,15})$/.exec(since) ?? [];
  if (cursor !== undefined) return { after: Number(cursor) };
  if (!DAY.test(since)) return { notedFrom: (await namedRun(since, { runs })).createdAt };
  const notedFrom = Date.parse(since);
  if (Number.isNaN(notedFrom))
    throw new UsageError('DATE_INVALID', `${since} is not a date`, 'Example: --since 2026-01-31');
  return { notedFrom };
}

export interface RawAnswerOptions extends PlaceOptions {
  /** SHA-256 of the answer, or a unique beginning of it. */
  readonly sha256: string;
}

export interface RawAnswerView {
  readonly rawSha256: string;
  readonly body: Buffer;
}

export function rawAnswer(
  { sha256, ...place }: RawAnswerOptions,
  environment = processEnvironment(),
): Promise<RawAnswerView> {
  if (!/^[0-9a-f]{8,64}$/.test(sha256))
    throw new UsageError(
      'RAW_DIGEST_INVALID',
      `${sha256} is not the SHA-256 of a stored answer`,
      'Use raw_sha256 of a table, or at least its first 8 digits.',
    );
  return withLedger('read', place, environment, async ({ changes }) => {
    const [rawSha256, another] = await changes.digests(sha256);
    if (another !== undefined)
      throw new UsageError('RAW_DIGEST_AMBIGUOUS', `several stored answers begin with ${sha256}`, 'Give more digits.');
    const body = rawSha256 === undefined ? undefined : await changes.body(rawSha256);
    if (rawSha256 === undefined || body === undefined)
      throw new UsageError(
        'RAW_NOT_FOUND',
        `there is no stored answer ${sha256}`,
        'It was pruned, erased or damaged. Check: `kybatch doctor --deep`',
      );
    return { rawSha256, body };
  });
}

const CHANGES_PER_PAGE = 1000;

export const lastChange = async ({ changes }: Pick<Ledger, 'changes'>): Promise<number> =>
  (await changes.list({ limit: 0 })).last;

/** How many changes of a run since then are important. Null if it has no portfolio. */
export async function importantSince(
  after: number,
  run: RunRecord,
  { changes }: Pick<Ledger, 'changes'>,
): Promise<number | null> {
  if (run.portfolioId === null) return null;
  const names = importantNames(run);
  // Changes that a better reader found in older answers are no news of this run.
  const matter = ({ runId, items }: MemberChange) =>
    runId === run.id ? items.flatMap(fieldsOf).filter((field) => isImportant(field, names)).length : 0;
  let count = 0;
  for (let from = after; ; ) {
    const page = await changes.list({ portfolioIds: [run.portfolioId], after: from, limit: CHANGES_PER_PAGE });
    count += page.changes.reduce((sum, change) => sum + matter(change), 0);
    if (!page.more) return count;
    from = page.last;
  }
}
