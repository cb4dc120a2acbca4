import { creditReport } from './credit-report.js';
import { flatFinancials } from './flat-financials.js';
import type { Reader } from './reader.js';
import { record } from './record.js';
import { registry } from './registry.js';

/** Every reader, in the order of their tables. */
export const readers = [record, registry, flatFinancials, creditReport] as const satisfies readonly Reader[];
