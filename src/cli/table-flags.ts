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
  describe: 'csv, parquet, xlsx (results.xlsx alone), or several (default: csv,xlsx)',
} as const;

/** For tables that no run has. */
export const plainFormatOption = { ...formatOption, describe: 'csv, or csv,parquet (default: csv)' } as const;

export const includeContactsOption = { type: 'boolean', describe: 'E-mail and phone of people, too' } as const;

/** The flags of an export, checked. */
export function readTableFlags(flags: TableFlags): TableOptions {
  const formats = flags.format === undefined ? undefined : readFormats(flags.format, FORMATS);
  const partitionByCountry = flags.partitionBy !== undefined;
  if (partitionByCountry && formats?.includes('parquet') !== true)
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
export const FORMATS: readonly ExportFormat[] = ['csv', 'parquet', 'xlsx'];
const PLAIN_FORMATS = ['csv', 'parquet'] as const;

/** The formats of tables that no run has: a workbook is made of a run's results. */
export const readPlainFormats = ({ format = 'csv' }: Pick<TableFlags, 'format'>) => readFormats(format, PLAIN_FORMATS);

function readFormats<Format extends ExportFormat>(text: string, known: readonly Format[]): readonly Format[] {
  const asked = text
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '');
  const hint = `There is: ${known.join(', ')}; several with commas between them.`;
  const unknown = asked.find((word) => !known.some((format) => format === word));
  if (unknown !== undefined)
    throw new UsageError(
      `--format: there is no ${unknown}${known === FORMATS ? '' : ' for this table'}.${didYouMean(unknown, known)}`,
      hint,
    );
  if (asked.length === 0) throw new UsageError('--format is empty', hint);
  return known.filter((format) => asked.includes(format));
}

function readDelimiter(text: string): string {
  const character = text === 'tab' || text === '\\t' ? '\t' : text;
  if (/^[,;\t|]$/.test(character)) return character;
  throw new UsageError(
    `--delimiter: ${JSON.stringify(text)} cannot stand between fields`,
    'A comma, a semicolon, tab or |.',
  );
}
