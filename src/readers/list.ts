import { creditReportReader } from './credit-report.js';
import { flatFinancialsReader } from './flat-financials.js';
import { ownershipReader } from './ownership.js';
import type { Reader } from './reader.js';
import { recordReader } from './record.js';
import { registryReader } from './registry.js';
import { screeningReader, v2ScreeningReader } from './screening.js';

/** Every reader, in the order of their tables. */
export const readers = [
  recordReader,
  registryReader,
  flatFinancialsReader,
  ownershipReader,
  screeningReader,
  v2ScreeningReader,
  creditReportReader,
] as const satisfies readonly Reader[];
