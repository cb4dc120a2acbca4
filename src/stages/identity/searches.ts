// Plans which searches to buy for a row, and which other operations to ask if no search finds it.

import { readAnswer } from '../../api/answer.js';
import type { Operation } from '../../api/operation.js';
import { readable } from '../../api/schema.js';
import { LOOKUP_PER_PAGE, lookupHit } from '../../api/v2/operations/companies.js';
import { v2Operations } from '../../api/v2/operations.js';
import { numberInVat, type Subject } from '../../domain/candidate-grade.js';
import { compactLei, isCheckedLei, LEADS, type Lead } from '../../domain/leads.js';
import { subdivisionCode } from '../../domain/places/location-codes.js';
import type { SearchSubject } from '../../domain/search-subject.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import type { Params } from '../stage.js';

export interface SearchPolicy {
  readonly attempts: number;
  readonly order: readonly ('registration_number' | 'vat_number' | 'name')[];
  readonly furtherSpellings: boolean;
  readonly fallback: readonly Fallback[];
}

/** One search: a location and one value. */
export type Search = Readonly<Record<string, string>>;

export interface Searches {
  /** Searches that may be bought, in order: each costs a unit, found or not. */
  readonly bought: readonly Search[];
  /** Searches that are only used if they are stored. Most rows never need them. */
  readonly ifStored: () => readonly Search[];
}

/**
 * The searches in order: each key in the policy's order, then further spellings of the number. A VAT number or a name
 * also finds the company if the row's number is mistyped. Another spelling does not. Never more is bought than the
 * policy allows.
 */
export function planSearches(enquiry: SearchSubject, policy: SearchPolicy): Searches {
  const bought = searchesBy(enquiry, policy.order, policy.furtherSpellings).slice(0, policy.attempts);
  const ifStored = () => {
    const known = new Set(bought.map(identityOf));
    return searchesBy(enquiry, KEYS, true).filter((search) => !known.has(identityOf(search)));
  };
  return { bought, ifStored };
}

/** The beginning of the message part that lists the searches. */
export const SEARCHED_BY = /[.;] searched by /i;

/** The values searched by, the values not used, and the pipeline key that would change that. */
export function searchedInWords(
  enquiry: SearchSubject,
  { attempts, order }: SearchPolicy,
  sent: readonly Search[],
): string {
  if (sent.length === 0) return '';
  const tried = KEYS.filter((key) => sent.some((search) => search[key] !== undefined));
  const untried = KEYS.filter((key) => !tried.includes(key) && textsFor(key, enquiry.subject).length > 0);
  const why = (key: SearchKey) =>
    order.includes(key) ? `search.attempts is ${attempts}` : 'it is not in search.order of the pipeline';
  const words = tried.length === 0 ? ['ticker'] : tried.map((key) => KEY_WORDS[key]);
  return [
    `. Searched by ${words.join(', ')}`,
    ...untried.map((key) => `Not searched by ${KEY_WORDS[key]}: ${why(key)}`),
  ].join('. ');
}

type SearchKey = SearchPolicy['order'][number];

const KEY_WORDS: Readonly<Record<SearchKey, string>> = {
  registration_number: 'registration number',
  vat_number: 'VAT number',
  name: 'name',
};

export const asksAnything = ({ subject }: SearchSubject, { order }: SearchPolicy): boolean =>
  subject.ticker !== undefined || order.some((key) => textsFor(key, subject).length > 0);

const KEYS: SearchPolicy['order'] = ['registration_number', 'vat_number', 'name'];

const identityOf = (search: Search): string => JSON.stringify(search);

const isVat = (key: SearchPolicy['order'][number]): boolean => key === 'vat_number';

function searchesBy(
  { subject, location }: SearchSubject,
  order: SearchPolicy['order'],
  furtherSpellings: boolean,
): readonly Search[] {
  // A tax number in the number's column finds its company as a VAT number, if at all.
  const keys = subject.taxInNumber === true ? [...order].sort((a, b) => Number(isVat(b)) - Number(isVat(a))) : order;
  const planned: Search[] = [];
  const further: Search[] = [];
  const { registrationNumber: own } = subject;
  for (const key of keys) {
    const [best, ...others] = textsFor(key, subject);
    // The same number was already searched as a registration number: a name finds more.
    const isAsked = isVat(key) && own === undefined && planned.some((search) => 'registration_number' in search);
    if (best !== undefined) (isAsked ? further : planned).push({ location, [key]: best });
    if (furtherSpellings) further.push(...others.map((text) => ({ location, [key]: text })));
  }
  planned.push(...further);
  return planned.length === 0 && subject.ticker !== undefined ? [{ location, ticker: subject.ticker }] : planned;
}

