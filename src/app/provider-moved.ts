import { canonicalBaseUrl } from '../domain/base-url.js';
import { UsageError } from '../domain/errors.js';
import type { MovedProvider } from '../ledger/housekeeping.js';
import { isSandboxName } from './provider.js';
import { here, type PlaceOptions, withLedger } from './surroundings.js';

export interface ProviderMovedOptions extends PlaceOptions {
  readonly from: string;
  readonly to: string;
}

export interface ProviderMovedView extends MovedProvider {
  readonly from: string;
  readonly to: string;
}

/** Files what one base URL has sold under another, so that nothing is bought again. Nothing is sent, nothing is spent. */
export async function providerMoved(options: ProviderMovedOptions, around = here()): Promise<ProviderMovedView> {
  const [from, to] = [baseUrl('--from', options.from), baseUrl('--to', options.to)];
  if (from === to) throw new UsageError(`--from and --to are the same address: ${from}`);
  return await withLedger('existing', options, around, async ({ housekeeping, reading }) => {
    const known = (await reading.environments()).filter(({ name }) => !isSandboxName(name));
    if (!known.some(({ name }) => name === from)) {
      const names = [...new Set(known.map(({ name }) => name))];
      throw new UsageError(
        `nothing is stored from ${from}`,
        names.length === 0 ? 'Nothing was bought yet.' : `Something is from: ${names.join(', ')}.`,
      );
    }
    const sold = known.filter(({ name, answers }) => name === from && answers > 0).map(({ api }) => api);
    const there = known.find(({ name, api, answers }) => name === to && answers > 0 && !sold.includes(api));
    if (there !== undefined)
      throw new UsageError(
        `${to} holds answers of ${there.api}, and ${from} has none of that`,
        'Nothing was moved: each API has an address of its own. Name the new address of the same API.',
      );
    return { from, to, ...(await housekeeping.moveProvider(from, to)) };
  });
}

function baseUrl(flag: string, text: string): string {
  const name = canonicalBaseUrl(text.trim());
  if (!/^https?:\/\//.test(name)) throw new UsageError(`${flag} is no base URL: ${JSON.stringify(text)}`);
  return name;
}
