import { isAscii } from 'node:buffer';
import { type ExactJson, isObject } from '../util/exact-json.js';
import { flatTurnover, isYear } from './parts/glance.js';
import { openUnfiltered } from './parts/open-answer.js';
import { readValue } from './parts/read-fields.js';
import type { RawAnswer, Reader, ReaderOutput, SubjectAnswers } from './reader.js';
import {
  type Cell,
  column,
  companyKeyColumn,
  emptyExtra,
  extraColumn,
  joinCells,
  operationColumn,
  type RowOf,
  rawSha256,
  table,
  valueColumn,
  valueType,
} from './table.js';

export const flatFinancialsTable = table({
  name: 'flat_financials',
  onePer: 'value',
  description:
    'Flat financials: one value for each year and indicator. The indicators are an open set of more than 250. `errors` lists other entries, years without values, and names that are no year.',
  source: 'v2 financial',
  key: ['v2_company_id', 'year', 'indicator'],
  keyAlwaysThere: true,
  knownBy: { columns: [['year', 'indicator']], news: 'year' },
  columns: [
    column('v2_company_id', 'id', 'The company, in v2’s ID space', 'the request'),
    column('year', 'text', 'Reporting year, as sent', 'key of the answer'),
    column('indicator', 'text', 'Name of the indicator', 'key of the year'),
    valueColumn,
    valueType,
    emptyExtra,
  ],
});

/** The indicators that the provider's document names. Others are in `extra`. `Currency` has a column before them. */
const INDICATORS = `
  Reported-Date Reporting-period Consolidated-Accounts Company-Accounts-Status Employee-Numbers
  Turnover World-Turnover Cost-of-Sales Gross-Profit Operating-Profit Pre-Tax-Profit Profit-after-Tax Retained-Profit
  Taxation EBITDA
  Total-Assets Total-Liabilities Net-Assets Total-Current-Assets Total-Fixed-Assets Tangible-Assets Intangible-Assets
  Goodwill Stocks-And-Work-in-Progress Trade-Debtors Trade-Creditors Working-Capital Cash
  Bank-Loan Bank-Overdraft Borrowings-due-within-one-year Borrowings-due-after-one-year Total-Long-Term-Loans
  Hire-Purchase-Commitments Lease-Commitments Subordinated-Liabilities
  Share-Capital Share-Premium Equity-Paid-Up Revaluation-Reserve Sundry-Reserves P-And-L-Account-Reserve
  Shareholder-Funds Capital-Employed Net-Worth
  Net-Cash-Flow-from-Operations Net-Cash-Flow-from-Financing Net-Cash-Flow-before-Financing Increase-In-Cash
  Net-Change-In-Cash Net-Tax-Paid
  Current-Ratio Liquidity-Ratio Gross-Margin Net-Margin EBITDA-Margin Operating-Profit-Margin Return-On-Assets
  Return-On-Equity Return-On-Capital-Employed Interest-Coverage-Ratio Debt-To-Capital Inventory-Turnover-Ratio
  Days-Sales-Outstanding Days-Payable-Outstanding Days-Inventory-Outstanding Cash-Conversion-Cycle
  Revenue-Per-Employee Human-Capital-Value-Added
  Turnover-Yoy Profit-after-Tax-Yoy EBITDA-Yoy Total-Liabilities-Yoy Employee-Numbers-Yoy Exports-Yoy
  Loans-and-advances-to-banks Loans-and-advances-to-customers Customer-accounts Deposits-by-banks Net-Interest-Income
  Fees-and-Commission-Expense Gross-Written-Premiums Net-Premiums-Earned Technical-Provisions Reinsurance-Liabilities
  Wages-And-Salaries Employee-Remuneration Directors-Remuneration Pensions Audit-Fees Auditor-Fees`
  .trim()
  .split(/\s+/);

