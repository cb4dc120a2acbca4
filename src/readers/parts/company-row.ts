// Makes a company's row and chooses the visible version of its lists.

import type { JsonObject } from '../../util/exact-json.js';
import type { Glance, RawAnswer, ReaderOutput } from '../reader.js';
import { rowKey } from '../row-identity.js';
import {
  type Cell,
  column,
  extraColumn,
  joinCells,
  operationColumn,
  type Row,
  type RowIdentity,
  rawSha256,
  type Table,
  table,
  timestamp,
} from '../table.js';
import { filedFinancialsTable } from './filed-financials.js';
import { addressAt, filedTurnover, glanceAt } from './glance.js';
import { groupLinksTable } from './group-links.js';
import type { SubjectIds } from './lists.js';
import { officersTable, shareholdersTable } from './officers-shareholders.js';
import type { BodyPath } from './open-answer.js';
import { extraOf, type Members, nested, ownId, readFields, ungroup } from './read-fields.js';
import { takeSources } from './sources.js';

type ProfileCell = (typeof allProfileFields)[number]['name'];

/** The eight fields of the full record's `lite`, without its ID. */
const profileFields = [
  column('name', 'text', 'Registered name'),
  column('registration_number', 'text', 'Local number. Leading zeros are kept'),
  column('vat_number', 'text', 'VAT, tax or EIN number'),
  column('incorporation_date', 'date', 'Date of incorporation'),
  column('status', 'text', 'Status as the registry reports it'),
  column('country_code', 'text', 'ISO alpha-2'),
  column('legal_form', 'text', 'Legal form as the registry reports it'),
] as const;

const furtherProfileFields = [
  column('ticker', 'text', 'Ticker of a listed company', 'liteKyb basic.ticker or ticker'),
  column('country_name', 'text', 'Country', 'liteKyb, kybLite'),
  column('country_region', 'text', 'Region, state or province', 'liteKyb, kybLite'),
  column('address_street', 'text', 'Registered address', 'liteKyb, kybLite'),
  column('address_location', 'text', 'Further line of the registered address', 'liteKyb, kybLite'),
  column('address_city', 'text', 'City', 'liteKyb, kybLite'),
  column('zip_code', 'text', 'Postal code', 'liteKyb, kybLite'),
  column('jurisdiction', 'text', 'Registry jurisdiction', 'liteKyb'),
  column('website', 'text', 'Website of the company', 'liteKyb, kybLite'),
  column('linkedin', 'text', 'The company’s page on a professional network', 'liteKyb, kybLite'),
] as const;

const allProfileFields = [...profileFields, ...furtherProfileFields] as const;

/** The contribution of one operation's answers to the company's row. */
export interface CompanyRowPart extends ListsRead {
  readonly cells?: Partial<Record<ProfileCell, Cell>>;
  readonly rest: Members;
  readonly years?: Cell;
  readonly totals?: Partial<Record<'officers' | 'shareholders', Cell>>;
}

export type AnswerRowPart = Omit<CompanyRowPart, 'operation' | 'rawSha256s' | 'asOf'>;

export const originIn = ({ operation, rawSha256, fetchedAt }: RawAnswer) => ({
  operation,
  rawSha256s: [rawSha256],
  asOf: fetchedAt,
});

/**
 * Adds the company's row. The first answer fills a cell, and different values of others go to `extra`. Lists are
 * counted as they are shown.
 */
