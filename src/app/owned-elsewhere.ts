import type { ApiName } from '../domain/api-name.js';
import type { Ledger } from '../ledger/ledger.js';
import { isSandboxName, type ProviderNames, urlVariable } from './provider.js';

/**
 * A base URL is a provider, and what one has sold is not known to be what another sells: `localhost` and `127.0.0.1`,
 * a new port, a path more or less buy everything anew. That may be meant, but it is never done without a word.
 */
export async function ownedElsewhere(
  names: ProviderNames,
  ledger: Pick<Ledger, 'reading'>,
): Promise<readonly string[]> {
  return (await otherProviders(names, ledger)).map(({ api, name, other, here, there }) => {
    return `${api}: ${there} answers are owned from ${other}, ${here} from ${name}. Each base URL is a provider of its own: what another has sold is bought again here. If they are the same, set ${urlVariable(api)} to ${other}`;
  });
}

interface OtherProvider {
  readonly api: ApiName;
  readonly name: string;
  readonly other: string;
  /** Stored answers of both. */
  readonly here: number;
  readonly there: number;
}

/** For each API the provider that has sold more than the one that is configured; the simulated one apart. */
async function otherProviders(
  names: ProviderNames,
  { reading }: Pick<Ledger, 'reading'>,
): Promise<readonly OtherProvider[]> {
  const environments = (await reading.environments()).filter(({ name }) => !isSandboxName(name));
  return (['v1', 'v2', 'mcp'] as const).flatMap((api) => {
    const name = names[api] ?? '';
    if (name === '' || isSandboxName(name)) return [];
    const ofApi = environments.filter((environment) => environment.api === api);
    const here = ofApi.find((environment) => environment.name === name)?.answers ?? 0;
    const [most] = ofApi.toSorted((a, b) => b.answers - a.answers);
    if (most === undefined || most.answers <= here) return [];
    return [{ api, name, other: most.name, here, there: most.answers }];
  });
}
