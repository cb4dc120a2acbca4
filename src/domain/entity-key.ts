// Keys of companies, of questions and of rows.

import type { CandidateFacts, Subject } from './candidate-grade.js';
import { comparableLead, LEADS, type Leads } from './leads.js';
import { legalFormOf, normaliseName } from './names/similarity.js';
import { comparableNumber, isUniqueInCountry } from './numbers/compare.js';
import { courtKey } from './numbers/german.js';
import { marksIn } from './numbers/number-text.js';
import { parseRegistrationNumber } from './numbers/parse.js';
import { comparableVat } from './numbers/vat.js';
import { isIsoCountry, isoAlias, plainPlace, withoutPostcode } from './places/location-codes.js';
import { resolveLocation } from './places/resolve-location.js';
import { ID_SPACES, type IdSpace } from './provider.js';
import { canBeConfirmed, type RowFields, readNumberInName, readSearchSubject } from './search-subject.js';

export interface KnownCompany {
  readonly countryCode: string | null;
  readonly registrationNumber: string | null;
  /** Texts that may name its court or state, the most exact first. */
  readonly registers?: readonly (string | null)[];
  readonly ids: Readonly<Partial<Record<IdSpace, string>>>;
}

/**
 * The key of a company in the tables: its country and number, as in `GB-11263689` or `DE-Stuttgart-HRB-1576`. A number
 * that does not identify a company on its own gives no key. Then it is the ID, as in `v1-123`. Null: nothing is known.
 */
export function companyKey(company: KnownCompany): string | null {
  const space = COMPANY_SPACES.find((one) => company.ids[one] !== undefined);
  return numberKey(company) ?? (space === undefined ? null : `${space}-${company.ids[space]}`);
}

/** A report is no company. */
const COMPANY_SPACES = ID_SPACES.filter((space) => space !== 'report');

/** The part of `companyKey` that does not depend on IDs. Undefined if another company may have the same number. */
export function numberKey({ countryCode, registrationNumber, registers = [] }: Omit<KnownCompany, 'ids'>) {
  if (countryCode === null || registrationNumber === null) return undefined;
  const code = countryCode.trim().toUpperCase();
  const country = isoAlias(code) ?? code;
  if (!isIsoCountry(country)) return undefined;
  const readings = [undefined, ...registers].map((place) =>
    parseRegistrationNumber(registrationNumber, country, place ?? undefined),
  );
  const parsed = readings.find(({ register }) => register !== undefined) ?? readings[0];
  if (parsed === undefined || parsed.canonical === null || parsed.treatment === 'review') return undefined;
  if (parsed.register === undefined && !isUniqueInCountry(registrationNumber, country)) return undefined;
  const register = parsed.register === undefined ? [] : [registerName(country, parsed.register)];
  // Comparing ignores the suffix B, which Charlottenburg puts after every number.
  const number = country === 'DE' ? parsed.canonical.replace(/ B$/, '') : parsed.canonical;
  return [country, ...register, number].join('-').replaceAll(/\s+/g, '-');
}

/** The court in a number, else the state in one of these places. */
export function registersIn(number: string, countryCode: string, places: readonly (string | null)[]) {
  const states = places.flatMap((place) => {
    const location = place === null ? undefined : resolveLocation(place);
    return location?.ok && location.countryCode === countryCode ? (location.state ?? null) : place;
  });
  return [parseRegistrationNumber(number, countryCode).register ?? null, ...states];
}

/** A court in one spelling with capitals: `Frankfurt-Am-Main`. */
const registerName = (country: string, register: string): string =>
  country === 'DE' ? courtKey(register).replaceAll(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase()) : register;

/**
 * The question of a row as one text, equal for the same company in another file and spelling. It includes the name with
 * its legal form, because a decision for a number beside one company must not settle it beside its sister. A damaged
 * number stays as written, because its repair is a guess.
 */