/** Not amounts. */
const TEXTS: ReadonlySet<string> = new Set([
  'Reported-Date',
  'Reporting-period',
  'Consolidated-Accounts',
  'Company-Accounts-Status',
]);

/** `Profit-after-Tax` → `profit_after_tax` */
const columnOf = (indicator: string): string => indicator.toLowerCase().replaceAll('-', '_');

const COLUMN_OF: ReadonlyMap<string, string> = new Map(
  ['Currency', ...INDICATORS].map((indicator) => [indicator, columnOf(indicator)]),
);

export const financialYearsTable = table({
  name: 'financial_years',
  onePer: 'company and year',
  description:
    'Flat financials with the documented indicators as columns, as sent. The other indicators are in `extra`. Parquet adds `_decimal` to each number if it is exact, and `_double`, which may be rounded.',
  source: 'v2 financial',
  key: ['v2_company_id', 'year'],
  keyAlwaysThere: true,
  columns: [
    companyKeyColumn,
    column('year', 'text', 'Reporting year, as sent', 'key of the answer'),
    column('currency', 'text', 'Currency of the amounts', 'Currency'),
    ...INDICATORS.map((name) =>
      TEXTS.has(name)
        ? column(columnOf(name), 'text', `${name}, as sent`, name)
        : { ...column(columnOf(name), 'scalar', `${name}, as sent`, name), double: true as const },
    ),
    operationColumn,
    column('v2_company_id', 'id', 'The company, in v2’s ID space', 'the request'),
    rawSha256,
    extraColumn,
  ],
});

/** Companies have the same few hundred indicators. */
const memberNames = new Map<string | null, string>();

function memberName(indicator: string | null): string {
  const known = memberNames.get(indicator);
  if (known !== undefined) return known;
  const name = JSON.stringify(indicator);
  if (memberNames.size < 10_000) memberNames.set(indicator, name);
  return name;
}

/** One row for each year, from the values of an answer. */
function addYears(
  values: readonly RowOf<typeof flatFinancialsTable>[],
  { id, companyKey = null }: Pick<SubjectAnswers, 'id' | 'companyKey'>,
  { operation, rawSha256 }: RawAnswer,
  out: ReaderOutput,
  mayShowAll: boolean | undefined,
): void {
  const years = new Map<string, { readonly cells: Record<string, Cell>; readonly rest: string[] }>();
  for (const { year, indicator, value, value_type } of values) {
    const known = years.get(year ?? '') ?? { cells: {}, rest: [] };
    years.set(year ?? '', known);
    const name = COLUMN_OF.get(indicator ?? '');
    if (name !== undefined) known.cells[name] = value;
    else known.rest.push(`${memberName(indicator)}:${value_type === 'string' ? JSON.stringify(value) : value}`);
  }
  for (const [year, { cells, rest }] of years)
    out.add(
      financialYearsTable,
      joinCells(cells as RowOf<typeof financialYearsTable>, {
        company_key: companyKey,
        year,
        operation,
        v2_company_id: id,
        raw_sha256: rawSha256,
        extra: rest.length === 0 ? null : `{${rest.join()}}`,
      }),
      mayShowAll,
    );
}

/** Figures by year and indicator. They contain no people. */
export const flatFinancialsReader = {
  name: 'flat-financials',
  space: 'v2',
  operations: ['financial'],
  tables: [flatFinancialsTable, financialYearsTable],
  apart: { financial: [] },
  bulk: true,
  glance: (out) => flatTurnover(out.shownOf(flatFinancialsTable)),
  read(subject, out) {
    const { id } = subject;
    for (const answer of subject.answers) {
      const before = out.rowsOf(flatFinancialsTable).length;
      const rows = scanFlat(answer.body, id, subject.companyKey);
      const mayShowAll = rows && out.mayShow(`${id} ${answer.body}`);
      if (rows === undefined) readParsed(answer, id, out);
      else out.addAll(flatFinancialsTable, rows, mayShowAll);
      addYears(out.rowsOf(flatFinancialsTable).slice(before), subject, answer, out, mayShowAll);
    }
    // An answer without any value says nothing (V2-2).
    if (out.rowsOf(flatFinancialsTable).length > 0) out.noteCame(flatFinancialsTable);
  },
} as const satisfies Reader;

