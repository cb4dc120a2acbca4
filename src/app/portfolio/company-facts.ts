// Facts, figures and ownership of one company, from the tables of its readers.

import {
  type GraphLimits,
  type GraphParty,
  type OwnershipGraph,
  ownershipGraph,
} from '../../domain/ownership-graph.js';
import { groupLinkOf } from '../../readers/parts/group-links.js';
import type { GlanceCell } from '../../readers/reader.js';
import type { Row } from '../../readers/table.js';

/** What the answers of a company say, by table. */
export type CompanyTables = ReadonlyMap<string, CompanyTable>;

export interface CompanyTable {
  readonly rows: readonly Row[];
  /** `not_returned`: the answers say nothing about it, which does not mean that there is none. */
  readonly state: 'returned' | 'not_returned' | 'not_bought';
}

const rowsOf = (tables: CompanyTables, name: string): readonly Row[] => tables.get(name)?.rows ?? [];

export interface CompanyFact {
  readonly name: string;
  /** `not_returned`: an answer that documents it was bought, and lacks it. */
  readonly state: CompanyTable['state'];
  readonly value: string | null;
  /** Null: the fallback that the exported `results` use, too. */
  readonly operation: string | null;
  readonly others: readonly { readonly value: string; readonly operation: string | null }[];
}

/** The registry's answers come before those of other modules. The fallback is the order of `results`. */
const SOURCES = ['companies', 'firmographics'] as const;

const PROFILE = ['liteKyb', 'kybLite'];
const RECORD = ['fullKyb', ...PROFILE];
const FIRMOGRAPHICS = 'companyProfile';
/** Their candidates name a register. */
const SEARCHES = ['searchKyb', 'kybSearch'];

interface FactSource {
  /** The operations whose documents name it. */
  readonly in: readonly string[];
  /** Its column in `firmographics`. */
  readonly firmographics?: string;
  /** Its column in `results`, if the name differs. */
  readonly glance?: GlanceCell;
}

const FACTS: Readonly<Record<string, FactSource>> = {
  registration_number: { in: [...RECORD, FIRMOGRAPHICS], firmographics: 'registration_number' },
  vat_number: { in: RECORD },
  legal_form: { in: [...RECORD, FIRMOGRAPHICS], firmographics: 'company_legal_form' },
  incorporation_date: { in: [...RECORD, FIRMOGRAPHICS], firmographics: 'founding_date' },
  status: { in: [...RECORD, FIRMOGRAPHICS], firmographics: 'status' },
  country_code: { in: [...RECORD, FIRMOGRAPHICS], firmographics: 'country_code' },
  jurisdiction: { in: ['liteKyb', ...SEARCHES], glance: 'register' },
  address: { in: [...PROFILE, FIRMOGRAPHICS] },
  website: { in: [...PROFILE, FIRMOGRAPHICS], firmographics: 'company_website' },
  ticker: { in: ['liteKyb'] },
  size: { in: [FIRMOGRAPHICS, 'creditReportFetch'], firmographics: 'size', glance: 'headcount' },
  industry: { in: [FIRMOGRAPHICS] },
};

/** `bought`: the operations whose answers are shown, and the searches that found the company. */
export function companyFacts(
  tables: CompanyTables,
  bought: ReadonlySet<string>,
  glanceCell: (cell: GlanceCell) => string | null,
): readonly CompanyFact[] {
  return Object.entries(FACTS).map(([name, { in: operations, firmographics = '', glance = name as GlanceCell }]) => {
    const [first, ...rest] = SOURCES.flatMap((source) =>
      rowsOf(tables, source).flatMap((row) => {
        const value = name === 'address' ? addressOf(row) : row[source === 'companies' ? name : firmographics];
        return value ? [{ value, operation: row.operation ?? null }] : [];
      }),
    );
    const value = first?.value ?? glanceCell(glance);
    const missing = operations.some((operation) => bought.has(operation)) ? 'not_returned' : 'not_bought';
    return {
      name,
      state: value === null ? missing : 'returned',
      value,
      operation: first?.operation ?? null,
      others: rest.filter((other) => other.value !== value),
    };
  });
}

const addressOf = (row: Row): string =>
  [
    row.address_street,
    row.address_location,
    [row.zip_code, row.address_city].filter((part) => part).join(' '),
    row.country_region,
  ]
    .filter((part) => part)
    .join(', ');

export interface FigureTable {
  readonly operation: string;
  /** The statement group of filed accounts. Null: flat financials. */
  readonly group: string | null;
  /** Oldest first. */
  readonly periods: readonly string[];
  /** By period. Null: not returned. */
  readonly currencies: readonly (string | null)[];
  readonly lines: readonly FigureLine[];
}

