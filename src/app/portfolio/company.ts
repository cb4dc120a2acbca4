// Shows one company: what is stored about it, where it is listed, and what it cost.

import { KybatchError, UsageError } from '../../domain/errors.js';
import { isUniqueInCountry } from '../../domain/numbers/compare.js';
import { GRAPH_LIMITS, type GraphLimits, type OwnershipGraph } from '../../domain/ownership-graph.js';
import { type Money, moneyOf, noPurchases, type Prices, purchasesOf } from '../../domain/prices.js';
import { ID_SPACES, type IdSpace } from '../../domain/provider.js';
import { glanceEntries } from '../../export/bulk-lines.js';
import { type CompanyState, companyAtAGlance, stateOfStatus } from '../../export/company-at-a-glance.js';
import { reasonFacts, reasonOf } from '../../export/reasons.js';
import { resultRow } from '../../export/results-rows.js';
import { resultsFor, resultsTable } from '../../export/results-table.js';
import { tables as exportTables } from '../../export/tables.js';
import { withListed } from '../../export/write-answers.js';
import type { RunSnapshot, SnapshotRow } from '../../ledger/answers/snapshot.js';
import { EntityIds } from '../../ledger/erase/identifiers.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import type { DecisionEntry } from '../../ledger/review/review.js';
import type { RowAbout, StoredAnswerRecord } from '../../ledger/rows/find-rows.js';
import { readers } from '../../readers/list.js';
import { type Reader, readSubject } from '../../readers/reader.js';
import { hideContacts, type Row } from '../../readers/table.js';
import { searchesOf } from '../../stages/identity/space-search.js';
import { type AppEnvironment, pricesOf, processEnvironment, type Workplace, withLedger } from '../environment.js';
import { isSelectedProvider, type ProviderOptions } from '../provider/provider.js';
import { findSettings } from '../run/stored-settings.js';
import { type ChangeView, changesAbout } from './changes.js';
import {
  type CompanyFact,
  type CompanyTable,
  type CompanyTables,
  type CreditReportView,
  companyFacts,
  companyFigures,
  companyGraph,
  creditReports,
  type FigureTable,
} from './company-facts.js';

export interface CompanyOptions extends ProviderOptions {
  readonly space: string;
  readonly id: string;
  readonly includeContacts?: boolean | undefined;
  readonly graph?: Partial<GraphLimits> | undefined;
}

export interface CompanyView {
  readonly space: IdSpace;
  readonly id: string;
  readonly ids: Readonly<Partial<Record<IdSpace, string>>>;
  readonly name: string | null;
  readonly registrationNumber: string | null;
  readonly countryCode: string | null;
  readonly register: string | null;
  /** As the registry reports it, and what kybatch reads in it. Null: nothing that matters. */
  readonly status: string | null;
  readonly state: CompanyState | null;
  /** Where it is listed. The first one tells the facts. */
  readonly rows: readonly CompanyRowView[];
  readonly facts: readonly CompanyFact[];
  readonly figures: readonly FigureTable[];
  readonly lists: readonly CompanyListView[];
  readonly reports: readonly CreditReportView[];
  readonly graph: OwnershipGraph;
  /** The companies of the graph that a list has too, by the key of their node. */
  readonly listedNodes: Readonly<Record<string, { readonly space: IdSpace; readonly id: string }>>;
  readonly changes: readonly ChangeView[];
  readonly decisions: readonly DecisionEntry[];
  readonly answers: readonly StoredAnswerView[];
  /** Stored answers that cannot be read any more. */
  readonly damagedAnswers: number;
}

export interface CompanyRowView {
  /** Null: the run has no portfolio, or the company uses another row by now. */
  readonly portfolio: string | null;
  readonly runId: string;
  readonly row: number;
  readonly line: number;
  readonly inputId: string | null;
  readonly leftAt: number | null;
  readonly outcome: string;
  readonly stage: string | null;
  readonly reasonCode: string | null;
  readonly reason: string;
  readonly matchGrade: string | null;
  readonly matchedOn: string | null;
  readonly updatedAt: number | null;
}

/** A table of list items, such as `officers`. Its rows have the columns of the exported table. */
export interface CompanyListView {
  readonly name: string;
  readonly state: CompanyTable['state'];
  readonly items: readonly Row[];
}

export interface StoredAnswerView extends Omit<StoredAnswerRecord, 'newest'> {
  /** Its data is on this page. False: it was replaced, belongs to a search, or has an open question. */
  readonly shown: boolean;
  readonly replaced: boolean;
  /** Absent: no prices are set. */
  readonly money?: Money;
}

const LISTS = ['officers', 'shareholders', 'group_links', 'people', 'appointments', 'holdings', 'technologies'];
const CHANGES_SHOWN = 50;

export const company = (options: CompanyOptions, environment = processEnvironment()): Promise<CompanyView> =>
  withCompany(options, environment, viewOf);

