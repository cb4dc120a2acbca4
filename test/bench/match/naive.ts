import { readSearchSubject } from '../../../src/domain/search-subject.js';
import type { Registry } from '../../../src/sandbox/registry/index.js';
import type { SearchKind } from '../../../src/sandbox/registry/types.js';
import type { SampleInput } from '../../../src/sandbox/sample.js';
import { fieldsOf } from './world.js';

/** The choices of two simple programs: an ID, or null for none. They never ask. */
export interface Naive {
  /** Searches with all fields together and takes the first candidate. */
  readonly first: string | null;
  /** Takes the candidate with exactly the row's number. */
  readonly exact: string | null;
}

export function guess(input: SampleInput, registry: Registry, search: SearchKind): Naive {
  const fields = fieldsOf(input);
  // They may use the country as kybatch reads it.
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
