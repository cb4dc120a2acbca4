import type { SnapshotRow } from '../ledger/reading.js';
import type { Glance, GlanceCell } from '../readers/glance.js';
import { type Cell, type Row, timestamp } from '../readers/table.js';
import { reasonFacts, reasonOf } from './reasons.js';
import { type ResultColumn, type ResultsShape, resultsTable } from './results-table.js';

/** What is known of a line's company, from whoever says it first: its record, v2's, the companies module, its report. */
export interface CompanyAtAGlance {
  /** Null where nobody says it. */
  readonly cell: (cell: GlanceCell) => Cell;
  readonly name: Cell;
  readonly registrationNumber: Cell;
  readonly country: Cell;
  readonly status: Cell;
}

/** Whose word counts first for a company, and for its figures. */
const TELLING = ['record', 'registry', 'firmographics', 'flat-financials', 'credit-report'] as const;
const FIGURES = ['flat-financials', 'record', 'registry'] as const;

export function companyAtAGlance({ glances, confirmed }: SnapshotRow): CompanyAtAGlance {
  const of = (readers: readonly string[]): readonly Glance[] =>
    readers.flatMap((reader) => {
      const said = glances[reader];
      return said === undefined ? [] : [JSON.parse(said) as Glance];
    });
  const telling = of(TELLING);
  // Value, year and currency belong together: they come from one of them.
  const figures = of(FIGURES).find(({ turnover }) => turnover !== undefined) ?? {};
  const cell = (wanted: GlanceCell): Cell =>
    (wanted.startsWith('turnover') ? figures[wanted] : telling.find((one) => one[wanted] !== undefined)?.[wanted]) ??
    null;
  return {
    cell,
    name: cell('name') ?? confirmed?.name ?? null,
    registrationNumber: cell('registration_number') ?? confirmed?.registrationNumber ?? null,
    country: cell('country_code') ?? confirmed?.countryCode ?? null,
    status: cell('status'),
  };
}

export function resultRow(row: SnapshotRow, company: CompanyAtAGlance, { inputs, names }: ResultsShape): Row {
  const cells: Readonly<Record<ResultColumn, Cell>> = {
    outcome: row.outcome,
    reason: reasonOf(reasonFacts(row)),
    matched_name: company.name,
    matched_registration_number: company.registrationNumber,
    matched_country: company.country,
    company_status: company.status,
    duplicate_of: row.firstRow === null ? null : String(row.firstRow),
    match_grade: row.matchGrade,
    legal_form: company.cell('legal_form'),
    incorporation_date: dayOf(company.cell('incorporation_date')),
    turnover: company.cell('turnover'),
    turnover_year: company.cell('turnover_year'),
    turnover_currency: company.cell('turnover_currency'),
    credit_risk: company.cell('credit_risk'),
    credit_risk_words: company.cell('credit_risk_words'),
    credit_limit: company.cell('credit_limit'),
    credit_limit_currency: company.cell('credit_limit_currency'),
    checked_at: company.cell('fetched_at') ?? decidedAt(row),
    row: String(row.row),
    line: String(row.line),
    v1_company_id: row.ids.v1 ?? null,
    v2_company_id: row.ids.v2 ?? null,
    credit_source_id: row.ids.credit ?? null,
    credit_report_id: row.ids.report ?? null,
    extra: null,
  };
  // Cell by cell, in the same order each time: objects that are put together otherwise take several times as long.
  const line: Record<string, Cell> = {};
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i];
    // An empty cell of the input is an empty field, not an empty text.
    if (input !== undefined) line[input.name] = row.values[i] || null;
  }
  for (const { name } of resultsTable.columns) line[names[name]] = cells[name];
  return line;
}

/** The form of the companies module's founding dates is not documented. */
const dayOf = (text: Cell): Cell => (text !== null && /^\d{4}-\d\d-\d\d$/.test(text) ? text : null);

/** Nothing was asked about a line that cannot be asked about, and one on its way is not decided yet. */
const decidedAt = ({ outcome, updatedAt }: SnapshotRow): Cell =>
  outcome === 'invalid' || outcome === 'pending' || updatedAt === null ? null : timestamp(updatedAt);
