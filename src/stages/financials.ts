import { v2Operations } from '../api/v2/operations.js';
import { isEmptyObject } from '../util/json-shell.js';
import { type Company, identified, type StageContext, type StageOutcome, stage, withoutAnswer } from './stage.js';

/** Flat financials carry no identity of their own, so the v2 ID was confirmed before (V2-4). */
export const financialsStage = stage({
  name: 'financials',
  summary: 'Flat financials: indicators by year (v2)',
  space: 'v2',
  calls: [{ operation: v2Operations.financial, atMost: 1 }],
  run: buyFinancials,
});

async function buyFinancials(company: Company, context: StageContext): Promise<StageOutcome> {
  const outcome = await context.call(v2Operations.financial, { id: identified(company, 'v2').id });
  if (outcome.kind !== 'answer') return withoutAnswer(outcome);
  // An object without years is a success that says nothing (V2-2).
  return isEmptyObject(outcome.body)
    ? { kind: 'not_available', message: 'the provider returned no years' }
    : { kind: 'done' };
}