/** The rows of each table about one company, with the columns of the exported tables. `results` has one row. */
const companyTables = (options: CompanyOptions, environment: AppEnvironment): Promise<CompanyRows> =>
  withCompany(options, environment, async ({ includeContacts = false }, _, snapshot) => {
    const { tables } = await readTables(snapshot, includeContacts);
    const found = new Map([...tables].map(([name, { rows }]) => [name, rows]));
    for await (const [main] of snapshot.rows()) {
      if (main === undefined || found.has(resultsTable.name)) continue;
      // Without the columns of the list, which stay with the list.
      const row = { ...resultRow(main, companyAtAGlance(main), resultsFor([])), extra: null };
      found.set(resultsTable.name, [includeContacts ? row : hideContacts(resultsTable.columns, row)]);
    }
    return found;
  });

/** What can be added to a list about its companies: a column of an exported table. */
interface CompanyProperty {
  /** Such as `results.legal_form`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly table: string;
  readonly column: string;
}

const EXTENDING: readonly string[] = ['results', 'financial_years'];

export const companyProperties: readonly CompanyProperty[] = exportTables
  .filter(({ name }) => EXTENDING.includes(name))
  .flatMap((table) =>
    table.columns
      .filter(({ type, contact, own }) => type !== 'json' && contact !== true && own !== true)
      .map(({ name: column, description }) => {
        const words = column.replaceAll('_', ' ');
        const name = table.name === 'results' ? words : `${words} (${table.name.replaceAll('_', ' ')})`;
        return { id: `${table.name}.${column}`, name, description, table: table.name, column };
      }),
  );

/** The values of each property, one for each row of its table. Empty: all of them are missing, or no list has the company. */
export async function companyValues(
  options: CompanyOptions,
  ids: readonly string[],
  environment = processEnvironment(),
): Promise<ReadonlyMap<string, readonly Row[string][]>> {
  const tables = await companyTables(options, environment).catch((error: unknown): CompanyRows => {
    if (error instanceof KybatchError && UNLISTED.includes(error.code)) return new Map();
    throw error;
  });
  return new Map(
    ids.map((id) => {
      const { table = '', column = '' } = companyProperties.find((property) => property.id === id) ?? {};
      const values = (tables.get(table) ?? []).map((row) => row[column] ?? null);
      return [id, values.every((value) => value === null) ? [] : values];
    }),
  );
}

/** No list has the company, or there is no list yet. */
export const UNLISTED: readonly string[] = ['COMPANY_NOT_FOUND', 'NO_LEDGER_YET'];

type CompanyRows = ReadonlyMap<string, readonly Row[]>;

type FoundCompany = CompanyOptions & { readonly space: IdSpace };

function withCompany<T>(
  options: CompanyOptions,
  environment: AppEnvironment,
  use: (options: FoundCompany, rows: readonly RowAbout[], snapshot: RunSnapshot, workplace: Workplace) => Promise<T>,
): Promise<T> {
  return withLedger('read', options, environment, async (ledger, workplace) => {
    const space = ID_SPACES.find((known) => known === options.space && known !== 'report');
    const found = space === undefined ? [] : await ledger.rows.rowsAbout(space, options.id);
    const [first, ...others] = found.filter(({ environment }) => isSelectedProvider(options, environment));
    if (space === undefined || first === undefined) throw notFound(options);
    const rows = [first, ...others.filter(({ environment }) => environment === first.environment)];
    const snapshot = await ledger.reading.snapshot(first.run_id, { only: rows });
    if (snapshot === undefined) throw notFound(options);
    try {
      return await use({ ...options, space }, rows, snapshot, workplace);
    } finally {
      await snapshot.close();
    }
  });
}

const notFound = ({ space, id }: CompanyOptions) =>
  new UsageError('COMPANY_NOT_FOUND', `no row has the company ${space} ${id}`, 'Find it by its name or number.');

async function viewOf(
  options: FoundCompany,
  rows: readonly RowAbout[],
  snapshot: RunSnapshot,
  workplace: Workplace,
): Promise<CompanyView> {
  const { ledger } = workplace;
  const { tables, digests, operations } = await readTables(snapshot, options.includeContacts ?? false);
  const stored: SnapshotRow[] = [];
  for await (const batch of snapshot.rows()) stored.push(...batch);
  const [main] = stored;
  if (main === undefined) throw notFound(options);
  const glance = companyAtAGlance(main);
  const { name, registrationNumber, country: countryCode, register, status } = glance;
  const ids = main.ids;
  const companyIds = new EntityIds();
  for (const [space, id] of Object.entries(ids))
    if (space !== 'report') companyIds.add({ space: space as IdSpace, id });
  const searches = Object.keys(ids).flatMap((space) => searchesOf(space as IdSpace).map(({ name }) => name));
  const schemes = (['v1', 'v2'] as const).flatMap((scheme) => {
    const id = ids[scheme];
    return id === undefined ? [] : [{ scheme, id }];
  });
  const prices = pricesOf(findSettings(snapshot.run)?.pipeline, workplace);
  const listed = rows.flatMap((row, index) => {
    const facts = stored[index];
    return facts === undefined || (index > 0 && row.portfolioId === null) ? [] : [{ row, facts }];
  });
  const portfolios = await ledger.portfolios.all();
  const subject = { name, countryCode, registrationNumber, ids: schemes };
  const graph = companyGraph(subject, tables, { ...GRAPH_LIMITS, ...options.graph });
  return {
    space: options.space,
    id: options.id,
    ids,
    name,
    registrationNumber,
    countryCode,
    register,
    status,
    state: (status === null ? undefined : stateOfStatus(status)) ?? null,
    rows: listed.map(({ row, facts }) => rowView(row, facts, portfolios)),
    facts: companyFacts(tables, new Set([...operations, ...searches]), (cell) =>
      cell === 'register' ? register : glance.cell(cell),
    ),
    figures: companyFigures(tables),
    lists: LISTS.map((list) => {
      const { rows: items, state } = tables.get(list) ?? { rows: [], state: 'not_bought' as const };
      return { name: list, state, items };
    }),
    reports: creditReports(tables),
    graph,
    listedNodes: await listedNodes(graph, ledger),
    changes: await changesAbout(companyIds, CHANGES_SHOWN, ledger),
    decisions: await ledger.rows.decisionsAbout(rows),
    answers: (await ledger.rows.storedAnswers(rows)).map((answer) => answerView(answer, digests, prices)),
    damagedAnswers: snapshot.damaged.length,
  };
}

async function listedNodes({ nodes }: OwnershipGraph, { rows }: Ledger): Promise<CompanyView['listedNodes']> {
  const numbered = nodes.flatMap(({ key, kind, countryCode, registrationNumber }) => {
    if (kind !== 'company' || countryCode === null || registrationNumber === null) return [];
    const number = registrationNumber.replace(`${countryCode}-`, '');
    return isUniqueInCountry(number, countryCode) ? [{ key, countryCode, number }] : [];
  });
  if (numbered.length === 0) return {};
  const listed = await rows.companiesNumbered(numbered.map(({ number }) => number));
  const found = numbered.flatMap(({ key, countryCode, number }) => {
    const one = listed.find((company) => company.number === number && company.countryCode === countryCode);
    return one === undefined ? [] : [[key, { space: one.space, id: one.id }] as const];
  });
  return Object.fromEntries(found);
}

function rowView(about: RowAbout, row: SnapshotRow, portfolios: readonly PortfolioRecord[]): CompanyRowView {
  return {
    portfolio: portfolios.find(({ id }) => id === about.portfolioId)?.name ?? null,
    runId: about.run_id,
    row: about.row,
    line: about.line,
    inputId: row.fields?.id ?? null,
    leftAt: about.leftAt,
    outcome: row.outcome,
    stage: row.stage,
    reasonCode: row.errorCode ?? row.holdReason,
    reason: reasonOf(reasonFacts(row, companyAtAGlance(row))),
    matchGrade: row.matchGrade,
    matchedOn: row.matchedOn,
    updatedAt: row.updatedAt,
  };
}

/** Reads the answers of the first row with every reader, and the credit reports of all rows. */
async function readTables(snapshot: RunSnapshot, includeContacts: boolean) {
  const tables = new Map<string, { rows: Row[]; state: CompanyTable['state'] }>();
  const digests = new Set<string>();
  const operations = new Set<string>();
  for (const reader of readers as readonly Reader[])
    for await (const subject of withListed(reader, snapshot)) {
      if (subject.row !== 1 && reader.space !== 'report') continue;
      for (const { rawSha256, operation } of subject.answers) {
        digests.add(rawSha256);
        operations.add(operation);
      }
      const out = readSubject(reader, subject, includeContacts);
      if (subject.row === 1) snapshot.keepGlances(reader.name, reader.space, glanceEntries(reader, subject.id, out));
      for (const table of reader.tables) {
        const known = tables.get(table.name) ?? { rows: [], state: 'not_bought' };
        const rows = [...known.rows, ...out.shownOf(table)];
        const returned = known.state === 'returned' || rows.length > 0 || out.came.has(table.name);
        tables.set(table.name, { rows, state: returned ? 'returned' : 'not_returned' });
      }
    }
  return { tables: tables as CompanyTables, digests, operations };
}

function answerView(
  { newest, ...answer }: StoredAnswerRecord,
  digests: ReadonlySet<string>,
  prices: Prices | null,
): StoredAnswerView {
  const { operation, meter, charge, unitsCharged, rawSha256 } = answer;
  const bought =
    charge === 'charged' ? purchasesOf([{ operation, meter, units: unitsCharged ?? 0, calls: 1 }]) : noPurchases();
  const replaced = newest === 0;
  return {
    ...answer,
    replaced,
    shown: !replaced && digests.has(rawSha256),
    ...(prices === null ? {} : { money: moneyOf(prices, bought) }),
  };
}
