import { UsageError } from '../domain/errors.js';
import { LEADS, type Lead, leadWords } from '../domain/leads.js';
import { openSheet } from '../sheets/open-sheet.js';
import type { Sheet } from '../sheets/sheet.js';
import { judgeRow, wouldFollow } from './judge-row.js';
import { claimOf, headerLookup, mapColumns, type UnreadLeads, unreadLeads } from './map-columns.js';
import { IDENTIFIERS, type InputOptions, type InputRow, type InputTable } from './types.js';

/**
 * Opens an analyst's file: finds which column is what, and refuses what is no table of companies.
 * Damaged rows are no reason to refuse: they come out of `rows()` as invalid, each with its line.
 */
export async function readInput(path: string, options: InputOptions = {}): Promise<InputTable> {
  const lookup = headerLookup(options.synonyms, options.leads);
  const sheet = await openSheet(path, (header) => claimOf(header, lookup)?.field, options);
  const { columns, mapping, warnings } = mapColumns(sheet.headers, lookup);
  const unread = unreadLeads(sheet.headers, mapping, options);
  if ([...IDENTIFIERS, ...LEADS].every((field) => mapping[field] === undefined))
    throw noUsableColumn(sheet, columns, unread);
  const notes = [...sheet.warnings, ...warnings];
  if (mapping.country === undefined) notes.push('there is no country column: every row will be invalid');
  if (await isEmpty(sheet.lines())) notes.push('there is a header and no row');
  const { sha256, encoding, delimiter } = sheet;
  const rows = () => readRows(sheet, mapping, unread);
  return { path: sheet.path, sha256, encoding, delimiter, columns, mapping, warnings: notes, rows };
}

async function* readRows(
  sheet: Sheet,
  mapping: InputTable['mapping'],
  unread: UnreadLeads,
): AsyncGenerator<InputRow, void, undefined> {
  let row = 0;
  for await (const line of sheet.lines()) yield judgeRow(line, ++row, mapping, unread);
}

async function isEmpty(lines: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of lines) return false;
  return true;
}

function noUsableColumn({ path, headerLine }: Sheet, columns: readonly string[], unread: UnreadLeads): UsageError {
  const [lead] = Object.keys(unread) as Lead[];
  const seen = columns.slice(0, 12).map((name) => JSON.stringify(name.slice(0, 40)));
  if (columns.length > seen.length) seen.push('…');
  return new UsageError(
    `${path}, line ${headerLine}: no column can be read as name, registration_number, vat_number or ticker; the header has ${seen.join(', ')}`,
    lead === undefined
      ? 'The first line must name the columns. Rename one, or add its header to the synonyms in the pipeline file.'
      : `Add one of these columns, or have the ${leadWords[lead]} followed: ${wouldFollow(lead)} in the pipeline file.`,
  );
}
