// Headers of sample files, and protection of other files.

import { closeSync, openSync, readSync, statSync } from 'node:fs';

export const inputColumns = ['id', 'name', 'country', 'registration_number', 'vat_number', 'city', 'segment'];
/** Headers as people write them in a spreadsheet. */
export const excelHeaders = ['Id', 'Company Name', 'Country', 'Reg. No.', 'VAT No.', 'City', 'Segment'];
export const answerColumns = [
  'id',
  'damage',
  'expected',
  'reason',
  'v1_company_id',
  'v2_company_id',
  'registration_number',
];

export const answersBeside = (out: string): string => `${out.replace(/\.(?:csv|xlsx)$/i, '')}.answers.csv`;

/**
 * The first file that a new sample would overwrite and that is not a sample. Rows without their answers may be a user's
 * own list.
 */
export function foreignFile(out: string): string | undefined {
  const answers = answersBeside(out);
  const hasAnswers = isThere(answers);
  if (hasAnswers && !beginsWith(answers, [answerColumns.join(',')])) return answers;
  const headers = [inputColumns.join(','), excelHeaders.join(';')];
  return isThere(out) && !(hasAnswers && beginsWith(out, headers)) ? out : undefined;
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** The first line is one of these headers, and the first row has the first ID of a sample. */
function beginsWith(path: string, headers: readonly string[]): boolean {
  const start = Buffer.alloc(1024);
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const length = readSync(file, start, 0, start.length, 0);
    const [header = '', row = ''] = start
      .subarray(0, length)
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .split(/\r?\n/);
    return headers.includes(header) && /^C-000001[,;]/.test(row);
  } catch {
    // A file that cannot be read is not a sample.
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
