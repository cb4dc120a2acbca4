import { v2Operations } from '../api/v2/operations.js';
import { isEmptyBody } from '../util/exact-json.js';
import {
  type Company,
  nothingReturned,
  requireIdentified,
  type StageContext,
  type StageOutcome,
  stage,
  withoutAnswerAbout,
} from './stage.js';

/** Flat financials do not identify their company, so the v2 ID was confirmed before (V2-4). */
export const financialsStage = stage({
  name: 'financials',
  summary: 'Flat financials: indicators by year (v2)',
  space: 'v2',
  ages: [v2Operations.financial],
  calls: [{ operation: v2Operations.financial, atMost: 1 }],
  run: buyFinancials,
});

async function buyFinancials(company: Company, context: StageContext): Promise<StageOutcome> {
  const params = { id: requireIdentified(company, 'v2').id };
  const outcome = await context.call(v2Operations.financial, params);
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(v2Operations.financial, params, outcome, context);
  // An object without years, or years without figures, is an empty success (V2-2).
  return isEmptyBody(outcome.body)
    ? nothingReturned('NO_FIGURES', 'the provider returned no figures')
    : { kind: 'done' };
}
