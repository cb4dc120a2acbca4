import type { SnapshotRow } from '../ledger/snapshot.js';
import { type Cell, timestamp } from '../readers/table.js';
import type { CompanyAtAGlance } from './company-at-a-glance.js';
import { reasonFacts, reasonOf } from './reasons.js';
import { OWN_KINDS, type ResultColumn, type ResultRow, type ResultsShape, resultsTable } from './results-table.js';
import { surplusOf } from './run-rows.js';

export function resultRow(row: SnapshotRow, company: CompanyAtAGlance, { inputs, names }: ResultsShape): ResultRow {
  const cells: Readonly<Record<ResultColumn, Cell>> = {
    outcome: row.outcome,
    reason: reasonOf(reasonFacts(row, company)),
    matched_name: company.name,
    matched_registration_number: company.registrationNumber,
    matched_country: company.country,
    company_status: company.status,
    duplicate_of: row.firstRow === null ? null : String(row.firstRow),
    match_grade: company.grade,
    register: company.register,
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
    extra: surplusOf(row.values.slice(inputs.length)),
  };
  // Cell by cell, in the same order each time: objects that are put together otherwise take several times as long.
  const line: Record<string, Cell> & { [OWN_KINDS]?: string | null } = {};
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i];
    // An empty cell of the input is an empty field, not an empty text.
    if (input !== undefined) line[input.name] = row.values[i] || null;
  }
  for (const { name } of resultsTable.columns) line[names[name]] = cells[name];
  line[OWN_KINDS] = row.kinds;
  return line;
}

/** The form of the companies module's founding dates is not documented. */
const dayOf = (text: Cell): Cell => (text !== null && /^\d{4}-\d\d-\d\d$/.test(text) ? text : null);

/** Nothing was asked about a line that cannot be asked about, and one on its way is not decided yet. */
const decidedAt = ({ outcome, updatedAt }: SnapshotRow): Cell =>
  outcome === 'invalid' || outcome === 'pending' || updatedAt === null ? null : timestamp(updatedAt);