export function entityKey(subject: Subject): string {
  const key = keyWithoutForm(subject);
  return subject.name === undefined ? key : `${key}|form:${legalFormOf(subject.name, subject.countryCode)}`;
}

function keyWithoutForm(subject: Subject): string {
  const { countryCode } = subject;
  const name = subject.name === undefined ? '' : normaliseName(subject.name, countryCode);
  return [countryCode || (subject.locationId ?? ''), identifierOf(subject), `name:${name}`]
    .filter((part) => part !== 'name:')
    .join('|');
}

/**
 * Identifies a line of a list without its own key: the number, else the VAT number, else the ticker, in any spelling.
 * The name is used only if there is nothing else.
 */
export function memberKey(subject: Subject): string {
  const { registrationNumber, vatNumber, ticker } = subject;
  if (registrationNumber === undefined && vatNumber === undefined && ticker === undefined)
    return keyWithoutForm(subject);
  return [subject.countryCode || (subject.locationId ?? ''), identifierOf(subject)].join('|');
}

/** The key of a question, and what finds decisions of older versions on it. */
export interface QuestionKeys {
  readonly key: string;
  /** Up to version 0.2. Undefined: the key was the same. */
  readonly former?:
    | { readonly key: string; readonly covers: (decision: { readonly summary: string }) => boolean }
    | undefined;
}

/**
 * The question which company is meant in an ID space. The environment keeps v1 and v2 apart. Their keys have no prefix,
 * because they are older than the other spaces. Keys are only computed if a decision exists or is needed.
 */
export const whichCompany = (space: IdSpace, subject: Subject) => ({
  space,
  stage: null,
  get key() {
    return inSpace(space, entityKey(subject));
  },
  get former(): QuestionKeys['former'] {
    const key = inSpace(space, keyWithoutForm(subject));
    const covers = ({ summary }: { readonly summary: string }) => wasShown(subject, summary);
    return subject.name === undefined ? undefined : { key, covers };
  },
});

/**
 * Whether the person who decided saw a name with this legal form. The summary of a decision begins with that name.
 * Other rows may have shared the question. Without a summary, kybatch asks again.
 */
function wasShown({ name = '', countryCode, state }: Subject, summary: string): boolean {
  const [shown = ''] = summary.split(' · ', 1);
  const own = readNumberInName(shown, countryCode, state)?.name ?? shown;
  return own !== '' && legalFormOf(own, countryCode) === legalFormOf(name, countryCode);
}

const inSpace = (space: IdSpace, key: string): string => (space === 'v1' || space === 'v2' ? key : `${space}|${key}`);

/**
 * The difference between a confirmed candidate and a bought answer, independent of the row. `further`: other facts that
 * differ.
 */
export function recordKey(
  candidate: Pick<CandidateFacts, 'id' | 'registration_number' | 'country_code'>,
  record: Pick<CandidateFacts, 'registration_number' | 'country_code'>,
  stage = 'record',
  further: readonly (string | null)[] = [],
): string {
  const said = [candidate.country_code, candidate.registration_number, record.country_code, record.registration_number];
  return `${stage}|${candidate.id}|${JSON.stringify([...said, ...further])}`;
}

