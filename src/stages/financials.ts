import { type Company, type StageContext, type StageOutcome, withoutAnswer } from './stage.js';

/** Flat financials carry no identity of their own, so the v2 ID was confirmed before (V2-4). */
export async function financials(company: Company, context: StageContext): Promise<StageOutcome> {
  const id = company.v2?.candidate.id;
  if (id === undefined) throw new Error('financials are bought only for a confirmed company');
  const outcome = await context.call({ api: 'v2', operation: 'financial', params: { id } });
  if (outcome.kind !== 'answer') return withoutAnswer(outcome);
  // An object without years is a success that says nothing (V2-2). A long one has years; it is not parsed to see that.
  const empty = outcome.body.length < SHORT && /^\s*\{\s*\}\s*$/.test(outcome.body.toString('utf8'));
  return empty ? { kind: 'not_available', message: 'the provider returned no years' } : { kind: 'done' };
}

const SHORT = 64;
