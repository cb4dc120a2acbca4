import type { Unfit } from '../api/answer.js';
import { bodySaysNothing } from '../util/says-nothing.js';

/**
 * What was fetched as a report: `page`, HTML, as it stands or wrapped in a text: a report that was generated so, or a page
 * of maintenance; `empty`, an object in which nothing was returned; `other`, what no report is.
 */
export type ReportBody = 'report' | 'page' | 'empty' | 'other';

export function kindOfReport(body: Buffer): ReportBody {
  const first = firstLetter(body);
  if (first === '<' || first === '"') return 'page';
  if (first !== '{') return 'other';
  return bodySaysNothing(body) ? 'empty' : 'report';
}

const firstLetter = (body: Buffer): string | undefined =>
  body
    .toString('utf8', 0, 64)
    .replace(/^\ufeff/, '')
    .trimStart()[0];

export const REPORT_IN_HTML = 'REPORT_IN_HTML';

/**
 * Reports are asked for as JSON (V2-21), so a page is not what was asked for, whatever it shows: where every report comes so
 * it is the provider's trouble, and nothing is the matter with any company.
 */
export function whyNoReport(body: Buffer): Unfit | undefined {
  const kind = kindOfReport(body);
  if (kind === 'page') return { code: REPORT_IN_HTML, message: 'a page of HTML came where JSON was asked for' };
  return kind === 'other' ? { code: 'UNEXPECTED_BODY', message: 'expected an object' } : undefined;
}
