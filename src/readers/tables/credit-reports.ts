import { column, table } from '../table.js';
import { extra, rawSha256 } from './columns.js';

/** The generated record and the history's item. */
export const reportRecordFields = [
  column('name', 'text', 'Name of the company', 'creditReportGenerate or creditReportHistory'),
  column('registration_number', 'text', 'Its number; the history does not carry it', 'creditReportGenerate'),
  column('status', 'text', 'As last known: `finish` once the report could be fetched', 'the record, the fetch'),
  column('expired', 'boolean', 'As last said; what it means is policy', 'creditReportGenerate or creditReportHistory'),
  column('date_created', 'text', 'When it was generated, as sent', 'creditReportGenerate or creditReportHistory'),
] as const;

export const reportSummaryFields = [
  column('turnover', 'scalar', 'Turnover', '/summary'),
  column('ebitda', 'scalar', 'EBITDA', '/summary'),
  column('age_of_business', 'scalar', 'Age of the business', '/summary'),
  column('number_of_employees', 'scalar', 'Number of employees; comes as text', '/summary'),
  column('charges', 'scalar', 'Charges', '/summary'),
  column('mortgages', 'scalar', 'Mortgages', '/summary'),
  column('court_judgements', 'scalar', 'Court judgements', '/summary'),
] as const;

export const creditReportsTable = table({
  name: 'credit_reports',
  onePer: 'report',
  description:
    'Credit reports: the record, and the summary of the body. The other sections are kept as sent in `extra`.',
  source: 'v2 creditReportGenerate, creditReportHistory, creditReportFetch',
  key: ['credit_report_id'],
  keyAlwaysThere: true,
  knownBy: {
    columns: [['credit_source_id']],
    single: true,
    // What is said about the report, here or in the history, and not by it about the company.
    besides: ['name', 'registration_number', 'status', 'expired', 'date_created', 'recorded_status', 'format'],
  },
  columns: [
    column('credit_report_id', 'id', 'The report', 'the request'),
    column('credit_source_id', 'id', 'The company in the ID space of reports', 'source_id of the record'),
    ...reportRecordFields,
    ...reportSummaryFields,
    column('pod', 'number', 'Probability of default', '/summary/overall_credit_risk/pod'),
    column('common_value', 'scalar', 'Grade', '/summary/overall_credit_risk/commonValue'),
    column('common_description', 'text', 'Grade in words', '/summary/overall_credit_risk/commonDescription'),
    column(
      'credit_limit_value',
      'scalar',
      'Credit limit; comes as text',
      '/summary/overall_credit_risk/creditLimit/value',
    ),
    column('credit_limit_currency', 'text', 'Its currency', '/summary/overall_credit_risk/creditLimit/currency'),
    rawSha256,
    column('fetched_at', 'timestamp', 'When the body was fetched', 'the call'),
    column('format', 'text', 'json or html; empty: no body was fetched', 'the body'),
    column('recorded_status', 'text', 'The status in the record itself', 'creditReportGenerate or creditReportHistory'),
    extra,
  ],
});

export const creditReportRemarksTable = table({
  name: 'credit_report_remarks',
  onePer: 'remark',
  description: 'Remarks of the summary: what speaks for the company, and cautions.',
  source: 'v2 creditReportFetch /summary',
  key: ['credit_report_id', 'kind', 'position'],
  keyAlwaysThere: true,
  knownBy: { columns: [['kind', 'text']], besides: ['credit_report_id'] },
  columns: [
    column('credit_report_id', 'id', 'The report', 'the request'),
    column('kind', 'text', 'positive or caution', 'what_we_like_about_this_company; cautions'),
    column('position', 'integer', 'Place in the list, from 1', 'order of the list'),
    column('text', 'text', 'The remark', 'the item'),
    column('extra', 'json', 'The item as it was sent, where it is no text', 'the item'),
  ],
});