/** The texts to search for by this key, the best first. */
function textsFor(
  key: SearchPolicy['order'][number],
  { registrationNumber, vatNumber, name, countryCode }: Subject,
): readonly string[] {
  switch (key) {
    case 'registration_number':
      // If the provider has no VAT number of the company, the registration number inside it may find it.
      if (registrationNumber === undefined)
        return (vatNumber && numberInVat(vatNumber, countryCode)?.spellings.slice(0, 1)) ?? [];
      // Every register number has a digit: a search for a word costs the same and finds nothing.
      return registrationNumber?.canonical != null && /\d/.test(registrationNumber.canonical)
        ? registrationNumber.spellings
        : [];
    case 'vat_number':
      return vatNumber?.canonical == null ? [] : [vatNumber.canonical];
    case 'name':
      return name === undefined ? [] : [name];
  }
}

/** The default order. The pipeline's own order overrides it. */
export const FALLBACKS = ['lookup', 'website', 'linkedin', 'registry', 'autocomplete'] as const;
export type Fallback = (typeof FALLBACKS)[number];

export interface FallbackStep {
  readonly operation: Operation;
  /** The leads it can use in addition to the search keys. */
  readonly follows: readonly Lead[];
  /** Undefined if the row has nothing to ask by. */
  readonly request: (enquiry: SearchSubject) => HintRequest | undefined;
  readonly read: (body: Buffer) => readonly CompanyInAnswer[];
}

export interface CompanyInAnswer {
  readonly name?: unknown;
  readonly registration_number?: unknown;
  readonly country_code?: unknown;
}

const websiteRequest = ({ subject: { leads } }: SearchSubject): HintRequest | undefined =>
  hintRequest(leads?.website && { url: leads.website }, `the website ${shown(leads?.website)}`);

const linkedinRequest = ({ subject: { leads } }: SearchSubject): HintRequest | undefined =>
  hintRequest(leads?.linkedin && { linkedin: leads.linkedin }, `the LinkedIn address ${shown(leads?.linkedin)}`);

const hintRequest = (params: Params | '' | undefined, source: string, forName = false): HintRequest | undefined =>
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

export const stepsFor = (enquiry: SearchSubject, fallback: readonly Fallback[]): readonly FallbackStep[] =>
  fallback.map((name) => fallbackSteps[name]).filter(({ request }) => request(enquiry) !== undefined);

export interface HintRequest {
  readonly params: Params;
  /** The source of a named number, in words. */
  readonly source: string;
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
    (isSound ? hintRequest(lei, `the LEI ${lei?.lei_number}`) : undefined) ??
    hintRequest(leads.website && { website: leads.website }, `the website ${shown(leads.website)}`) ??
    hintRequest(leads.linkedin && { url: leads.linkedin }, `the LinkedIn address ${shown(leads.linkedin)}`) ??
    hintRequest(leads.phone && { phone_number: leads.phone }, 'the phone number of the row') ??
    hintRequest(lei, `the LEI ${shown(lei?.lei_number)}, whose check digits fail,`) ??
    hintByNumber(subject) ??
    hintRequest(name && { name }, `the name ${shown(name)}`, true);
  if (by === undefined) return undefined;
  return { ...by, params: { ...placeOf(subject), ...by.params, per_page: LOOKUP_PER_PAGE } };
}

/** The country is required, and in the US also the state. */
export function registryRequest({ subject }: SearchSubject): HintRequest | undefined {
  const by = hintByNumber(subject);
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
    const by = hintByNumber(subject);
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

function hintByNumber({ registrationNumber, vatNumber }: Subject): HintRequest | undefined {
  const number = registrationNumber?.canonical ?? undefined;
  const vat = vatNumber?.canonical ?? undefined;
  return (
    hintRequest(number && { registration_number: number }, `the row’s own number ${shown(number)}`) ??
    hintRequest(vat && { vat_number: vat }, `the VAT number ${shown(vat)}`)
  );
}

/** The state in the documented form: two letters, for the US only. */
function placeOf({ countryCode, state }: Subject): { readonly country_code?: string; readonly state?: string } {
  if (countryCode === '') return {};
  const code = countryCode !== 'US' || state === undefined ? undefined : subdivisionCode('US', state);
  return { country_code: countryCode, ...(code === undefined ? {} : { state: code }) };
}