/** The value that identifies the company: the number, else the VAT number, the ticker, the leads, the place. */
export function identifierOf(subject: Subject): string {
  const { countryCode, registrationNumber: number, vatNumber: vat, ticker } = subject;
  if (number !== undefined) {
    const text = number.treatment === 'review' ? number.raw : (number.canonical ?? number.raw);
    const register = registerKey(countryCode, number.register);
    const kind = number.treatment === 'review' ? 'damaged-number' : 'number';
    // The answer for `236?4` does not apply to `2364?`.
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

/** All leads: an answer for a website must not settle it beside another LEI. */
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
 * A person may answer a question with the right registration number. It is stored as "none of these" with the number
 * instead of a candidate. Code that does not handle corrections then reads that no candidate fits.
 */
interface Answer {
  readonly decision: string;
  readonly candidateId: string | null;
}

const PREFIX = 'number:';

export const asCorrection = (number: string): string => `${PREFIX}${number.trim()}`;

/** The number to search for instead of the row's own. Undefined if the answer is not a correction. */
export const correctedNumber = ({ decision, candidateId }: Answer): string | undefined =>
  decision === 'none_of_these' && candidateId?.startsWith(PREFIX) === true
    ? candidateId.slice(PREFIX.length)
    : undefined;

export function withNumber({ taxInNumber: _, ...subject }: Subject, number: string): Subject {
  return { ...subject, registrationNumber: parseRegistrationNumber(number, subject.countryCode, subject.state) };
}

/** A number that a person gave instead of the row's own. `key`: of the question that it answers. */
export interface Correction {
  readonly key: string;
  readonly number: string;
  readonly decidedBy: string;
  readonly secondBy: string | null;
}

export type FindCorrection = (question: QuestionKeys) => Correction | undefined;

/** A row as it is searched, and the question that this may raise. `before`: the correction that gave its number. */
interface CorrectedRow {
  readonly subject: Subject;
  readonly question: QuestionKeys;
  readonly before?: Correction;
}

/** The row with its own number, then with each number that a person gave instead. A correction may be corrected. */
export function* followCorrections(space: IdSpace, own: Subject, find: FindCorrection): Generator<CorrectedRow> {
  let row: CorrectedRow = { subject: own, question: whichCompany(space, own) };
  // Two numbers corrected to each other would never end.
  for (let times = 0; times < CORRECTIONS_AT_MOST; times++) {
    yield row;
    const before = find(row.question);
    if (before === undefined) return;
    const subject = withNumber(row.subject, before.number);
    row = { subject, question: whichCompany(space, subject), before };
  }
  yield row;
}

const CORRECTIONS_AT_MOST = 5;

/** Why a number cannot be searched for instead of the row's own. Undefined if it can. `before`: the last correction. */
export function correctionProblem(
  number: string,
  countryCode: string | null,
  row: RowFields,
  before?: string,
): string | undefined {
  const parsed = parseRegistrationNumber(number, countryCode ?? '');
  const { canonical, reason, treatment } = parsed;
  if (canonical === null || !/\d/.test(canonical))
    return reason ?? `"${number}" cannot be read as a registration number`;
  // The next run would only ask again.
  if (treatment === 'review' && reason !== undefined && parsed.lacksCourt !== true)
    return parsed.valid === 'no'
      ? `${reason}. If the number is right, correct the country of the row in the list`
      : reason;
  if (parsed.lacksCourt === true && !isFoundWithoutCourt(number, row))
    return `the register court is missing. Write it too, as in "Köln ${canonical}"`;
  const known = numberInRow(row, before);
  if (known === undefined) return undefined;
  const given = { ...known.subject, registrationNumber: parsed };
  // The next search would raise the same question. A place that names the court says as much as the court.
  const keyOf = (registrationNumber: string, registers: readonly (string | null)[] = []) =>
    numberKey({ countryCode, registrationNumber, registers });
  const isSame =
    known.text.trim() === number.trim() ||
    identifierOf(given) === identifierOf(known.subject) ||
    (keyOf(number) !== undefined &&
      keyOf(number) === keyOf(known.text, [withoutPostcode(row.city ?? '') || null, row.state ?? null]));
  return isSame ? `the row already has this number, written "${known.text}"` : undefined;
}

function numberInRow(row: RowFields, before: string | undefined) {
  const text = before ?? row.registration_number;
  const reading = readSearchSubject(row);
  if (text === undefined || !reading.ok) return undefined;
  const { subject } = reading.enquiry;
  return { text, subject: before === undefined ? subject : withNumber(subject, before) };
}

/** The row names the court, or its name and place may tell which court is meant. */
function isFoundWithoutCourt(number: string, row: RowFields): boolean {
  const reading = readSearchSubject(row);
  return reading.ok && canBeConfirmed(withNumber(reading.enquiry.subject, number));
}
