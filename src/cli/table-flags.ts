import type { TableOptions } from '../app/export.js';
import { UsageError } from '../domain/errors.js';
import { didYouMean } from '../util/suggest.js';

/** How tables are to be written, as the flags say it. */
export interface TableFlags {
  readonly out?: string | undefined;
  readonly format?: string | undefined;
  readonly bom?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly includeContacts?: boolean | undefined;
  readonly partitionBy?: string | undefined;
}

export const outOption = {
  type: 'string',
  requiresArg: true,
  describe: 'Where the tables go (default: exports/<run> in the data directory)',
} as const;

export const formatOption = {
  type: 'string',
  requiresArg: true,
  describe: 'csv, or csv,parquet (default: csv)',
} as const;

export const includeContactsOption = { type: 'boolean', describe: 'E-mail and phone of people, too' } as const;

/** The flags of an export, checked. */
export function readTableFlags(flags: TableFlags): TableOptions {
  const formats = readFormats(flags.format ?? 'csv');
  const partitionByCountry = flags.partitionBy !== undefined;
  if (partitionByCountry && !formats.includes('parquet'))
    throw new UsageError('--partition-by splits Parquet files', 'Add --format parquet.');
  return {
    out: flags.out,
    formats,
    delimiter: readDelimiter(flags.delimiter ?? ','),
    bom: flags.bom,
    includeContacts: flags.includeContacts,
    partitionByCountry,
  };
}

type ExportFormat = NonNullable<TableOptions['formats']>[number];

/** What `--format` takes. */
export const FORMATS: readonly ExportFormat[] = ['csv', 'parquet'];

function readFormats(text: string): readonly ExportFormat[] {
  const asked = text
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '');
  const unknown = asked.find((word) => !FORMATS.includes(word as ExportFormat));
  if (unknown !== undefined)
    throw new UsageError(`--format: there is no ${unknown}.${didYouMean(unknown, FORMATS)}`, 'csv, parquet, or both.');
  if (asked.length === 0) throw new UsageError('--format is empty', 'csv, parquet, or both.');
  return FORMATS.filter((format) => asked.includes(format));
}

function readDelimiter(text: string): string {
  const character = text === 'tab' || text === '\\t' ? '\t' : text;
  if (/^[,;\t|]$/.test(character)) return character;
  throw new UsageError(
    `--delimiter: ${JSON.stringify(text)} cannot stand between fields`,
    'A comma, a semicolon, tab or |.',
  );
}
