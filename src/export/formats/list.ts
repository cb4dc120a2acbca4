import type { ExportFormat } from '../options.js';
import { csv } from './csv.js';
import type { Format } from './format.js';
import { parquet } from './parquet.js';
import { xlsx } from './xlsx.js';

export type Formats = Readonly<Record<ExportFormat, Format>>;

export const formats: Formats = { csv, parquet, xlsx };
