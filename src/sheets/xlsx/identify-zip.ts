import { UsageError } from '../../domain/errors.js';
import type { ZipParts } from './zip-parts.js';

export const isZip = (head: Buffer): boolean => head.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'));

const SAVE_AS_XLSX = 'Open it in the program it came from and save the table as .xlsx or CSV.';

/** Many programs save zip archives. The names of the parts show which program it was. */
export function refuseOtherZips(parts: ZipParts): void {
  const has = (pattern: RegExp) => [...parts.entries.keys()].some((name) => pattern.test(name));
  const refuse = (what: string, hint = SAVE_AS_XLSX) =>
    new UsageError('NOT_A_TABLE', `${parts.shownAs} is ${what}`, hint);
  if (parts.has('xl/workbook.bin')) throw refuse('a binary workbook (.xlsb), which is not read');
  if (parts.has('xl/workbook.xml')) return;
  if (parts.has('mimetype') && parts.has('content.xml')) throw refuse('an OpenDocument file (.ods), which is not read');
  if (has(/^word\//)) throw refuse('a Word document, not a table');
  if (has(/^ppt\//)) throw refuse('a presentation, not a table');
  if (has(/^index\/.*\.iwa$/)) throw refuse('a Numbers document, which is not read');
  // A workbook may keep its parts elsewhere if it declares the place.
  if (parts.has('[Content_Types].xml') && parts.has('_rels/.rels')) return;
  throw refuse('a zip archive', 'Unpack it first, then use one of its files.');
}
