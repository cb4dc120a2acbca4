import { creditReportStage } from './credit-report.js';
import { financialsStage } from './financials.js';
import { ownershipStage } from './ownership.js';
import { recordStage } from './record.js';
import { screeningStage } from './screening.js';
import type { Stage } from './stage.js';

/** What can be bought for a confirmed company, in the order of the journey. */
export const stages: readonly Stage[] = [
  recordStage,
  financialsStage,
  ownershipStage,
  screeningStage,
  creditReportStage,
];
