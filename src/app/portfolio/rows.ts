// Lists rows for people: searched, filtered, sorted, page by page.

import { UsageError } from '../../domain/errors.js';
import { type IdSpace, INFORMATIVE_SPACES } from '../../domain/provider.js';
import { companyAtAGlance } from '../../export/company-at-a-glance.js';
import { reasonFacts, reasonOf } from '../../export/reasons.js';
import type { SnapshotRow } from '../../ledger/answers/snapshot.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import { type FoundRow, ROW_ORDERS, type RowCount, type RowQuery } from '../../ledger/rows/find-rows.js';
import { questionId } from '../../review/questions.js';
import { LONGEST_NAME } from '../../util/text-limits.js';
import { type AppEnvironment, processEnvironment, type Workplace, withLedger } from '../environment.js';
import { isSelectedProvider, type ProviderOptions } from '../provider/provider.js';
import { namedRun } from '../run/runs.js';
import { portfoliosNamed } from './open-list.js';

export interface RowsOptions extends ProviderOptions {
  /** The rows of one portfolio. Default: of all portfolios. */
  readonly portfolio?: string | undefined;
  /** The rows of a run instead. Rows that a later run took over are in that run. */
  readonly run?: string | undefined;
  /** A part of a name, a number in any spelling, your own ID, or an ID of the provider. */
  readonly search?: string | undefined;
  readonly outcome?: string | undefined;
  readonly stage?: string | undefined;
  /** The code of the error, the question or the hold. */
  readonly reason?: string | undefined;
  /** `row`, `name`, `outcome`, `updated` or `units`. Default: `row`. */
  readonly sort?: string | undefined;
  readonly descending?: boolean | undefined;
  /** From 1. A page after the last one shows the last one. */
  readonly page?: number | undefined;
  readonly perPage?: number | undefined;
}

export interface RowsView {
  readonly rows: readonly ListedRow[];
  readonly total: number;
  readonly page: number;
  readonly pages: number;
  readonly perPage: number;
  /** How many rows each choice would leave, with the other filters in force. */
  readonly facets: Readonly<Record<RowFacet, readonly FacetCount[]>>;
}

export type RowFacet = 'outcome' | 'stage' | 'reason';

export interface FacetCount {
  readonly value: string;
  readonly count: number;
}

export interface ListedRow {
  readonly portfolio: string | null;
  readonly runId: string;
  /** Its place in the newest file, and in its own run. */
  readonly row: number;
  readonly runRow: number;
  readonly line: number;
  readonly inputId: string | null;
  /** The cells as written, if they could not be read as fields. */
  readonly written: string | null;
  readonly name: string | null;
  readonly country: string | null;
  readonly registrationNumber: string | null;
  /** The company as the search returned it. Null: not confirmed. */
  readonly matchedName: string | null;
  readonly matchedRegistrationNumber: string | null;
  readonly matchedCountry: string | null;
  readonly matchedRegister: string | null;
  readonly ids: Readonly<Partial<Record<IdSpace, string>>>;
  /** The ID to open its page with. Null: it has no company. */
  readonly company: { readonly space: IdSpace; readonly id: string } | null;
  readonly outcome: string;
  readonly stage: string | null;
  readonly reasonCode: string | null;
  readonly reason: string;
  /** The review question that it waits for. */
  readonly question: string | null;
  readonly matchGrade: string | null;
  readonly unitsCharged: number;
  readonly updatedAt: number | null;
}

const PER_PAGE = 50;
/** A page is one view of the ledger, whose statement grows with its rows. */
const PER_PAGE_AT_MOST = 200;

/** A longer text costs the database much, or is more than it takes. */
export function refuseLongSearch(searched: Readonly<Record<string, string | undefined>>): void {
  for (const [field, { length } = ''] of Object.entries(searched))
    if (length > LONGEST_NAME)
      throw new UsageError(
        'SEARCH_TOO_LONG',
        `${field} has ${length} characters, and a search takes at most ${LONGEST_NAME}`,
        'Shorten it.',
      );
}

export async function rows(options: RowsOptions = {}, environment = processEnvironment()): Promise<RowsView> {
  refuseLongSearch({ search: options.search });
  return await withLedger('read', options, environment, async (ledger, workplace) => {
    const { search, outcome, stage, reason } = options;
    const portfolios = (await ledger.portfolios.all()).filter(({ providers }) =>
      isSelectedProvider(options, providers),
    );
    const scope = await scopeOf(options, portfolios, workplace);
    const chosen: Chosen = { outcome, stage, reason };
    const query = { scope, search, among: await ledger.rows.keysFound({ scope, search }) };
    const order = orderOf(options.sort);
    const all = await ledger.rows.countRows(query);
    const total = all.reduce((sum, one) => sum + (fits(one, chosen) ? one.rows : 0), 0);
    const perPage = Math.min(PER_PAGE_AT_MOST, Math.max(1, Math.trunc(options.perPage ?? PER_PAGE)));
    const pages = Math.max(1, Math.ceil(total / perPage));
    const page = Math.min(pages, Math.max(1, Math.trunc(options.page ?? 1)));
    const descending = options.descending === true;
    const place = { offset: (page - 1) * perPage, limit: perPage };
    const found =
      total === 0 ? [] : await ledger.rows.findRows({ ...query, filter: chosen, order, descending, ...place });
    return {
      rows: await readListedRows(found, portfolios, ledger),
      total,
      page,
      pages,
      perPage,
      facets: {
        outcome: facet('outcome', all, chosen),
        stage: facet('stage', all, chosen),
        reason: facet('reason', all, chosen),
      },
    };
  });
}

