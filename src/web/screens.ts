// All screens and forms of the page.

import { portfoliosScreen } from './screens/portfolios.js';
import { runScreen, runsScreen } from './screens/runs.js';
import { usageScreen } from './screens/usage.js';
import type { Action, AnyScreen } from './site.js';

export const screens: readonly AnyScreen[] = [portfoliosScreen, runsScreen, runScreen, usageScreen];

export const actions: readonly Action[] = [];
