// The provider's APIs, ID spaces and prices.

/**
 * The spaces of the provider's IDs. No document says that two of them share IDs, so each is confirmed separately (V2-4,
 * V2-18). All but `report` identify companies. A report is found through the company in the space `credit`. The
 * ownership module has no IDs, so the registration number identifies the company there (V2-22).
 */
export const ID_SPACES = ['v1', 'v2', 'companies', 'employees', 'insights', 'credit', 'ownership', 'report'] as const;
export type IdSpace = (typeof ID_SPACES)[number];

export interface IdSpaceFacts {
  readonly api: 'v1' | 'v2';
  readonly column: string;
  readonly description: string;
  /** The search that asks its questions, for people. */
  readonly words: string;
}

export const idSpaces: Readonly<Record<IdSpace, IdSpaceFacts>> = {
  v1: {
    api: 'v1',
    column: 'v1_company_id',
    description: 'The confirmed company in v1’s ID space',
    words: 'company search (v1)',
  },
  v2: {
    api: 'v2',
    column: 'v2_company_id',
    description: 'The confirmed company in v2’s ID space',
    words: 'company search (v2)',
  },
  companies: {
    api: 'v2',
    column: 'companies_id',
    description: 'The company in the ID space of the companies module',
    words: 'companies module',
  },
  employees: {
    api: 'v2',
    column: 'employees_company_id',
    description: 'The company in the ID space of the employees module',
    words: 'employees module',
  },
  insights: {
    api: 'v2',
    column: 'insights_id',
    description: 'The company in the ID space of digital insights',
    words: 'digital insights',
  },
  credit: {
    api: 'v2',
    column: 'credit_source_id',
    description: 'The company in the ID space of credit reports',
    words: 'credit report search',
  },
  ownership: {
    api: 'v2',
    column: 'ownership_number',
    description: 'The number under which the ownership module has the company',
    words: 'ownership',
  },
  report: { api: 'v2', column: 'credit_report_id', description: 'The credit report', words: 'credit report' },
};

/** Spaces whose searches return most about a company, best first. An account may lack any of them. */
export const INFORMATIVE_SPACES: readonly IdSpace[] = ['v1', 'v2', 'companies'];

/** Spaces whose IDs an account manager may confirm to be the same. */
export const SHAREABLE_SPACES = [
  'v1',
  'v2',
  'companies',
  'employees',
  'insights',
  'credit',
] as const satisfies readonly IdSpace[];

/** Another known or future space that shares this one's ID. */
export const spaceWithSameId = (
  space: IdSpace,
  shared: readonly IdSpace[],
  has: (other: IdSpace) => boolean,
): IdSpace | undefined => (shared.includes(space) ? shared.find((other) => other !== space && has(other)) : undefined);

export type BatchApi = 'v1' | 'v2';

/** The API of an operation. `mcp`: the MCP server, whose tools are only called manually. */
export type ApiName = BatchApi | 'mcp';

/** A value for each API. Runs do not use the MCP server. */
export type ByApi<T> = Readonly<Record<BatchApi, T>> & { readonly mcp?: T };

/**
 * The price of a call, and how it is known.
 *
 * - `unit`: v1. One unit per success, or more if the headers say so. A failure is free (V1-1).
 * - `report`: one credit report. After any failure the charge is unknown, and the call is not repeated without a check
 *   (V2-17).
 * - `not_told`: the rest of v2. The document gives no prices: a success counts as charged, a failure as unknown.
 * - `free`: documented or assumed to be free, such as opening a report again or asking for a status.
 */
export type Meter = 'unit' | 'report' | 'not_told' | 'free';

/** The most pages of a filtered company search: the document's maximum (V2-10). */
export const PAGES_AT_MOST = 10;
