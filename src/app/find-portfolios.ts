import { UsageError } from '../domain/errors.js';
import type { PortfolioRecord, PortfolioStore } from '../ledger/portfolios.js';
import { didYouMean } from '../util/suggest.js';
import { providersKey } from './portfolio.js';
import type { ProviderNames } from './provider.js';
import { pathIn, type Surroundings } from './surroundings.js';

/** The portfolio that is named, by its name or by the path of its file; all of these providers where none is. */
export async function findPortfolios(
  name: string | undefined,
  names: ProviderNames,
  portfolios: PortfolioStore,
  around: Surroundings,
): Promise<readonly PortfolioRecord[]> {
  const providers = providersKey(names);
  const known = (await portfolios.all()).filter((portfolio) => portfolio.providers === providers);
  return name === undefined ? known : portfoliosNamed(name, known, around);
}

/** Those of the known ones that a person means: one for each provider that the list was run with. */
export function portfoliosNamed(
  name: string,
  known: readonly PortfolioRecord[],
  around: Surroundings,
): readonly PortfolioRecord[] {
  const found = known.filter((portfolio) => portfolio.name === name.trim() || portfolio.name === pathIn(around, name));
  if (found.length > 0) return found;
  const others = known.map((portfolio) => portfolio.name);
  throw new UsageError(
    `there is no portfolio ${name}.${didYouMean(name, others)}`,
    '`kybatch run <input>` makes one; its name is that of --portfolio, or the path of the input.',
  );
}
