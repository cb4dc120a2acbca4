import { createRegistry } from '../../../../src/sandbox/registry/index.js';
import type { Company } from '../../../../src/sandbox/registry/types.js';
import { isPlain } from '../../../../src/sandbox/sample/damage.js';

/** A company to put on a list. */
export interface Firm {
  readonly name: string;
  /** ISO code. */
  readonly country: string;
  readonly number: string;
  readonly vat: string;
  readonly city: string;
  /** Of a German or Swiss register. */
  readonly court?: string;
  readonly state?: string;
  /** It is one of the sandbox's. */
  readonly v1Id?: string;
}

/** Enough for every list here; the rarest country has a dozen among them. */
const SCANNED = 6_000;
const registry = createRegistry({ seed: 1 });
const scanned = [...plainCompanies()];

function* plainCompanies(): Generator<Firm> {
  for (let index = 0; index < SCANNED; index++) {
    const company = registry.company(index);
    if (isPlain(registry, company) && company.registrationNumber !== null)
      yield firmOf(company, company.registrationNumber);
  }
}

function firmOf(company: Company, number: string): Firm {
  return {
    name: company.name,
    country: company.countryCode,
    number,
    vat: company.vatNumber ?? '',
    city: company.city,
    v1Id: company.v1Id,
    ...(company.countryCode === 'DE' && company.jurisdiction !== null ? { court: company.jurisdiction } : {}),
    ...(['US', 'CA'].includes(company.countryCode) && company.state !== null ? { state: company.state } : {}),
  };
}

/** Companies of the sandbox's register, always the same ones. */
export function firmsOf(country: string, count: number, accepts: (firm: Firm) => boolean = () => true): Firm[] {
  const found = scanned.filter((firm) => firm.country === country && accepts(firm)).slice(0, count);
  if (found.length < count) throw new RangeError(`only ${found.length} of ${count} companies in ${country}`);
  return found;
}

/** As many of each country, in turn. */
export function mixed(countries: readonly string[], each: number, accepts?: (firm: Firm) => boolean): Firm[] {
  const lists = countries.map((country) => firmsOf(country, each, accepts));
  return Array.from({ length: each }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}

export const withVat = ({ vat }: Firm): boolean => vat !== '';
export const withLeadingZero = ({ number }: Firm): boolean => number.startsWith('0');
