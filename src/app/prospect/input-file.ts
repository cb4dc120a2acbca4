import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asFileError, UsageError } from '../../domain/errors.js';
import { readMarker, SUMMARY } from '../../export/export-marker.js';
import { CsvText } from '../../export/formats/csv-text.js';
import type { ProspectRow } from '../../readers/prospects.js';
import { type Cell, column } from '../../readers/table.js';
import { writeWhole } from '../../util/whole-file.js';

/** Columns of the input file that is written for `run`. */
const COLUMNS = [
  column('id', 'text', 'ID that prospecting gives'),
  column('name', 'text', 'Name'),
  column('country', 'text', 'ISO alpha-2'),
  column('registration_number', 'text', 'Registration number'),
  column('website', 'text', 'Website'),
  column('linkedin', 'text', 'LinkedIn address'),
  column('city', 'text', 'City'),
] as const;

type InputRow = Readonly<Record<(typeof COLUMNS)[number]['name'], Cell>>;

const inputRow = (row: ProspectRow): InputRow => ({
  id: row.companies_id,
  name: row.name,
  country: row.country_code,
  registration_number: row.registration_number,
  website: row.company_website,
  linkedin: row.linkedin,
  city: row.address_city,
});

/** UTF-8; what a spreadsheet would run as a formula is defused, as in every table. */
export function inputText(rows: readonly ProspectRow[]): string {
  const csv = new CsvText(COLUMNS, ',');
  return csv.header() + csv.render(rows.map(inputRow));
}

/** The tables go beside the input file. */
export const tablesBeside = (input: string): string => `${input.replace(/\.csv$/i, '')}.tables`;

/** What the summary of the tables tells of the input file: by it the file is known as ours, until somebody changes it. */
export interface InputFacts {
  readonly path: string;
  readonly sha256: string;
  /** Of the file that was there before: it still is, where the process died between the two. */
  readonly before: string | null;
}

export const inputFacts = (path: string, text: string): InputFacts => ({
  path,
  sha256: hash('sha256', text),
  before: digestOf(path),
});

export async function writeInput(path: string, text: string): Promise<void> {
  try {
    await writeWhole(path, text);
  } catch (error) {
    throw asFileError(error, path);
  }
}

/** Only what `prospect` has written, and nobody has touched since, is written over, unless somebody says so. */
export function mustBeOurs(path: string, force: boolean): void {
  const there = digestOf(path);
  if (force || there === null) return;
  const known = knownInput(tablesBeside(path));
  if (known === undefined)
    throw new UsageError(
      `${path} is there already, and \`kybatch prospect\` has not written it`,
      'Nothing was spent. Name another file with --out, or use --force to write over it.',
    );
  if (there !== known.sha256 && there !== known.before)
    throw new UsageError(
      `${path} has been changed since \`kybatch prospect\` wrote it`,
      'Nothing was spent. Name another file with --out, or use --force to write over what was changed.',
    );
}

function knownInput(folder: string): Pick<InputFacts, 'sha256' | 'before'> | undefined {
  if (readMarker(folder) === undefined) return undefined;
  const { input } = JSON.parse(readFileSync(join(folder, SUMMARY), 'utf8')) as { input?: Partial<InputFacts> };
  return typeof input?.sha256 === 'string' ? { sha256: input.sha256, before: input.before ?? null } : undefined;
}

/** Null where there is no file. */
const digestOf = (path: string): string | null =>
  statSync(path, { throwIfNoEntry: false }) === undefined ? null : hash('sha256', readFileSync(path));
