/**
 * Where an ID counts. The provider's documents do not say that any two of these share IDs, so each is confirmed on its
 * own (V2-4, V2-18). All but `report` name companies; a report is found through the company of the space `credit`. The
 * ownership module has no IDs: it is asked by number, and the number is what stands for the company there (V2-22).
 */
export const ID_SPACES = ['v1', 'v2', 'companies', 'employees', 'insights', 'credit', 'ownership', 'report'] as const;
export type IdSpace = (typeof ID_SPACES)[number];

export interface IdSpaceFacts {
  readonly api: 'v1' | 'v2';
  /** The column that carries its IDs in every table. */
  readonly column: string;
  readonly description: string;
  /** What a question about it is about, for people. */
  readonly words: string;
}

export const idSpaces: Readonly<Record<IdSpace, IdSpaceFacts>> = {
  v1: {
    api: 'v1',
    column: 'v1_company_id',
    description: 'The confirmed company in v1’s ID space',
    words: 'company (v1)',
  },
  v2: {
    api: 'v2',
    column: 'v2_company_id',
    description: 'The confirmed company in v2’s ID space',
    words: 'company (v2)',
  },
  companies: {
    api: 'v2',
    column: 'companies_id',
    description: 'The company in the ID space of the companies module',
    words: 'company (companies module)',
  },
  employees: {
    api: 'v2',
    column: 'employees_company_id',
    description: 'The company in the ID space of the employees module',
    words: 'company (employees module)',
  },
  insights: {
    api: 'v2',
    column: 'insights_id',
    description: 'The company in the ID space of digital insights',
    words: 'company (digital insights)',
  },
  credit: {
    api: 'v2',
    column: 'credit_source_id',
    description: 'The company in the ID space of credit reports',
    words: 'credit report',
  },
  ownership: {
    api: 'v2',
    column: 'ownership_number',
    description: 'The number under which the ownership module has the company',
    words: 'ownership',
  },
  report: { api: 'v2', column: 'credit_report_id', description: 'The credit report', words: 'credit report' },
};

/** Whose searches say most about a company, first to last: an account may have any of them, and none is sure to be there. */
export const INFORMATIVE_SPACES: readonly IdSpace[] = ['v1', 'v2', 'companies'];

/** Spaces whose IDs an account manager may have said are the same. */
export const SHAREABLE_SPACES = [
  'v1',
  'v2',
  'companies',
  'employees',
  'insights',
  'credit',
] as const satisfies readonly IdSpace[];

/** Another space whose ID is this one's, too, of those that are known or will be. */
export const spaceWithSameId = (
  space: IdSpace,
  shared: readonly IdSpace[],
  has: (other: IdSpace) => boolean,
): IdSpace | undefined => (shared.includes(space) ? shared.find((other) => other !== space && has(other)) : undefined);

/** The APIs that rows are worked on with. */
export type BatchApi = 'v1' | 'v2';

/** Whose operation it is. `mcp`: the connector server, whose tools are called by hand only. */
export type ApiName = BatchApi | 'mcp';

/** Something for each API; a run has nothing to do with the connector server. */
export type ByApi<T> = Readonly<Record<BatchApi, T>> & { readonly mcp?: T };

/**
 * What a call costs, and how that is known.
 *
 * - `unit`: v1. One unit a success, or more where the headers say so; a failure is free (V1-1).
 * - `report`: one credit report. After any failure the charge is unknown, and it is not repeated without a look (V2-17).
 * - `not_told`: the rest of v2. The document gives no prices: a success counts as charged, a failure is unknown.
 * - `free`: what the document says, or lets us take, to cost nothing: re-opening a report, asking how things stand.
 */
export type Meter = 'unit' | 'report' | 'not_told' | 'free';

/** Pages of companies that fit filters: the document's maximum (V2-10). */
export const PAGES_AT_MOST = 10;