/** Reads an object keyed by year, sorted by year and indicator. `{}` says nothing (V2-2). */
export function readParsed(answer: RawAnswer, id: string, out: ReaderOutput): void {
  const opened = openUnfiltered(answer, out);
  if (opened === undefined) return;
  const years = opened.body;
  if (!isObject(years)) {
    opened.path.left('an object of years', years);
    return;
  }
  for (const year of Object.keys(years).sort()) {
    const at = opened.path.at(year);
    const indicators = years[year] as ExactJson;
    if (!isYear(year)) {
      at.left('a year of four digits', indicators);
      continue;
    }
    // A year without a value has no row, so only this issue shows that it came.
    if (!isObject(indicators) || Object.keys(indicators).length === 0) {
      at.left('an object of indicators', indicators);
      continue;
    }
    for (const indicator of Object.keys(indicators).sort()) {
      const read = readValue(indicators[indicator] as ExactJson, () => at.at(indicator));
      if (read === undefined) continue;
      const { value, value_type } = read;
      out.add(flatFinancialsTable, { v2_company_id: id, year, indicator, value, value_type, extra: null });
    }
  }
}

interface FlatRow {
  readonly v2_company_id: string;
  readonly year: string;
  readonly indicator: string;
  readonly value: Cell;
  readonly value_type: string;
  readonly extra: null;
  readonly company_key: Cell | undefined;
}

/**
 * Reads flat financials from the bytes without building objects. These figures are most of an export, and this takes
 * less than half of the time (docs/developers/performance.md, "Export"). It only reads the plain form: real years of scalars, none
 * empty, no line breaks, no name twice. For any other form it returns undefined, and the parser reads it with the same
 * result or an issue.
 */
export function scanFlat(bytes: Buffer, companyId: string, companyKey?: Cell): FlatRow[] | undefined {
  const text = isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
  if (CONTROL.test(text) || text.charCodeAt(0) !== OPEN) return undefined;
  const years: Year[] = [];
  let at = skipBlank(text, 1);
  if (text.charCodeAt(at) === CLOSE) return at + 1 === text.length ? [] : undefined;
  for (;;) {
    const year = readYear(text, at);
    if (year === undefined) return undefined;
    years.push(year);
    at = skipBlank(text, year.end);
    const next = text.charCodeAt(at);
    if (next === CLOSE) break;
    if (next !== COMMA) return undefined;
    at = skipBlank(text, at + 1);
  }
  return at + 1 === text.length ? toRows(years, companyId, companyKey) : undefined;
}

interface Year {
  readonly name: string;
  readonly names: readonly string[];
  readonly values: readonly Cell[];
  readonly types: readonly string[];
  readonly end: number;
}

/** Years mostly have the names of the year before, in its order. The same strings are compared and looked up faster. */
let usualNames: readonly string[] = [];

const isQuoted = (text: string, start: number, length: number): boolean =>
  text.charCodeAt(start) === QUOTE && text.charCodeAt(start + length + 1) === QUOTE;

