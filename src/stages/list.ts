import { creditReport } from './credit-report.js';
import { financials } from './financials.js';
import { record } from './record.js';
import type { Stage } from './stage.js';

/** What can be bought for a confirmed company, in the order of the journey. */
export const stages: readonly Stage[] = [record, financials, creditReport];
