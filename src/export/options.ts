export const EXPORT_FORMATS = ['csv', 'parquet', 'xlsx'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];
/** Those that every table is written in; a workbook is for the results of a run. */
export type TableFormat = Exclude<ExportFormat, 'xlsx'>;

export interface CsvOptions {
  readonly delimiter: string;
  /** Excel reads UTF-8 only with a byte order mark. */
  readonly bom: boolean;
}

/** Zstandard makes the smallest files; readers without it know Snappy. */
export type ParquetCompression = 'zstd' | 'snappy';

/** Plain data: it goes to the second thread, too. */
export interface ExportOptions {
  /** The folder that is to hold the tables; it is replaced as a whole. */
  readonly folder: string;
  readonly formats: readonly ExportFormat[];
  readonly csv: CsvOptions;
  readonly includeContacts: boolean;
  readonly compression?: ParquetCompression;
  /** Parquet in one folder per country. */
  readonly partitionByCountry: boolean;
  readonly now: number;
  /** Of kybatch. */
  readonly version: string;
}
