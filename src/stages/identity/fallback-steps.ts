import { readAnswer } from '../../api/answer.js';
import type { Operation } from '../../api/operation.js';
import { readable } from '../../api/schema.js';
import { LOOKUP_PER_PAGE, lookupHit } from '../../api/v2/operations/companies.js';
import { v2Operations } from '../../api/v2/operations.js';
import type { Subject } from '../../domain/grade.js';
import { compactLei, isCheckedLei, LEADS, type Lead } from '../../domain/leads.js';
import { subdivisionCode } from '../../domain/places/location-codes.js';
import type { SearchSubject } from '../../domain/search-subject.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import type { Params } from '../stage.js';

/** The default order. The pipeline's own order overrides it. */
export const FALLBACKS = ['lookup', 'website', 'linkedin', 'registry', 'autocomplete'] as const;
export type Fallback = (typeof FALLBACKS)[number];

/** One way to get a registration number if the searches found nothing. */
export interface FallbackStep {
  readonly operation: Operation;
  /** The leads it can use in addition to the search keys. */
  readonly follows: readonly Lead[];
  /** Undefined if the row has nothing to ask by. */
  readonly request: (enquiry: SearchSubject) => HintRequest | undefined;
  readonly read: (body: Buffer) => readonly CompanyInAnswer[];
}

/** The facts of a company named in an answer. */
export interface CompanyInAnswer {
  readonly name?: unknown;
  readonly registration_number?: unknown;
  readonly country_code?: unknown;
}

const websiteRequest = ({ subject: { leads } }: SearchSubject): HintRequest | undefined =>
  asked(leads?.website && { url: leads.website }, `the website ${shown(leads?.website)}`);

const linkedinRequest = ({ subject: { leads } }: SearchSubject): HintRequest | undefined =>
  asked(leads?.linkedin && { linkedin: leads.linkedin }, `the LinkedIn address ${shown(leads?.linkedin)}`);

const asked = (params: Params | '' | undefined, source: string, forName = false): HintRequest | undefined =>
  params === undefined || params === '' ? undefined : { params, source, forName };

const shown = (text: string | undefined): string => sanitizeText(text ?? '', 120);

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

/** The leads that a pipeline uses: other columns are only carried through. */
export const leadsFollowed = (fallback: readonly Fallback[]): readonly Lead[] =>
  LEADS.filter((lead) => fallback.some((name) => fallbackSteps[name].follows.includes(lead)));

/** The steps of a pipeline that this row can use. */
export const stepsFor = (enquiry: SearchSubject, fallback: readonly Fallback[]): readonly FallbackStep[] =>
  fallback.map((name) => fallbackSteps[name]).filter(({ request }) => request(enquiry) !== undefined);

export interface HintRequest {
  readonly params: Params;
  /** The source of a named number, in words. */
  readonly source: string;
  /** It asks only by name. */
  readonly forName: boolean;
}

/**
 * One request by the most specific value. Values that the searches could not use come first, because the number, the
 * VAT number and the name found nothing. Several values at once only find a company that fits all. An LEI with wrong
 * check digits is probably mistyped and comes last of the leads.
 */
export function lookupRequest({ subject }: SearchSubject): HintRequest | undefined {
  const { leads = {}, name } = subject;
  const lei = leads.lei === undefined ? undefined : { lei_number: compactLei(leads.lei) };
  const isSound = leads.lei !== undefined && isCheckedLei(leads.lei);
  const by =
    (isSound ? asked(lei, `the LEI ${lei?.lei_number}`) : undefined) ??
    asked(leads.website && { website: leads.website }, `the website ${shown(leads.website)}`) ??
    asked(leads.linkedin && { url: leads.linkedin }, `the LinkedIn address ${shown(leads.linkedin)}`) ??
    asked(leads.phone && { phone_number: leads.phone }, 'the phone number of the row') ??
    asked(lei, `the LEI ${shown(lei?.lei_number)}, whose check digits fail,`) ??
    askedByNumber(subject) ??
    asked(name && { name }, `the name ${shown(name)}`, true);
  if (by === undefined) return undefined;
  return { ...by, params: { ...placeOf(subject), ...by.params, per_page: LOOKUP_PER_PAGE } };
}

/** The country is required, and in the US also the state. */
export function registryRequest({ subject }: SearchSubject): HintRequest | undefined {
  const by = askedByNumber(subject);
  const place = placeOf(subject);
  if (by === undefined || place.country_code === undefined) return undefined;
  if (place.country_code === 'US' && place.state === undefined) return undefined;
  return { ...by, params: { ...place, ...by.params } };
}

/**
 * All values that describe the company, except the numbers that found nothing: those go alone if there is nothing else.
 * A country needs a name, number, VAT number or website beside it. An e-mail or LinkedIn address is not enough (V2-10).
 */
export function autocompleteRequest({ subject }: SearchSubject): HintRequest | undefined {
  const { name, leads = {} } = subject;
  const { website, email, linkedin } = leads;
  const country = subject.countryCode === '' ? {} : { country_code: subject.countryCode };
  const given = {
    ...(name === undefined ? {} : { name }),
    ...(website === undefined ? {} : { website }),
    ...(email === undefined ? {} : { email }),
    ...(linkedin === undefined ? {} : { url: linkedin }),
  };
  if (Object.keys(given).length === 0) {
    const by = askedByNumber(subject);
    return by && { ...by, params: { ...country, ...by.params } };
  }
  const isPartner = name !== undefined || website !== undefined;
  const source = [
    ...(website === undefined ? [] : [`the website ${shown(website)}`]),
    ...(linkedin === undefined ? [] : [`the LinkedIn address ${shown(linkedin)}`]),
    ...(email === undefined ? [] : ['the e-mail address of the row']),
    ...(name === undefined ? [] : [`the name ${shown(name)}`]),
  ].join(' with ');
  const forName = website === undefined && linkedin === undefined && email === undefined;
  return { params: { ...(isPartner ? country : {}), ...given }, source, forName };
}

function askedByNumber({ registrationNumber, vatNumber }: Subject): HintRequest | undefined {
  const number = registrationNumber?.canonical ?? undefined;
  const vat = vatNumber?.canonical ?? undefined;
  return (
    asked(number && { registration_number: number }, `the row’s own number ${shown(number)}`) ??
    asked(vat && { vat_number: vat }, `the VAT number ${shown(vat)}`)
  );
}

/** The state in the documented form: two letters, for the US only. */
function placeOf({ countryCode, state }: Subject): { readonly country_code?: string; readonly state?: string } {
  if (countryCode === '') return {};
  const code = countryCode !== 'US' || state === undefined ? undefined : subdivisionCode('US', state);
  return { country_code: countryCode, ...(code === undefined ? {} : { state: code }) };
}
