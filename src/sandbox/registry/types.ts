// Types of the synthetic registry.

import type { Json } from '../json.js';

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

/** The data of the provider. The handlers (auth, limits, faults, routes) never generate data. */
export interface Registry {
  readonly seed: number;
  readonly size: number;
  readonly countries: readonly string[];
  company(index: number): Company;
  byV1Id(id: string): Company | undefined;
  byV2Id(id: string): Company | undefined;
  bySourceId(id: string): Company | undefined;
  /** At most `limit` candidates, best first by the provider's ranking, which is sometimes wrong. */
  search(query: SearchQuery, kind: SearchKind, limit?: number): readonly Company[];
  /** Whether the nomenclature has the location: `GB`, `US-CA`, `1_44`. */
  knowsLocation(location: string): boolean;

  /** Special traits of a company, so that tests and samples can find one of each kind. */
  traits(company: Company): Traits;
  /** False: v1 detail operations answer DATA_SERVICE_404, although the search finds the company. */
  hasRecord(company: Company): boolean;
  /** False: the v2 search leaves the company out, and `byV2Id` finds nothing. */
  inV2(company: Company): boolean;
  /** False: the report search leaves the company out, and `bySourceId` finds nothing. */
  hasCreditReport(company: Company): boolean;
  facts(company: Company): Profile;
  /** The legal entity identifier, or null. No body shows it. */
  lei(company: Company): string | null;
  byLei(lei: string): Company | undefined;
  /** Changes the register. Both APIs show the change from now on. */
  change(company: Company, field: string, value: string | null): void;
  /** The number of changes so far. */
  readonly revision: number;
  /** The ID of the company's status in the company-status nomenclature: 106, 108 or 1615. */
  statusId(company: Company): number;

  /** Bodies, in the shape of each API's document. Lists are complete, and the caller cuts pages. */
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
    /** Officers and holders can be searched by name, because the names follow from the seed. */
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
    /** Keyed by year, and `{}` for a company without accounts. */
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
  /** The full record has another registration number than the candidate. */
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
  /** The v1 ID is sent as a JSON string. */
  readonly stringId: boolean;
  readonly formulaName: boolean;
  readonly quotedName: boolean;
  /** Whether a list of the full record has items, is empty, or is absent (V1-22). */
  readonly officers: 'some' | 'empty' | 'absent';
  readonly shareholders: 'some' | 'empty' | 'absent';
  readonly groupLinks: 'some' | 'empty' | 'absent';
  readonly filedFinancials: 'some' | 'empty' | 'absent';
}
