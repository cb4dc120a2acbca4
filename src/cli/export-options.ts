import { join, resolve } from 'node:path';
import { UsageError } from '../domain/errors.js';
import type { ExportFormat, ExportOptions } from '../export/export-run.js';
import { didYouMean } from '../util/suggest.js';
import type { Io } from './io.js';
import { placeFlags } from './spending.js';
import { shellWord } from './text.js';
import { version } from './version.js';

export interface ExportFlags {
  readonly out?: string | undefined;
  readonly format?: string | undefined;
  readonly bom?: boolean | undefined;
  readonly delimiter?: string | undefined;
  readonly includeContacts?: boolean | undefined;
  readonly partitionBy?: string | undefined;
}

/** The flags of an export, checked. */
export function readExportOptions(runId: string, dataDir: string, flags: ExportFlags, io: Io): ExportOptions {
  const formats = readFormats(flags.format ?? 'csv');
  const partitionByCountry = flags.partitionBy !== undefined;
  if (partitionByCountry && !formats.includes('parquet'))
    throw new UsageError('--partition-by splits Parquet files', 'Add --format parquet.');
  return {
    folder: flags.out === undefined ? join(dataDir, 'exports', runId) : resolve(io.cwd, flags.out),
    formats,
    csv: { delimiter: readDelimiter(flags.delimiter ?? ','), bom: flags.bom ?? false },
    includeContacts: flags.includeContacts ?? false,
    partitionByCountry,
    now: io.clock.now(),
    version,
  };
}

/** The flags that make the same export again. */
export const exportFlags = (args: Pick<ExportFlags, 'out' | 'format'> & { readonly dataDir: string | undefined }) =>
  [
    placeFlags(args),
    args.out === undefined ? '' : ` --out ${shellWord(args.out)}`,
    args.format === undefined ? '' : ` --format ${shellWord(args.format)}`,
  ].join('');

const FORMATS: readonly ExportFormat[] = ['csv', 'parquet'];

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