export async function companiesLike(
  options: ProviderOptions & { readonly search: string },
  environment: AppEnvironment,
) {
  const found = new Map<
    string,
    { space: IdSpace; id: string } & Record<'name' | 'country' | 'registrationNumber', string | null>
  >();
  for (const row of (await rows(options, environment)).rows) {
    if (row.company === null) continue;
    const { matchedName: name, matchedCountry: country, matchedRegistrationNumber: registrationNumber } = row;
    found.set(`${row.company.space} ${row.company.id}`, { ...row.company, name, country, registrationNumber });
  }
  return [...found.values()];
}

async function scopeOf(
  { portfolio, run }: RowsOptions,
  portfolios: readonly PortfolioRecord[],
  workplace: Workplace,
): Promise<RowQuery['scope']> {
  if (run !== undefined) return { runId: (await namedRun(run, workplace.ledger)).id };
  const meant = portfolio === undefined ? portfolios : portfoliosNamed(portfolio, portfolios, workplace);
  return { portfolioIds: meant.map(({ id }) => id) };
}

function orderOf(sort = 'row') {
  const order = ROW_ORDERS.find((known) => known === sort);
  if (order === undefined)
    throw new UsageError('ROW_ORDER_UNKNOWN', `rows cannot be sorted by ${sort}`, `Sort by ${ROW_ORDERS.join(', ')}.`);
  return order;
}

type Chosen = Readonly<Record<RowFacet, string | undefined>>;

const fits = (one: RowCount, { outcome, stage, reason }: Chosen): boolean =>
  (outcome === undefined || one.outcome === outcome) &&
  (stage === undefined || one.stage === stage) &&
  (reason === undefined || one.reason === reason);

/** Largest first. */
function facet(name: RowFacet, all: readonly RowCount[], chosen: Chosen): readonly FacetCount[] {
  const found = new Map<string, number>();
  const others = { ...chosen, [name]: undefined };
  for (const one of all) {
    const value = one[name];
    if (value !== null && fits(one, others)) found.set(value, (found.get(value) ?? 0) + one.rows);
  }
  return [...found].map(([value, count]) => ({ value, count })).sort((a, b) => b.count - a.count);
}

export async function readListedRows(
  found: readonly FoundRow[],
  portfolios: readonly PortfolioRecord[],
  { reading }: Ledger,
): Promise<readonly ListedRow[]> {
  const [first] = found;
  const snapshot = first && (await reading.snapshot(first.run_id, { only: found }));
  if (snapshot === undefined) return [];
  try {
    const listed: ListedRow[] = [];
    for await (const batch of snapshot.rows())
      for (const row of batch) {
        const place = found[row.row - 1];
        if (place !== undefined) listed.push(toListed(row, place, portfolios));
      }
    return listed;
  } finally {
    await snapshot.close();
  }
}

function toListed(row: SnapshotRow, place: FoundRow, portfolios: readonly PortfolioRecord[]): ListedRow {
  const glance = companyAtAGlance(row);
  const space = [...INFORMATIVE_SPACES, ...Object.keys(row.ids)].find(
    (one): one is IdSpace => one !== 'report' && row.ids[one as IdSpace] !== undefined,
  );
  const id = space && row.ids[space];
  const asked = row.questions.find(({ answered }) => answered === 0);
  return {
    portfolio: portfolios.find(({ id }) => id === place.portfolioId)?.name ?? null,
    runId: place.run_id,
    row: place.row,
    runRow: place.run_row,
    line: place.line,
    inputId: row.fields?.id ?? null,
    written:
      row.fields?.name === undefined && row.outcome === 'invalid' ? row.values.filter(Boolean).join(' · ') : null,
    name: row.fields?.name ?? null,
    country: row.country,
    registrationNumber: row.fields?.registration_number ?? null,
    matchedName: glance.name,
    matchedRegistrationNumber: glance.registrationNumber,
    matchedCountry: glance.country,
    matchedRegister: glance.register,
    ids: row.ids,
    company: space === undefined || id === undefined ? null : { space, id },
    outcome: row.outcome,
    stage: row.stage,
    reasonCode: row.errorCode ?? row.holdReason,
    reason: reasonOf(reasonFacts(row, glance)),
    question: row.outcome === 'needs_review' && asked !== undefined ? questionId(asked) : null,
    matchGrade: row.matchGrade,
    unitsCharged: place.unitsCharged,
    updatedAt: row.updatedAt,
  };
}
