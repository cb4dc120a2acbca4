import { v2Operations } from '../api/v2/operations.js';
import { buyModules, type Module } from './modules.js';
import { stage } from './stage.js';

/** An object without years, or years without figures, is an empty success (V2-2). */
const figures: Module = {
  operation: v2Operations.financial,
  nothing: { code: 'NO_FIGURES', message: 'the provider returned no figures' },
};

/**
 * The document shows no identity in flat financials, so the v2 ID was confirmed before (V2-4). If they name a company,
 * it must be this one.
 */
export const financialsStage = stage({
  name: 'financials',
  summary: 'Flat financials: indicators by year (v2)',
  space: 'v2',
  additional: true,
  ages: [v2Operations.financial],
  calls: [{ operation: v2Operations.financial, atMost: 1 }],
  run: (company, context) =>
    buyModules([figures], { stage: 'financials', space: 'v2', pagesAtMost: 1 }, company, context),
});
