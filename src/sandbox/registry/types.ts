import type { Json } from '../json.js';

/** A company of the synthetic registry. Everything about it follows from the seed and its index. */
export interface Company {
  readonly index: number;
  /** IDs in the four spaces of the two APIs. They never coincide. */
  readonly v1Id: string;
  readonly v2Id: string;
  readonly sourceId: string;
  readonly name: string;
  /** The register's own spelling; null for the candidates that have none. */
  readonly registrationNumber: string | null;
  readonly vatNumber: string | null;
  readonly ticker: string | null;
  readonly countryCode: string;
  /** For US, CA, CN: the code after the dash (`CA` in `US-CA`); for DE the court; otherwise a region or null. */
  readonly state: string | null;
  readonly jurisdiction: string | null;
  readonly city: string;
  readonly status: string;
  readonly legalForm: string | null;
  readonly incorporationDate: string | null;
  /** What the register has changed since, by the names that a watch knows. */
  readonly changes?: Readonly<Record<string, string | null>> | undefined;
  /** Before its name changed: its domain stays. */
  readonly formerName?: string | undefined;
}

/** Address, contact and size: what every profile of either API draws from. */
export interface Profile {
  readonly street: string | null;
  readonly addressLocation: string | null;
  readonly zip: string | null;
  readonly website: string | null;
  readonly linkedin: string | null;
  readonly phone: readonly string[];
  /** No body shows these two; filters, lookups and watches know them. */
  readonly email: string | null;
  readonly fax: string | null;
  readonly size: string;
  readonly employees: number;
}

export interface SearchQuery {
  /** ISO code, `US-CA` style, or a nomenclature path such as `1_44`; already known to exist. */
  readonly location: string;
  readonly name?: string | undefined;
  readonly registrationNumber?: string | undefined;
  readonly vatNumber?: string | undefined;
  readonly ticker?: string | undefined;
  readonly cityOrState?: readonly string[] | undefined;
}

/** `forgiving` ignores case, separators and leading zeros in numbers; `exact` wants the register's own spelling. */
export type SearchKind = 'forgiving' | 'exact';

/** One vocabulary entry, as the nomenclature endpoints return it. */
export interface NomenclatureItem {
  readonly id: number;
  readonly parents: string;
  readonly name: string;
  readonly has_children: boolean;
  readonly active: boolean;
}

/** The data side of the provider. The protocol side (auth, limits, faults, routes) never generates data itself. */
export interface Registry {
  readonly seed: number;
  readonly size: number;
  readonly countries: readonly string[];
  company(index: number): Company;
  byV1Id(id: string): Company | undefined;
  byV2Id(id: string): Company | undefined;
  bySourceId(id: string): Company | undefined;
  /** At most `limit` candidates, best first as the provider would rank them, no better founded than a provider's ranking. */
  search(query: SearchQuery, kind: SearchKind, limit?: number): readonly Company[];
  /** The location, if the nomenclature knows it: `GB`, `US-CA`, `1_44`. */
  knowsLocation(location: string): boolean;

  /** What is special about a company, so that tests and samples can find one of each kind. */
  traits(company: Company): Traits;
  /** False: v1 detail operations answer DATA_SERVICE_404 though the search finds the company. */
  hasRecord(company: Company): boolean;
  /** False: the v2 search leaves the company out, and `byV2Id` does not know it. */
  inV2(company: Company): boolean;
  /** False: the report search leaves the company out, and `bySourceId` does not know it. */
  hasCreditReport(company: Company): boolean;
  /** Address, contact and size, as the profiles show them. */
  facts(company: Company): Profile;
  /** Its legal entity identifier; null for those that have none. No body shows it. */
  lei(company: Company): string | null;
  byLei(lei: string): Company | undefined;
  /** A change in the register: from now on both APIs show it. */
  change(company: Company, field: string, value: string | null): void;
  /** How many changes there were. */
  readonly revision: number;
  /** The ID of the company's status in the company-status nomenclature: 106, 108 or 1615. */
  statusId(company: Company): number;

  /** Bodies, in the shape of each API's document. Lists are whole; the protocol side cuts pages. */
  v1: {
    candidate(company: Company, provenance: boolean): Json;
    lite(company: Company, provenance: boolean): Json;
    officers(company: Company, provenance: boolean): readonly Json[];
    shareholders(company: Company): readonly Json[];
    /** The source object of an envelope. */
    source(company: Company): Json;
    groupLite(company: Company): readonly Json[];
    groupFull(company: Company): readonly Json[];
    financial(company: Company): { readonly [key: string]: Json | undefined };
    full(company: Company, provenance: boolean): Json;
    /** People and holders: names can be searched because they, too, follow from the seed. */
    officerSearch(query: { readonly [key: string]: unknown }, provenance: boolean): readonly Json[];
    shareholderSearch(
      query: { readonly [key: string]: unknown },
      mode: 'lite' | 'full',
      provenance: boolean,
    ): readonly Json[];
  };
  v2: {
    candidate(company: Company): Json;
    lite(company: Company): Json;
    officers(company: Company): readonly Json[];
    shareholders(company: Company): readonly Json[];
    filedFinancials(company: Company): Json;
    /** Keyed by year; `{}` for a company without accounts. */
    flatFinancials(company: Company, year?: number): Json;
    officerSearch(query: { readonly [key: string]: unknown }): readonly Json[];
    lookupHit(company: Company): Json;
    profile(company: Company): Json;
    enriched(company: Company): Json;
    insightsHit(company: Company): Json;
    insights(company: Company): Json;
    ownership(company: Company): Json;
    reportHit(company: Company): Json;
    reportBody(company: Company): Json;
    reportHtml(company: Company): string;
    employees(company: Company): readonly Employee[];
    employeeById(id: string): Employee | undefined;
    employeeProfile(employee: Employee): Json;
    nomenclature(
      name: string,
      options: { parent?: string | undefined; country?: string | undefined },
    ): readonly NomenclatureItem[] | undefined;
  };
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

export interface Traits {
  readonly noRecord: boolean;
  /** The full record carries another registration number than the candidate. */
  readonly identityMismatch: boolean;
  readonly unknownToV2: boolean;
  readonly noCreditReport: boolean;
  readonly noRegistrationNumber: boolean;
  readonly noVatNumber: boolean;
  /** Flat financials are `{}`. */
  readonly noAccounts: boolean;
  readonly dissolved: boolean;
  /** Another company of the same register has the same name. */
  readonly namesake: boolean;
  readonly listed: boolean;
  /** About 50 KB of full record and 80 KB of flat financials. */
  readonly large: boolean;
  readonly deepGroup: boolean;
  readonly wideGroup: boolean;
  readonly idBeyond2To53: boolean;
  /** The v1 ID goes on the wire as a JSON string. */
  readonly stringId: boolean;
  readonly formulaName: boolean;
  readonly quotedName: boolean;
  /** How the lists of the full record come: with items, empty, or not at all (V1-22). */
  readonly officers: 'some' | 'empty' | 'absent';
  readonly shareholders: 'some' | 'empty' | 'absent';
  readonly groupLinks: 'some' | 'empty' | 'absent';
  readonly filedFinancials: 'some' | 'empty' | 'absent';
}
