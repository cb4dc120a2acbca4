// All screens and forms of the page.

import { changesScreen } from './screens/changes.js';
import { companiesScreen } from './screens/companies.js';
import { companyScreen } from './screens/company.js';
import { decisionsScreen, ruleAction, ruleScreen, withdrawAction } from './screens/decisions.js';
import { planScreen, startAction, uploadAction } from './screens/plan.js';
import { portfoliosScreen } from './screens/portfolios.js';
import { answerAction, dismissAction, questionScreen, reviewScreen, undoAction } from './screens/review.js';
import { pauseAction, resumeAction, runFile, runScreen, runsScreen } from './screens/runs.js';
import { chargeAction, usageScreen } from './screens/usage.js';
import type { Action, AnyScreen, FileScreen } from './site.js';

export const screens: readonly AnyScreen[] = [
  portfoliosScreen,
  planScreen,
  runsScreen,
  runScreen,
  companiesScreen,
  companyScreen,
  changesScreen,
  usageScreen,
  reviewScreen,
  ruleScreen,
  questionScreen,
  decisionsScreen,
];

export const fileScreens: readonly FileScreen[] = [runFile];

export const actions: readonly Action[] = [
  startAction,
  uploadAction,
  pauseAction,
  resumeAction,
  answerAction,
  undoAction,
  dismissAction,
  ruleAction,
  withdrawAction,
  chargeAction,
];
