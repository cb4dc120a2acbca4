import type { CandidateFacts, Subject } from './grade.js';
import type { IdSpace } from './id-spaces.js';
import { comparableLead, LEADS, type Leads } from './leads.js';
import { normaliseName } from './names.js';
import { comparable } from './numbers/compare.js';
import { courtKey } from './numbers/german.js';
import { marksIn } from './numbers/marks.js';
import { plainPlace } from './subdivisions.js';
import { comparableVat } from './vat.js';

/**
 * The question that a row asks, in one text: the same for the same company in another file, however it is spelled.
 * The name is part of it: an answer given for a number beside one name must not settle the same number beside
 * another name. A damaged number stands as written, because its repaired form is a guess.
 */
export function entityKey(subject: Subject): string {
  const { countryCode } = subject;
  const name = subject.name === undefined ? '' : normaliseName(subject.name, countryCode);
  return [countryCode || (subject.locationId ?? ''), identifierOf(subject), `name:${name}`]
    .filter((part) => part !== 'name:')
    .join('|');
}

/**
 * What a line of a list is known again by where it has no key of its own: the number, else the VAT number, else the
 * ticker, however they are spelled; the name only where there is nothing else.
 */
export function companyKey(subject: Subject): string {
  const { registrationNumber, vatNumber, ticker } = subject;
  if (registrationNumber === undefined && vatNumber === undefined && ticker === undefined) return entityKey(subject);
  return [subject.countryCode || (subject.locationId ?? ''), identifierOf(subject)].join('|');
}

/**
 * The question which company is meant in a space. v1 and v2 are kept apart by their environments, and had keys without
 * a prefix before there were other spaces.
 */
export const questionKey = (space: IdSpace, subject: Subject): string =>
  space === 'v1' || space === 'v2' ? entityKey(subject) : `${space}|${entityKey(subject)}`;

/** The difference between a confirmed candidate and the answer that a stage has bought, whichever row led there. */
export function recordKey(
  candidate: Pick<CandidateFacts, 'id' | 'registration_number' | 'country_code'>,
  record: Pick<CandidateFacts, 'registration_number' | 'country_code'>,
  stage = 'record',
): string {
  const said = [candidate.country_code, candidate.registration_number, record.country_code, record.registration_number];
  return `${stage}|${candidate.id}|${JSON.stringify(said)}`;
}

/** What identifies the company: the number, else the VAT number, the ticker, the leads, the place. */
export function identifierOf(subject: Subject): string {
  const { countryCode, registrationNumber: number, vatNumber: vat, ticker } = subject;
  if (number !== undefined) {
    const text = number.treatment === 'review' ? number.raw : (number.canonical ?? number.raw);
    const register = registerKey(countryCode, number.register);
    const kind = number.treatment === 'review' ? 'damaged-number' : 'number';
    // The answer for `236?4` is none for `2364?`.
    const written = marksIn(text) === undefined ? comparable(text, countryCode) : text.toUpperCase();
    return `${kind}:${written}${register}`;
  }
  if (vat !== undefined)
    return `vat:${comparableVat(vat.treatment === 'review' ? vat.raw : (vat.canonical ?? vat.raw), countryCode)}`;
  if (ticker !== undefined) return `ticker:${ticker.trim().toUpperCase()}`;
  if (subject.name === undefined && subject.leads !== undefined) return leadsKey(subject.leads);
  const place = [subject.state, subject.city].map((text) => plainPlace(text ?? '')).filter((text) => text !== '');
  return `place:${place.join(',')}`;
}

/** All of them: an answer given for a website must not settle it beside another LEI. */
const leadsKey = (leads: Leads): string =>
  LEADS.flatMap((lead) => {
    const text = leads[lead];
    return text === undefined ? [] : [`${lead}:${comparableLead(lead, text)}`];
  }).join(',');

function registerKey(countryCode: string, register: string | undefined): string {
  if (register === undefined) return '';
  return `@${countryCode === 'DE' ? courtKey(register) : register}`;
}
