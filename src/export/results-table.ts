import { type Column, column, companyKeyColumn, ownColumn, type Row, type Table, table } from '../readers/table.js';

/** For people: the input as it was, with the outcome beside each row. */
export const resultsTable = table({
  name: 'results',
  furtherBefore: 'outcome',
  onePer: 'input line, for people',
  description:
    'Your own columns under their own names, and the results in plain words. It is also the sheet Results of `results.xlsx`. If your list has a column of the same name, the new column is called `outcome_2` and so on.',
  source: 'ledger, and what was bought',
  key: ['row'],
  keyAlwaysThere: true,
  columns: [
    column('outcome', 'text', 'complete, no_match, needs_review, invalid, failed or pending'),
    column('reason', 'text', 'The same in a sentence: what was confirmed by what, or what is missing'),
    column('matched_name', 'text', 'Name of the confirmed company, from its record, else from the search'),
    column('matched_registration_number', 'text', 'Its registration number. Leading zeros are kept'),
    column('matched_country', 'text', 'Its country, as ISO alpha-2 code'),
    column(
      'company_status',
      'text',
      'Its status as the registry reports it, in the provider’s words, else from the sources of the legal form',
    ),
    column('duplicate_of', 'integer', 'Number of the first row with the same company. Empty for that row'),
    column('match_grade', 'text', 'See rows.match_grade'),
    column('legal_form', 'text', 'Legal form as the registry reports it, else the companies module'),
    column('incorporation_date', 'date', 'Date of incorporation, from the sources of the legal form'),
    column(
      'turnover',
      'scalar',
      'Turnover of the newest year in the flat financials, else in the filed accounts, as sent. The reason names filed accounts, also if theirs are newer. Never that of the credit report, which is in credit_reports. Empty if none was returned, or if the newest period has different values',
    ),
    column('turnover_year', 'text', 'The year of the turnover'),
    column('turnover_currency', 'text', 'Its currency, from the flat financials. Filed accounts have none'),
    column('credit_risk', 'scalar', 'Grade of the credit report, as sent'),
    column('credit_risk_words', 'text', 'The words of the report about the risk'),
    column('credit_limit', 'scalar', 'Credit limit, as sent'),
    column('credit_limit_currency', 'text', 'Its currency'),
    column(
      'register',
      'text',
      'The register that it is in, as sent: the jurisdiction of the record, else that of the search, else the state',
    ),
    column(
      'checked_at',
      'timestamp',
      'The date to quote: when the record was bought, else the credit report, else when the row was decided',
    ),
    column('vat_number', 'text', 'VAT, tax or EIN number, from the record'),
    column(
      'address',
      'text',
      'Registered address in one line from `liteKyb` or `kybLite`, else zip code and city of the companies module. `fullKyb` has none, and no field of a credit report is documented as one',
    ),
    column('website', 'text', 'Website, from the sources of the address in the same order'),
    column('industry', 'text', 'Industries in words, from the companies module'),
    column(
      'headcount',
      'scalar',
      'Headcount band of the companies module, else the number in the credit report, as sent',
    ),
    column('officers_returned', 'integer', 'Returned officers. Empty: no list was returned. 0: the list was empty'),
    column('shareholders_returned', 'integer', 'Returned direct shareholders, empty or 0 as with officers'),
    column(
      'screening_hits',
      'integer',
      'Appointments and holdings at other companies under the names of its people. They may be other people. Empty if no search was answered',
    ),
    column('last_change', 'date', 'Day of the newest recorded change of the company. Empty if there is none'),
    column(
      'changed_since_last_time',
      'text',
      'What changed since the run before: important fields, then the number of others. Empty if no change was recorded. It says if new answers are not compared yet',
    ),
    column('row', 'integer', 'Number of the data line, 1 for the first'),
    column('line', 'integer', 'Line of the file that it begins on'),
    companyKeyColumn,
    column('v1_company_id', 'id', 'The confirmed company in v1’s ID space'),
    column('v2_company_id', 'id', 'The confirmed company in v2’s ID space'),
    column('credit_source_id', 'id', 'The company in the ID space of credit reports'),
    column('credit_report_id', 'id', 'The credit report'),
    ownColumn('extra', 'json', 'See rows.extra'),
  ],
});

export type ResultColumn = (typeof resultsTable)['columns'][number]['name'];

/** The kinds of the input's cells in a workbook. A symbol, because it is no column. */
export const OWN_KINDS = Symbol('kinds of the input’s cells');

export type ResultRow = Row & { readonly [OWN_KINDS]?: string | null };

export interface ResultsShape {
  readonly table: Table;
  readonly inputs: readonly Column[];
  readonly names: Readonly<Record<ResultColumn, string>>;
}

/** The input's columns keep their names. If one of ours has the same name, ours is renamed. */
export function resultsFor(headers: readonly string[]): ResultsShape {
  // A member of this name would not be a cell of its row.
  const taken = new Set(['__proto__']);
  const inputs = headers.map((header, index) => {
    const name = freeName(header.trim() === '' ? `column_${index + 1}` : header, taken);
    return ownColumn(name, 'text', `The input’s column ${JSON.stringify(header)}, as written`, 'the input');
  });
  const columns = resultsTable.columns.map((own) => ({ ...own, name: freeName(own.name, taken) }));
  const names = Object.fromEntries(
    resultsTable.columns.map(({ name }, index) => [name, columns[index]?.name ?? name]),
  ) as Record<ResultColumn, string>;
  const renamed = { ...resultsTable, columns, key: [names.row], furtherBefore: names.outcome };
  return { table: renamed, inputs, names };
}

/** Names that differ only in case would be one column in a database. */
export function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let copy = 2; taken.has(name.toLowerCase()); copy++) name = `${wanted}_${copy}`;
  taken.add(name.toLowerCase());
  return name;
}
