import { readSearchSubject } from '../../../src/domain/search-subject.js';
import type { Registry } from '../../../src/sandbox/registry/index.js';
import type { SearchKind } from '../../../src/sandbox/registry/types.js';
import type { SampleInput } from '../../../src/sandbox/sample.js';
import { fieldsOf } from './world.js';

/** What two simple programs would take for the company: an ID, or null for none. They never ask. */
export interface Naive {
  /** Everything into one search, and the first candidate it brings. */
  readonly first: string | null;
  /** The candidate whose number is the very text of the row. */
  readonly exact: string | null;
}

export function guess(input: SampleInput, registry: Registry, search: SearchKind): Naive {
  const fields = fieldsOf(input);
  // Generously: they read the country as well as we do.
  const reading = readSearchSubject(fields);
  const { name, registration_number: registrationNumber, vat_number: vatNumber } = fields;
  if (!reading.ok || (name ?? registrationNumber ?? vatNumber) === undefined) return { first: null, exact: null };
  const { location } = reading.enquiry;
  const all = registry.search({ location, name, registrationNumber, vatNumber }, search);
  const exact =
    registrationNumber === undefined
      ? undefined
      : registry
          .search({ location, registrationNumber }, search)
          .find((company) => company.registrationNumber === registrationNumber);
  return { first: all[0]?.v1Id ?? null, exact: exact?.v1Id ?? null };
}
