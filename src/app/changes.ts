import { type FieldChange, fieldsOf, isImportant } from '../domain/change.js';
import { UsageError } from '../domain/errors.js';
import { importantNames } from '../export/changes-table.js';
import type { ChangeQuery, NamedChange } from '../ledger/changes.js';
import type { Ledger } from '../ledger/ledger.js';
import type { PortfolioRecord } from '../ledger/portfolios.js';
import { READERS_VERSION } from '../portfolio/changes/derive.js';
import { portfoliosNamed } from './find-portfolios.js';
import { namedRun } from './find-run.js';
import { isWanted, type ProviderOptions } from './provider.js';
import { here, type Surroundings, withLedger } from './surroundings.js';

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
const AT_ONCE = 1000;

/** What changed in the portfolios: what new answers say otherwise than those before them. */
export function changes(options: ChangesOptions = {}, around = here()): Promise<ChangesView> {
  return withLedger('read', options, around, async (ledger) => {
    const all = await ledger.portfolios.all();
    const portfolios = all.filter(({ providers }) => isWanted(options, providers));
    const from = await readSince(options.since, ledger);
    const page = await ledger.changes.list({
      ...from,
      ...wanted(options, portfolios, around),
      limit: AT_ONCE,
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
  around: Surroundings,
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
