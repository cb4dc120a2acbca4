import { contactsStage } from './contacts.js';
import { creditReportStage } from './credit-report.js';
import { financialsStage } from './financials.js';
import { firmographicsStage } from './firmographics.js';
import { insightsStage } from './insights.js';
import { ownershipStage } from './ownership.js';
import { profileStage } from './profile.js';
import { recordStage } from './record.js';
import { registryStage } from './registry.js';
import { screeningStage } from './screening.js';
import type { Stage } from './stage.js';

export const stages: readonly Stage[] = [
  recordStage,
  profileStage,
  registryStage,
  financialsStage,
  firmographicsStage,
  insightsStage,
  ownershipStage,
  screeningStage,
  contactsStage,
  creditReportStage,
];
