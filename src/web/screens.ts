// All screens and forms of the page.

import { decisionsScreen, ruleAction, ruleScreen, withdrawAction } from './screens/decisions.js';
import { planScreen, startAction, uploadAction } from './screens/plan.js';
import { portfoliosScreen } from './screens/portfolios.js';
import { answerAction, dismissAction, questionScreen, reviewScreen, undoAction } from './screens/review.js';
import { pauseAction, resumeAction, runScreen, runsScreen } from './screens/runs.js';
import { usageScreen } from './screens/usage.js';
import type { Action, AnyScreen } from './site.js';

export const screens: readonly AnyScreen[] = [
  portfoliosScreen,
  planScreen,
  runsScreen,
  runScreen,
  usageScreen,
  reviewScreen,
  ruleScreen,
  questionScreen,
  decisionsScreen,
];

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
];