export function addCompany(pieces: readonly CompanyRowPart[], { v1, v2 }: SubjectIds, out: ReaderOutput): void {
  const [main] = pieces;
  if (main === undefined) return;
  const cells = Object.fromEntries(
    allProfileFields.map(({ name }) => [name, pieces.map((piece) => piece.cells?.[name]).find(isThere) ?? null]),
  ) as Record<ProfileCell, Cell>;
  const standing = shownLists(pieces, out);
  const count = (name: ListName): Cell => {
    const came = standing[name]?.counts?.[name];
    return isThere(came) ? String(came) : null;
  };
  const total = (name: keyof NonNullable<CompanyRowPart['totals']>): Cell => {
    const telling = standing[name] === undefined ? pieces : [standing[name]];
    return telling.map((piece) => piece.totals?.[name]).find(isThere) ?? null;
  };
  if (Object.values(cells).some(isThere)) out.noteCame(companiesTable);
  const others = {
    v1_company_id: v1,
    officers_returned: count('officers'),
    shareholders_returned: count('shareholders'),
    group_links_returned: count('group_links'),
    filed_periods_returned: count('filed_periods'),
    fetched_at: timestamp(main.asOf),
    raw_sha256: main.rawSha256s[0] ?? null,
    operation: main.operation,
    v2_company_id: v2,
    officers_total: total('officers'),
    shareholders_total: total('shareholders'),
    filed_periods: standing.filed_periods?.years ?? null,
    extra: extraOf(pieces.flatMap((piece) => [...piece.rest, ...nested(piece.operation, besides(piece, cells))])),
  };
  out.add(companiesTable, joinCells(cells, others));
}

/** Values that differ from those shown in the row. */
const besides = ({ cells = {} }: CompanyRowPart, shown: Readonly<Record<ProfileCell, Cell>>): Members =>
  allProfileFields.flatMap(({ name }) => {
    const said = cells[name];
    return isThere(said) && said !== shown[name] ? [[name, said] as const] : [];
  });

const isThere = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;

/** Flat, or grouped with provenance (V1-25). An ID other than the requested one becomes an issue. */
export function readProfile(object: JsonObject, of: SubjectIds, path: BodyPath): AnswerRowPart {
  const flat = ungroup(takeSources(object, 'lite', of, path, PROFILE_GROUPS), PROFILE_GROUPS);
  return readFields(flat, allProfileFields, path, ownId(flat, 'id', of.v1 ?? of.v2, path));
}

const PROFILE_GROUPS = ['basic', 'address', 'contact'];

/** The lists of a company, by their count columns in its row. */
const LISTS = {
  officers: officersTable,
  shareholders: shareholdersTable,
  group_links: groupLinksTable,
  filed_periods: filedFinancialsTable,
} as const;

export type ListName = keyof typeof LISTS;
const NAMES = Object.keys(LISTS) as readonly ListName[];

/** The lists in the answers of one operation, and their time. */
export interface ListsRead {
  readonly operation: string;
  readonly rawSha256s: readonly string[];
  readonly asOf: number;
  /** Number of items in each list. Null: not returned (V1-22). */
  readonly counts?: Partial<Record<ListName, number | null>>;
  /** Whether a list is complete or partial, if known. A record does not say (V1-26). */
  readonly extents?: Partial<Record<ListName, 'whole' | 'part'>>;
}

/**
 * A list may come with the full record and separately, at different times. The newest version is shown. But if it may
 * be incomplete, it does not prove that an entry is gone. Then an older version with all its entries and more is shown.
 */
function shownLists<R extends ListsRead>(reads: readonly R[], out: ReaderOutput): Partial<Record<ListName, R>> {
  const standing: Partial<Record<ListName, R>> = {};
  for (const name of NAMES) {
    const came = reads.filter((one) => cameIn(name, one, out));
    const chosen = came.length < 2 ? came[0] : standingOf(name, came, out);
    if (chosen === undefined) continue;
    standing[name] = chosen;
    const table: Table = LISTS[name];
    for (const { operation, rawSha256s } of came.filter((one) => one !== chosen))
      for (const rawSha256 of rawSha256s) out.hide(table, { operation, rawSha256 });
    if (chosen.extents?.[name] === 'part') out.noteInPart(table);
  }
  return standing;
}

/** Filed values may come without a list of their periods. */
const cameIn = (name: ListName, read: ListsRead, out: ReaderOutput): boolean => {
  const count = read.counts?.[name];
  return count === null ? linesOf(name, read, out).length > 0 : count !== undefined;
};

const linesOf = (name: ListName, { operation, rawSha256s }: ListsRead, out: ReaderOutput): readonly Row[] =>
  (out.rows.get(LISTS[name].name) ?? []).filter(
    (line) => line.operation === operation && rawSha256s.includes(line.raw_sha256 ?? ''),
  );

