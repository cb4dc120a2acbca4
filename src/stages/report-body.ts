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
