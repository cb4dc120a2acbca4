import { mostOf, TOLD_APART } from '../engine/plan.js';
import type { Rest } from '../engine/row-cost.js';
import type { Ledger } from '../ledger/ledger.js';
import type { GuardFinding } from './guards.js';
import { otherProviders } from './owned-elsewhere.js';
import { type Job, planInput } from './plan.js';
import { OpenList } from './portfolio.js';
import { type ProviderNames, urlVariable } from './provider.js';
import type { Surroundings } from './surroundings.js';

/**
 * Guard `new_provider`: what the list would cost here, beside what it would cost where more was bought before. If that is
 * less than half, most of it would be bought again.
 */
export async function newProvider(
  job: Job,
  names: ProviderNames,
  ledger: Ledger,
  around: Surroundings,
): Promise<readonly GuardFinding[]> {
  const others = (await otherProviders(names, ledger)).filter(({ api }) => api !== 'mcp');
  if (others.length === 0) return [];
  const costAt = async (at: ProviderNames) => {
    const list = await OpenList.open(job, at, ledger, around.clock.now());
    return mostOf(await planInput(job, list, at, ledger, silent(around), TOLD_APART));
  };
  const here = await costAt(names);
  const there = await costAt({ ...names, ...Object.fromEntries(others.map(({ api, other }) => [api, other])) });
  const sum = ({ units, reports, v2Calls }: Rest) => units + reports + v2Calls;
  if (sum(there) * 2 >= sum(here)) return [];
  const moved = others.map(({ name, other }) => `\`kybatch ledger provider-moved --from ${other} --to ${name}\``);
  const back = others.map(({ api, other }) => `${urlVariable(api)}=${other}`);
  return [
    {
      guard: 'new_provider',
      message: `most of this list is stored from ${others.map(({ other }) => other).join(' and ')}, and would be bought again from ${others.map(({ name }) => name).join(' and ')}: up to ${here.units} units, ${here.reports} credit reports and ${here.v2Calls} v2 calls`,
      hint: `If the provider is the same, file what is stored under its new address (${moved.join('; ')}), or go back (${back.join(', ')}).`,
    },
  ];
}

const silent = (around: Surroundings): Surroundings => ({ ...around, onReading: undefined, onNote: undefined });
