import { mostOf, TOLD_APART } from '../engine/plan.js';
import type { Rest } from '../engine/row-cost.js';
import type { Ledger } from '../ledger/ledger.js';
import type { GuardFinding } from './guards.js';
import { type Job, planInput } from './plan.js';
import { OpenList, portfolioName } from './portfolio.js';
import { isSandboxName, type ProviderNames, urlVariable } from './provider.js';
import type { Surroundings } from './surroundings.js';

/**
 * Guard `new_provider`: a list that did not work with this base URL last, and costs less with another, would buy again what
 * is stored from there. One that was let pass works here from then on, however many nights it takes.
 */
export async function newProvider(
  job: Job,
  names: ProviderNames,
  ledger: Ledger,
  around: Surroundings,
): Promise<readonly GuardFinding[]> {
  const others = await otherAddresses(job, names, ledger);
  if (others.length === 0) return [];
  const costAt = async (at: ProviderNames) => {
    const list = await OpenList.open(job, at, ledger, around.clock.now());
    return mostOf(await planInput(job, list, at, ledger, silent(around), TOLD_APART));
  };
  const here = await costAt(names);
  let cheapest = { at: names, cost: here };
  for (const { api, name } of others) {
    const at = { ...cheapest.at, [api]: name };
    const cost = await costAt(at);
    if (sum(cost) < sum(cheapest.cost)) cheapest = { at, cost };
  }
  const moved = APIS.flatMap((api) => {
    const [from = '', to = ''] = [cheapest.at[api], names[api]];
    return from === to ? [] : { api, from, to };
  });
  if (moved.length === 0) return [];
  const again = (count: (cost: Rest) => number) => Math.max(0, count(here) - count(cheapest.cost));
  const filed = moved.map(({ from, to }) => `\`kybatch ledger provider-moved --from ${from} --to ${to}\``);
  const back = moved.map(({ api, from }) => `${urlVariable(api)}=${from}`);
  return [
    {
      guard: 'new_provider',
      message: `rows of this list are stored from ${moved.map(({ from }) => from).join(' and ')}, and would be bought again from ${moved.map(({ to }) => to).join(' and ')}: up to ${again(({ units }) => units)} units, ${again(({ reports }) => reports)} credit reports and ${again(({ v2Calls }) => v2Calls)} v2 calls`,
      hint: `If the provider is the same, file what is stored under its new address (${filed.join('; ')}), or go back (${back.join(', ')}).`,
    },
  ];
}

const APIS = ['v1', 'v2'] as const;

/** Where else answers are stored from, for each API whose base URL is not the one that the list worked with last. */
async function otherAddresses(job: Job, names: ProviderNames, { portfolios, reading }: Ledger) {
  const list = portfolioName(job);
  // The newest comes first.
  const last = (await portfolios.all()).find(({ name, providers }) => name === list && !isSandboxName(providers));
  const settled = last?.providers.split(',') ?? [];
  const stored = (await reading.environments()).filter(({ name, answers }) => answers > 0 && !isSandboxName(name));
  return APIS.flatMap((api) => {
    const here = names[api] ?? '';
    if (here === '' || isSandboxName(here) || settled.includes(here)) return [];
    return stored.flatMap(({ api: other, name }) => (other === api && name !== here ? { api, name } : []));
  });
}

const sum = ({ units, reports, v2Calls }: Rest): number => units + reports + v2Calls;

const silent = (around: Surroundings): Surroundings => ({ ...around, onReading: undefined, onNote: undefined });