export interface FigureLine {
  readonly name: string;
  /** Exact texts by period. Null: not returned. */
  readonly values: readonly (string | null)[];
  /** It is among the figures that people look at first. */
  readonly isKey: boolean;
}

const KEY_FIGURES: ReadonlySet<string> = new Set(
  [
    'Turnover',
    'Revenue',
    'Operating-Profit',
    'Operating profit',
    'Profit-after-Tax',
    'Profit after tax',
    'EBITDA',
    'Total-Assets',
    'Total assets',
    'Shareholder-Funds',
    'Net-Assets',
    'Net assets',
    'Employee-Numbers',
  ].map((name) => name.toLowerCase()),
);

export function companyFigures(tables: CompanyTables): readonly FigureTable[] {
  const flat = rowsOf(tables, 'flat_financials').map(({ year, indicator, value }) => ({
    key: 'financial',
    period: year ?? '',
    name: indicator ?? '',
    value: value ?? null,
  }));
  const filed = rowsOf(tables, 'filed_financials').map((row) => ({
    key: `${row.operation ?? ''}\n${row.group_name ?? ''}`,
    period: row.period ?? '',
    name: row.metric ?? '',
    value: row.value ?? null,
  }));
  return [...groupBy([...flat, ...filed], ({ key }) => key)].map(([key, cells]) => {
    const [operation = '', group] = key.split('\n');
    return { operation, group: group ?? null, ...figureTable(cells) };
  });
}

/** `Map.groupBy`, which Node 20 lacks. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [item]);
    else known.push(item);
  }
  return groups;
}

interface Figure {
  readonly period: string;
  readonly name: string;
  readonly value: string | null;
}

const CURRENCY = 'Currency';

function figureTable(cells: readonly Figure[]): Omit<FigureTable, 'operation' | 'group'> {
  const periods = [...new Set(cells.map(({ period }) => period))].sort();
  const byName = groupBy(cells, ({ name }) => name);
  const valuesOf = (of: readonly Figure[]) => {
    const values = new Map(of.map(({ period, value }) => [period, value]));
    return periods.map((period) => values.get(period) ?? null);
  };
  const isKey = (name: string) => KEY_FIGURES.has(name.trim().toLowerCase());
  return {
    periods,
    currencies: valuesOf(byName.get(CURRENCY) ?? []),
    lines: [...byName]
      .filter(([name]) => name !== CURRENCY)
      .map(([name, of]) => ({ name, values: valuesOf(of), isKey: isKey(name) }))
      .sort((a, b) => Number(b.isKey) - Number(a.isKey)),
  };
}

/** As sent, by column. */
const REPORT_COLUMNS = {
  dateCreated: 'date_created',
  fetchedAt: 'fetched_at',
  status: 'status',
  expired: 'expired',
  risk: 'common_value',
  riskWords: 'common_description',
  probabilityOfDefault: 'pod',
  creditLimit: 'credit_limit_value',
  creditLimitCurrency: 'credit_limit_currency',
  turnover: 'turnover',
  ebitda: 'ebitda',
  employees: 'number_of_employees',
  charges: 'charges',
  mortgages: 'mortgages',
  courtJudgements: 'court_judgements',
  rawSha256: 'raw_sha256',
} as const;

type ReportCells = { readonly [Name in keyof typeof REPORT_COLUMNS]: string | null };

export interface CreditReportView extends ReportCells {
  readonly id: string;
  readonly remarks: readonly { readonly kind: string; readonly text: string }[];
}

/** Newest first. */
export function creditReports(tables: CompanyTables): readonly CreditReportView[] {
  const remarks = rowsOf(tables, 'credit_report_remarks');
  const reports = rowsOf(tables, 'credit_reports').map((row) => ({
    id: row.credit_report_id ?? '',
    ...(Object.fromEntries(
      Object.entries(REPORT_COLUMNS).map(([name, column]) => [name, row[column] ?? null]),
    ) as ReportCells),
    remarks: remarks.flatMap(({ credit_report_id, kind, text }) =>
      credit_report_id === row.credit_report_id && text ? [{ kind: kind ?? '', text }] : [],
    ),
  }));
  const timeOf = ({ dateCreated, fetchedAt }: CreditReportView) => dateCreated ?? fetchedAt ?? '';
  return reports.sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
}

export const companyGraph = (subject: GraphParty, tables: CompanyTables, limits: GraphLimits): OwnershipGraph =>
  ownershipGraph(
    {
      subject,
      holdings: rowsOf(tables, 'shareholders').map(({ name, percentage, status, operation }) => ({
        name: name ?? null,
        percentage: percentage ?? null,
        status: status ?? null,
        operation: operation ?? '',
      })),
      links: rowsOf(tables, 'group_links').map((row) => groupLinkOf(row, subject.ids)),
    },
    limits,
  );
