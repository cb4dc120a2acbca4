import type { Pipeline } from '../config/pipeline.js';
import { planRest } from '../engine/plan.js';
import type { Rest } from '../engine/row-cost.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RunRecord } from '../ledger/runs.js';
import type { ProviderNames } from './provider.js';
import type { Surroundings } from './surroundings.js';

/** A run that a start would go on with. */
export interface Remaining {
  readonly run: RunRecord;
  readonly pipeline: Pipeline;
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
  readonly outcome: 'pending' | 'failed';
}

/** What the rows of a run that will move may still cost. Nothing is sent, nothing is written. */
export async function restOf(
  { run, pipeline, fresh, outcome }: Remaining,
  names: ProviderNames,
  ledger: Ledger,
  { clock }: Surroundings,
): Promise<Rest> {
  const environments = await environmentsOf(names, ledger);
  const notBefore = fresh ? ledger.times.believed(run.createdAt) : 0;
  return await planRest({ run, pipeline, outcome, notBefore, now: clock.now(), ledger, environments });
}

/** The numbers under which the ledger knows the providers; null where it does not. */
export async function environmentsOf(names: ProviderNames, ledger: Ledger | null) {
  const find = async (api: 'v1' | 'v2') => (await ledger?.calls.findEnvironment(api, names[api])) ?? null;
  return { v1: await find('v1'), v2: await find('v2') };
}
