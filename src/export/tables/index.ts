import type { Table } from '../table.js';
import { companies, groupLinks, officers, shareholders, sources } from './companies.js';
import { creditReportRemarks, creditReports, filedFinancials, flatFinancials } from './figures.js';
import { calls, candidates, errors, rows } from './run.js';

/** Every table of an export. Its name is the name of its file. */
export const tables = {
  rows,
  companies,
  officers,
  shareholders,
  group_links: groupLinks,
  filed_financials: filedFinancials,
  flat_financials: flatFinancials,
  credit_reports: creditReports,
  credit_report_remarks: creditReportRemarks,
  candidates,
  calls,
  errors,
  sources,
} as const satisfies Record<string, Table>;

export type Tables = typeof tables;
export type TableName = keyof Tables;
export const tableNames = Object.keys(tables) as readonly TableName[];
