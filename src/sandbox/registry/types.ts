// Types of the synthetic registry.

/** A company of the synthetic registry. Everything about it follows from the seed and its index. */
export interface Company {
  readonly index: number;
  /** IDs in the four spaces of the two APIs. They never coincide. */
  readonly v1Id: string;
  readonly v2Id: string;
  readonly sourceId: string;
  readonly name: string;
  /** The register's own spelling. Null for candidates without a number. */
  readonly registrationNumber: string | null;
  readonly vatNumber: string | null;
  readonly ticker: string | null;
  readonly countryCode: string;
  /** For US, CA, CN: the code after the dash (`CA` in `US-CA`). For DE: the court. Otherwise a region or null. */
  readonly state: string | null;
  readonly jurisdiction: string | null;
  readonly city: string;
  readonly status: string;
  readonly legalForm: string | null;
  readonly incorporationDate: string | null;
  /** Later changes of the register, by the field names of the watch. */
  readonly changes?: Readonly<Record<string, string | null>> | undefined;
  /** The name before a change. The domain still follows from it. */
  readonly formerName?: string | undefined;
}

/** Address, contact and size, for the profiles of both APIs. */
export interface Profile {
  readonly street: string | null;
  readonly addressLocation: string | null;
  readonly zip: string | null;
  readonly website: string | null;
  readonly linkedin: string | null;
  readonly phone: readonly string[];
  /** No body shows these two. Filters, lookups and watches use them. */
  readonly email: string | null;
  readonly fax: string | null;
  readonly size: string;
  readonly employees: number;
}

export interface SearchQuery {
  /** ISO code, `US-CA` style, or a nomenclature path such as `1_44`. The caller has checked that it exists. */
  readonly location: string;
  readonly name?: string | undefined;
  readonly registrationNumber?: string | undefined;
  readonly vatNumber?: string | undefined;
  readonly ticker?: string | undefined;
  readonly cityOrState?: readonly string[] | undefined;
}

/** `forgiving` ignores case, separators and leading zeros in numbers. `exact` requires the register's own spelling. */
export type SearchKind = 'forgiving' | 'exact';

/** One vocabulary entry, as the nomenclature endpoints return it. */
export interface NomenclatureItem {
  readonly id: number;
  readonly parents: string;
  readonly name: string;
  readonly has_children: boolean;
  readonly active: boolean;
}

export interface Employee {
  readonly id: string;
  readonly company: Company;
  readonly fullName: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly seniority: string;
  readonly department: string;
  readonly jobTitle: string;
  readonly email: string | null;
  readonly phone: string | null;
  readonly linkedin: string | null;
  readonly country: string;
  readonly city: string;
}
