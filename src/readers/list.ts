import { creditReportReader } from './credit-report.js';
import { firmographicsReader } from './firmographics.js';
import { flatFinancialsReader } from './flat-financials.js';
import { insightsReader } from './insights.js';
import { ownershipReader } from './ownership.js';
import { employeesReader, peopleReader } from './people.js';
import type { Reader } from './reader.js';
import { recordReader, registryReader } from './record.js';
import { screeningReader, v2ScreeningReader } from './screening.js';

/** Every reader, in the order of their tables. */
export const readers = [
  recordReader,
  registryReader,
  flatFinancialsReader,
  firmographicsReader,
  insightsReader,
  ownershipReader,
  screeningReader,
  v2ScreeningReader,
  peopleReader,
  employeesReader,
  creditReportReader,
] as const satisfies readonly Reader[];

/** Increased when a change of readers or comparison could change results: then all answers are compared again, free. */
export const READERS_VERSION = 5;