function standingOf<R extends ListsRead>(name: ListName, came: readonly R[], out: ReaderOutput): R | undefined {
  const { knownBy = { columns: [] } }: Table = LISTS[name];
  const isWhole = ({ extents }: ListsRead) => extents?.[name] === 'whole';
  const hasMoreThan = (one: R, other: R) => hasMore(linesOf(name, one, out), linesOf(name, other, out), knownBy);
  const [newest, ...older] = [...came].sort((a, b) => b.asOf - a.asOf || Number(isWhole(b)) - Number(isWhole(a)));
  return older.reduce(
    (stands, one) => (stands !== undefined && !isWhole(stands) && hasMoreThan(one, stands) ? one : stands),
    newest,
  );
}

/** True if it has every row of the other, equally often, and more. */
function hasMore(lines: readonly Row[], than: readonly Row[], knownBy: RowIdentity): boolean {
  if (lines.length <= than.length) return false;
  const times = new Map<string, number>();
  for (const line of lines) times.set(rowKey(line, knownBy), (times.get(rowKey(line, knownBy)) ?? 0) + 1);
  return than.every((line) => {
    const left = times.get(rowKey(line, knownBy)) ?? 0;
    times.set(rowKey(line, knownBy), left - 1);
    return left > 0;
  });
}

const GLANCE = [
  ...(['name', 'registration_number', 'country_code', 'status', 'legal_form', 'incorporation_date'] as const),
  ...(['vat_number', 'website', 'officers_returned', 'shareholders_returned', 'fetched_at'] as const),
] as const;

export const companyGlance = (out: ReaderOutput): Glance => ({
  ...glanceAt(out, companiesTable, GLANCE, { register: 'jurisdiction' }),
  ...addressAt(out, companiesTable, ['address_street', 'address_location', 'address_city', 'country_region']),
  ...filedTurnover(out.shownOf(filedFinancialsTable)),
});

export const companiesTable = table({
  name: 'companies',
  onePer: 'company bought',
  description:
    'The legal identity of each bought company, and the number of lines in its lists. A company that was bought from v1 and v2 has two lines.',
  source: 'fullKyb, liteKyb and the other modules of v1, v2 kybLite and its lists',
  key: ['v1_company_id', 'v2_company_id'],
  keyAlwaysThere: false,
  knownBy: {
    columns: [['v1_company_id'], ['v2_company_id']],
    single: true,
    // Each new period is reported with its values.
    besides: ['filed_periods'],
    saidBySome: ['officers_total', 'shareholders_total'],
    besidesInExtra: ['fullKyb', 'liteKyb', 'kybLite'],
  },
  columns: [
    column('v1_company_id', 'id', 'The company, in v1’s ID space. Empty if it was bought from v2', 'the request'),
    ...profileFields,
    column('officers_returned', 'integer', 'Returned officers. Empty: no list was returned. 0: the list was empty'),
    column('shareholders_returned', 'integer', 'Returned direct shareholders, empty or 0 as with officers'),
    column('group_links_returned', 'integer', 'Returned links, empty or 0 as with officers'),
    column(
      'fetched_at',
      'timestamp',
      'When the answer of `raw_sha256` was bought. For a list of several pages, the first of them',
      'the call',
    ),
    rawSha256,
    column(
      'filed_periods_returned',
      'integer',
      'Returned periods of the filed financials, empty or 0 as with officers',
      'years',
    ),
    ...furtherProfileFields,
    operationColumn,
    column('v2_company_id', 'id', 'The company, in v2’s ID space. Empty if it was bought from v1', 'the request'),
    column(
      'officers_total',
      'integer',
      'All officers, as the list counts them. The full record has no such count',
      'total_results',
    ),
    column('shareholders_total', 'integer', 'All direct shareholders, as the list counts them', 'total_results'),
    column(
      'filed_periods',
      'json',
      'Reporting periods of the filed financials, in the order in which they came',
      'years',
    ),
    extraColumn,
  ],
});
