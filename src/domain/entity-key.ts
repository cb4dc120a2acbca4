import type { CandidateFacts, Subject } from './grade.js';
import { comparableLead, LEADS, type Leads } from './leads.js';
import { normaliseName } from './names/similarity.js';
import { comparableNumber } from './numbers/compare.js';
import { courtKey, lacksCourt } from './numbers/german.js';
import { marksIn } from './numbers/number-text.js';
import { parseRegistrationNumber } from './numbers/parse.js';
import { comparableVat } from './numbers/vat.js';
import { plainPlace } from './places/location-codes.js';
import type { IdSpace } from './provider.js';

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
    const written = marksIn(text) === undefined ? comparableNumber(text, countryCode) : text.toUpperCase();
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

/**
 * A person may answer a question with the registration number that the row should have. It is kept as "none of these", with
 * the number in the place of the candidate: whoever does not know of corrections reads that no candidate was meant.
 */
interface Answer {
  readonly decision: string;
  readonly candidateId: string | null;
}

const PREFIX = 'number:';

export const asCorrection = (number: string): string => `${PREFIX}${number.trim()}`;

/** The number to search for instead of the row's own; undefined if the answer is no correction. */
export const correctedNumber = ({ decision, candidateId }: Answer): string | undefined =>
  decision === 'none_of_these' && candidateId?.startsWith(PREFIX) === true
    ? candidateId.slice(PREFIX.length)
    : undefined;

/** Why a number cannot be searched for; undefined if it can. */
export function correctionProblem(number: string, countryCode: string | null, given = ''): string | undefined {
  const parsed = parseRegistrationNumber(number, countryCode ?? '');
  const { canonical, reason, treatment } = parsed;
  if (canonical === null || !/\d/.test(canonical))
    return reason ?? `"${number}" cannot be read as a registration number`;
  // The next run would only ask again. A missing court is no defect of the number: name and place may tell it.
  if (treatment === 'review' && reason !== undefined && !lacksCourt(parsed)) return reason;
  if (number.trim() === given.trim()) return `"${number}" is the number that the row has already`;
  return undefined;
}
