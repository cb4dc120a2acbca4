import { v2Operations } from '../api/v2/operations.js';
import { bodySaysNothing } from '../util/says-nothing.js';
import { nothingReturned } from './nothing-returned.js';
import { type Company, identified, type StageContext, type StageOutcome, stage, withoutAnswerAbout } from './stage.js';

/** The profile carries neither number nor country: that the ID was confirmed is all that says whose it is (V2-22). */
export const insightsStage = stage({
  name: 'insights',
  summary: 'Digital profile: domain, traffic, technologies (v2)',
  space: 'insights',
  additional: true,
  ages: [v2Operations.insightsProfile],
  calls: [{ operation: v2Operations.insightsProfile, atMost: 1 }],
  run: buyProfile,
});

async function buyProfile(company: Company, context: StageContext): Promise<StageOutcome> {
  const params = { id: identified(company, 'insights').id };
  const outcome = await context.call(v2Operations.insightsProfile, params);
  if (outcome.kind !== 'answer')
    return await withoutAnswerAbout(v2Operations.insightsProfile, params, outcome, context);
  return bodySaysNothing(outcome.body, 'id')
    ? nothingReturned('EMPTY_PROFILE', 'the provider returned a digital profile with nothing in it')
    : { kind: 'done' };
}
