import type { Json } from '../json.js';
import type { Company, Employee, Registry, SearchKind, SearchQuery } from '../registry/types.js';

const scanned = 400;

interface Index {
  readonly byAddress: ReadonlyMap<string, Company>;
  readonly people: readonly Employee[];
}

const indexes = new WeakMap<Registry, Index>();

/** Looks in every country: the operations of the platform do not ask for one. */
export function findAnywhere(
  registry: Registry,
  query: Omit<SearchQuery, 'location'>,
  kind: SearchKind,
  limit = 20,
): readonly Company[] {
  const found: Company[] = [];
  for (const location of registry.countries) {
    found.push(...registry.search({ ...query, location }, kind, limit).filter(registry.inV2));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** By website or LinkedIn address, however it is written. Only the first companies of the registry can be found this way. */
export function findByAddress(registry: Registry, address: string): Company | undefined {
  return indexOf(registry).byAddress.get(bare(address));
}

export function people(registry: Registry): readonly Employee[] {
  return indexOf(registry).people;
}

export function bare(address: string): string {
  return address
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/^www\./, '')
    .replace(/[/?#]+$/, '');
}

function indexOf(registry: Registry): Index {
  const known = indexes.get(registry);
  if (known) return known;
  const byAddress = new Map<string, Company>();
  const everyone: Employee[] = [];
  for (let index = 0; index < Math.min(scanned, registry.size); index++) {
    const company = registry.company(index);
    if (!registry.inV2(company)) continue;
    const profile = registry.v2.profile(company) as { readonly [key: string]: Json | undefined };
    for (const address of [profile.company_website, profile.linkedin]) {
      if (typeof address === 'string' && address !== '') byAddress.set(bare(address), company);
    }
    everyone.push(...registry.v2.employees(company));
  }
  const built = { byAddress, people: everyone };
  indexes.set(registry, built);
  return built;
}
