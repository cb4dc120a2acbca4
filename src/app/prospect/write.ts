import { basename, extname } from 'node:path';
import { asPlaceError } from '../../domain/errors.js';
import { checkExport } from '../../export/check-export.js';
import type { ExportOptions } from '../../export/options.js';
import { writeSideTables } from '../../export/side-tables.js';
import type { ProspectRow } from '../../readers/prospects.js';
import { prospectsTable } from '../../readers/tables/prospects.js';
import { tablesFolder } from '../export.js';
import { fileTarget } from '../file-target.js';
import { dataDirOf, pathIn, type Surroundings } from '../surroundings.js';
import { version } from '../version.js';
import type { Collected } from './collect.js';
import { inputFacts, inputText, mustBeOurs, tablesBeside, writeInput } from './input-file.js';
import type { ProspectOptions, ProspectProposal } from './options.js';

export interface ProspectTarget {
  readonly input: string;
  readonly tables: string;
  readonly formats: ExportOptions['formats'];
  readonly includeContacts: boolean;
}

/** Where it goes, found out before anything is spent. */
export async function prospectTarget(options: ProspectOptions, around: Surroundings): Promise<ProspectTarget> {
  const { filters, formats = ['csv'], force = false, includeContacts = false } = options;
  const named = options.out ?? `${basename(filters, extname(filters))}.csv`;
  const dataDir = dataDirOf(options, around);
  const input = fileTarget(named, dataDir, around, [pathIn(around, filters)]);
  try {
    mustBeOurs(input, force);
  } catch (error) {
    throw asPlaceError(error, input);
  }
  const tables = tablesFolder({ out: tablesBeside(input) }, 'prospect', dataDir, around);
  await checkExport({ folder: tables, formats });
  return { input, tables, formats, includeContacts };
}

type Found = Omit<Collected, 'prospects'> & { readonly proposal: ProspectProposal };

/** The tables, then the input file: each appears when it is complete. */
export async function writeProspects(
  rows: readonly ProspectRow[],
  { input, tables, formats, includeContacts }: ProspectTarget,
  found: Found,
  { clock }: Surroundings,
): Promise<{ readonly input: string; readonly tables: string }> {
  const text = inputText(rows);
  const facts = {
    input: inputFacts(input, text),
    filters: found.proposal.filters,
    is_part: found.isPart,
    total_companies: found.totalCompanies,
    total_pages: found.totalPages,
    pages: found.pages,
    notes: found.notes,
  };
  const how = { formats, csv: { delimiter: ',', bom: false }, includeContacts, partitionByCountry: false };
  await writeSideTables(
    { by: 'prospect', title: 'Prospects', tables: [{ table: prospectsTable, rows }], facts },
    { ...how, folder: tables, now: clock.now(), version },
  );
  await writeInput(input, text);
  return { input, tables };
}
