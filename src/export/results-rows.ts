// A line of the table `results`: the row as written, and what was found.

import type { SnapshotRow } from '../ledger/answers/snapshot.js';
import type { GlanceCell } from '../readers/reader.js';
import { type Cell, timestamp } from '../readers/table.js';
import { listed } from '../util/words.js';
import type { CompanyFacts } from './company-at-a-glance.js';
import { reasonFacts, reasonOf } from './reasons.js';
import { OWN_KINDS, type ResultColumn, type ResultRow, type ResultsShape, resultsTable } from './results-table.js';
import { surplusOf } from './run-rows.js';

export function resultRow(row: SnapshotRow, company: CompanyFacts, { inputs, names }: ResultsShape): ResultRow {
  // The other columns are facts of the company.
  const cells: Readonly<
    Record<Exclude<ResultColumn, GlanceCell> | 'incorporation_date' | 'register', Cell> & Partial<Record<string, Cell>>
  > = {
    outcome: row.outcome,
    reason: reasonOf(reasonFacts(row, company)),
    matched_name: company.name,
    matched_registration_number: company.registrationNumber,
    matched_country: company.country,
    company_status: company.status,
    duplicate_of: row.firstRow === null ? null : String(row.firstRow),
    match_grade: company.grade,
    register: company.register,
    incorporation_date: dayOf(company.cell('incorporation_date')),
    checked_at: company.cell('fetched_at') ?? decidedAt(row),
    changed_since_last_time: listed([company.cell('changed_since'), company.cell('not_compared')], '; ') || null,
    row: String(row.row),
    line: String(row.line),
    company_key: row.companyKey,
    v1_company_id: row.ids.v1 ?? null,
    v2_company_id: row.ids.v2 ?? null,
    credit_source_id: row.ids.credit ?? null,
    credit_report_id: row.ids.report ?? null,
    extra: surplusOf(row.values.slice(inputs.length)),
  };
  // Cells are set one by one in a fixed order: objects built in other ways take several times as long.
  const line: Record<string, Cell> & { [OWN_KINDS]?: string | null } = {};
  for (let i = 0; i < inputs.length; i++) {
    const input = inputs[i];
    // An empty cell of the input is null, not an empty text.
    if (input !== undefined) line[input.name] = row.values[i] || null;
  }
  for (const { name } of resultsTable.columns) {
    const cell = cells[name];
    line[names[name]] = cell === undefined ? company.cell(name as GlanceCell) : cell;
  }
  line[OWN_KINDS] = row.kinds;
  return line;
}

/** The format of founding dates in the companies module is not published. */
const dayOf = (text: Cell): Cell => (text !== null && /^\d{4}-\d\d-\d\d$/.test(text) ? text : null);

/** Invalid rows were never decided, and pending rows are not decided yet. */
const decidedAt = ({ outcome, updatedAt }: SnapshotRow): Cell =>
  outcome === 'invalid' || outcome === 'pending' || updatedAt === null ? null : timestamp(updatedAt);
