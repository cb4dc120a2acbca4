import { readAnswer } from '../../api/answer.js';
import type { Operation } from '../../api/operation.js';
import { readable } from '../../api/schema.js';
import { lookupHit } from '../../api/v2/operations/companies.js';
import { v2Operations } from '../../api/v2/operations.js';
import type { Enquiry } from '../../domain/enquiry.js';
import { LEADS, type Lead } from '../../domain/leads.js';
import {
  autocompleteRequest,
  type HintRequest,
  linkedinRequest,
  lookupRequest,
  registryRequest,
  websiteRequest,
} from './hint-requests.js';

/** In the order in which they are listed where nothing says otherwise; the pipeline's own order counts. */
export const FALLBACKS = ['lookup', 'website', 'linkedin', 'registry', 'autocomplete'] as const;
export type Fallback = (typeof FALLBACKS)[number];

/** One way to have a registration number named, where the searches have found nobody. */
export interface FallbackStep {
  readonly operation: Operation;
  /** What it can ask by beside what a search asks by. */
  readonly follows: readonly Lead[];
  /** Undefined where the row has nothing that it could ask by. */
  readonly request: (enquiry: Enquiry) => HintRequest | undefined;
  readonly read: (body: Buffer) => readonly Named[];
}

/** What an answer says of a company it names. */
export interface Named {
  readonly name?: unknown;
  readonly registration_number?: unknown;
  readonly country_code?: unknown;
}

export const fallbackSteps: Readonly<Record<Fallback, FallbackStep>> = {
  lookup: {
    operation: v2Operations.companiesLookup,
    follows: ['lei', 'website', 'linkedin', 'phone'],
    request: lookupRequest,
    read: (body) => readable(readAnswer(v2Operations.companiesLookup, body).data ?? [], lookupHit),
  },
  website: {
    operation: v2Operations.enrichCompanyByWebsite,
    follows: ['website'],
    request: websiteRequest,
    read: (body) => [readAnswer(v2Operations.enrichCompanyByWebsite, body)],
  },
  linkedin: {
    operation: v2Operations.enrichCompanyByLinkedin,
    follows: ['linkedin'],
    request: linkedinRequest,
    read: (body) => [readAnswer(v2Operations.enrichCompanyByLinkedin, body)],
  },
  registry: {
    operation: v2Operations.enrichCompanyByRegistry,
    follows: [],
    request: registryRequest,
    read: (body) => [readAnswer(v2Operations.enrichCompanyByRegistry, body)],
  },
  autocomplete: {
    operation: v2Operations.autocomplete,
    follows: ['website', 'linkedin', 'email'],
    request: autocompleteRequest,
    read: (body) => [readAnswer(v2Operations.autocomplete, body)].flat(),
  },
};

/** The leads that a pipeline follows: columns of others are carried through, as any column. */
export const leadsFollowed = (fallback: readonly Fallback[]): readonly Lead[] =>
  LEADS.filter((lead) => fallback.some((name) => fallbackSteps[name].follows.includes(lead)));

/** The steps of a pipeline that a row has something for. */
export const stepsFor = (enquiry: Enquiry, fallback: readonly Fallback[]): readonly FallbackStep[] =>
  fallback.map((name) => fallbackSteps[name]).filter(({ request }) => request(enquiry) !== undefined);
