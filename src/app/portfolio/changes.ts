import { type FieldChange, fieldsOf, isImportant } from '../../domain/change.js';
import { UsageError } from '../../domain/errors.js';
import { importantNames } from '../../export/run-tables.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { ChangeQuery, MemberChange, NamedChange } from '../../ledger/portfolio/changes.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { READERS_VERSION } from '../../portfolio/changes/derive.js';
import { type AppEnvironment, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';
import { isSelectedProvider, type ProviderOptions } from '../provider/provider.js';
import { namedRun } from '../run/runs.js';
import { portfoliosNamed } from './open-list.js';

export interface ChangesOptions extends ProviderOptions {
  /** The name of a portfolio; all of them without it. */
  readonly portfolio?: string | undefined;
  /** A day, a time, a run (its own changes, too), or what a look before said to go on after. */
  readonly since?: string | undefined;
}

export interface ChangesView {
  readonly changes: readonly ChangeView[];
  /** What to ask for next time: nothing is told twice, nothing is missed. */
  readonly nextSince: string;
  /** There is more after it already. */
  readonly more: boolean;
  /** Answers that are not compared with those before them yet: the next start does that. */
  readonly notCompared: number;
}

/** What changed for one member by one answer, item by item. */
export interface ChangeView extends Omit<NamedChange, 'items'> {
  readonly items: readonly ChangedItem[];
}

export interface ChangedItem {
  readonly oldRawSha256: string;
  readonly newRawSha256: string;
  /** The item as a whole, where it came or went, then its fields. */
  readonly fields: readonly (FieldChange & { readonly important: boolean })[];
}

/** Answers at the most that one look tells of. */
const CHANGES_AT_MOST = 1000;

/** What changed in the portfolios: what new answers say otherwise than those before them. */
export function changes(options: ChangesOptions = {}, around = processEnvironment()): Promise<ChangesView> {
  return withLedger('read', options, around, async (ledger) => {
    const all = await ledger.portfolios.all();
    const portfolios = all.filter(({ providers }) => isSelectedProvider(options, providers));
    const from = await readSince(options.since, ledger);
    const page = await ledger.changes.list({
      ...from,
      ...wanted(options, portfolios, around),
      limit: CHANGES_AT_MOST,
    });
    const important = await importantByPortfolio(portfolios, ledger);
    return {
      changes: page.changes.map((change) => viewOf(change, important.get(change.portfolioId) ?? new Set())),
      nextSince: `${CURSOR}${page.last}`,
      more: page.more,
      notCompared: await ledger.changes.waiting(READERS_VERSION),
    };
  });
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

/** What matters is what the newest run of the portfolio was told. */
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
  around: AppEnvironment,
): Pick<ChangeQuery, 'portfolioIds'> {
  if (name === undefined && !sandbox) return {};
  const found = name === undefined ? portfolios : portfoliosNamed(name, portfolios, around);
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
  if (Number.isNaN(notedFrom)) throw new UsageError(`${since} is no date`, 'For example --since 2026-01-31.');
  return { notedFrom };
}

export interface RawAnswerOptions extends PlaceOptions {
  /** SHA-256 of the body; its beginning is enough while no other begins so. */
  readonly sha256: string;
}

export interface RawAnswerView {
  readonly rawSha256: string;
  readonly body: Buffer;
}

/** A body as it was bought, to the byte. */
export function rawAnswer(
  { sha256, ...place }: RawAnswerOptions,
  around = processEnvironment(),
): Promise<RawAnswerView> {
  if (!/^[0-9a-f]{8,64}$/.test(sha256))
    throw new UsageError(
      `${sha256} is no digest of a raw answer`,
      'It is the raw_sha256 of a table, or its first 8 digits or more.',
    );
  return withLedger('read', place, around, async ({ changes }) => {
    const [rawSha256, another] = await changes.digests(sha256);
    if (another !== undefined)
      throw new UsageError(`several raw answers begin with ${sha256}`, 'Give more of its digits.');
    const body = rawSha256 === undefined ? undefined : await changes.body(rawSha256);
    if (rawSha256 === undefined || body === undefined)
      throw new UsageError(
        `there is no raw answer ${sha256}`,
        'It was pruned or purged, or is damaged: `kybatch doctor --deep` says.',
      );
    return { rawSha256, body };
  });
}

const CHANGES_PER_PAGE = 1000;

/** The last change that is noted by now. */
export const lastChange = async ({ changes }: Pick<Ledger, 'changes'>): Promise<number> =>
  (await changes.list({ limit: 0 })).last;

/** How many of those that a run has brought since then matter; null: it is of no list. */
export async function importantSince(
  after: number,
  run: RunRecord,
  { changes }: Pick<Ledger, 'changes'>,
): Promise<number | null> {
  if (run.portfolioId === null) return null;
  const names = importantNames(run);
  // What better readers have found in older answers is no news of this night.
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