function readYear(text: string, start: number): Year | undefined {
  const nameEnd = endOfString(text, start);
  const name = nameEnd === -1 ? undefined : stringAt(text, start, nameEnd);
  let at = skipBlank(text, nameEnd);
  if (name === undefined || text.charCodeAt(at) !== COLON) return undefined;
  at = skipBlank(text, at + 1);
  if (text.charCodeAt(at) !== OPEN) return undefined;
  const names: string[] = [];
  const values: Cell[] = [];
  const types: string[] = [];
  at = skipBlank(text, at + 1);
  for (;;) {
    const usual = usualNames[names.length];
    const isUsual = usual !== undefined && text.startsWith(usual, at + 1) && isQuoted(text, at, usual.length);
    const keyEnd = isUsual ? at + usual.length + 2 : endOfString(text, at);
    const key = isUsual ? usual : keyEnd === -1 ? undefined : stringAt(text, at, keyEnd);
    at = skipBlank(text, keyEnd);
    if (key === undefined || text.charCodeAt(at) !== COLON) return undefined;
    at = skipBlank(text, at + 1);
    const first = text.charCodeAt(at);
    let end: number;
    if (first === QUOTE) {
      end = endOfString(text, at);
      const value = end === -1 ? undefined : stringAt(text, at, end);
      if (value === undefined) return undefined;
      values.push(value);
      types.push('string');
    } else if (first === MINUS || isDigit(first)) {
      end = endOfNumber(text, at);
      if (end === -1) return undefined;
      values.push(text.slice(at, end));
      types.push('number');
    } else if (text.startsWith('null', at)) {
      end = at + 4;
      values.push(null);
      types.push('null');
    } else {
      return undefined;
    }
    names.push(key);
    at = skipBlank(text, end);
    const next = text.charCodeAt(at);
    if (next === CLOSE) {
      usualNames = names;
      return { name, names, values, types, end: at + 1 };
    }
    if (next !== COMMA) return undefined;
    at = skipBlank(text, at + 1);
  }
}

/** In key order. Undefined if a name occurs twice, because the parser decides which value counts. */
function toRows(years: Year[], companyId: string, companyKey: Cell | undefined): FlatRow[] | undefined {
  const rows: FlatRow[] = [];
  years.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const [index, year] of years.entries()) {
    const { name, names, values, types } = year;
    if (name === years[index + 1]?.name || !isYear(name)) return undefined;
    const order = sameNames(lastOrder.names, names) ? lastOrder.order : orderOf(names);
    if (order === undefined) return undefined;
    lastOrder = { names, order };
    for (const place of order)
      rows.push({
        v2_company_id: companyId,
        year: name,
        indicator: names[place] as string,
        value: values[place] as Cell,
        value_type: types[place] as string,
        extra: null,
        // Here, because a member that is added later needs memory of its own.
        company_key: companyKey,
      });
  }
  return rows;
}

let lastOrder: { readonly names: readonly string[]; readonly order: readonly number[] } = { names: [], order: [] };

const sameNames = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((name, index) => name === b[index]);

function orderOf(names: readonly string[]): readonly number[] | undefined {
  const order = names.map((_, index) => index);
  order.sort((a, b) => ((names[a] as string) < (names[b] as string) ? -1 : 1));
  const twice = order.some((place, index) => index > 0 && names[place] === names[order[index - 1] as number]);
  return twice ? undefined : order;
}

/** The position after the closing quote; -1 if there is no complete string here. */
function endOfString(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) return -1;
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
  return -1;
}

/** The text between the quotes. Undefined if it has escapes. */
function stringAt(text: string, start: number, end: number): string | undefined {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? undefined : inner;
}

/** The position after the number; -1 if it is not a JSON number. */
function endOfNumber(text: string, start: number): number {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
  const whole = at;
  while (isDigit(text.charCodeAt(at))) at++;
  if (at === whole || (at > whole + 1 && text.charCodeAt(whole) === ZERO)) return -1;
  if (text.charCodeAt(at) === POINT) {
    const fraction = ++at;
    while (isDigit(text.charCodeAt(at))) at++;
    if (at === fraction) return -1;
  }
  const e = text.charCodeAt(at);
  // Exponents are rare and left to the parser.
  return e === 0x65 || e === 0x45 ? -1 : at;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 0x20) at++;
  return at;
}

const CONTROL = /\p{Cc}/u;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const isDigit = (code: number) => code >= ZERO && code <= 0x39;
