// Decides which candidate a row is confirmed as.

import { sanitizeText } from '../util/sanitize-text.js';
import type { CandidateFacts, Graded, MatchedOn, Subject } from './candidate-grade.js';
import { NAME_AGREEMENT, nameSimilarity, normaliseName } from './names/similarity.js';
import { lacksRegister, matchNumber } from './numbers/compare.js';
import { checkDigitCatchesTypos } from './numbers/country-formats.js';

export interface MatchPolicy {
  /** The score from which names agree. Names support a number, but never confirm alone. */
  readonly nameAgreement: number;
  /** Confirm a row without registration number by its VAT number, if the name agrees. */
  readonly confirmOnVat: boolean;
  /** Confirm a repaired number. If false, every repair is a review question. */
  readonly confirmRepaired: boolean;
  /**
   * Confirm a number with neither name nor VAT number beside it. One wrong digit is another company's number.
   * `with_checksum` confirms if the check digit excludes that, `never` always asks.
   */
  readonly confirmNumberAlone: 'always' | 'with_checksum' | 'never';
  /** Different legal forms beside an equal number: a review question, or a note in the reason. */
  readonly legalForm: 'review' | 'note';
}

export const defaultMatchPolicy: MatchPolicy = {
  nameAgreement: NAME_AGREEMENT,
  confirmOnVat: true,
  confirmRepaired: true,
  confirmNumberAlone: 'always',
  legalForm: 'review',
};

export type ReviewReason =
  | 'number_unreadable'
  | 'number_alone'
  | 'several_candidates'
  | 'name_conflict'
  | 'name_needed'
  | 'number_conflict'
  | 'country_conflict'
  | 'vat_conflict'
  | 'legal_form_differs'
  | 'candidate_without_number'
  | 'contradictory_candidate'
  | 'repaired_number'
  | 'vat_only'
  | 'ticker_only'
  | 'name_only'
  | 'hint_only';

export type NoMatchReason = 'no_candidates' | 'no_candidate_with_number' | 'no_candidate_with_vat_number';

export interface GradedCandidate {
  readonly candidate: CandidateFacts;
  readonly graded: Graded;
}

export type Decision =
  | {
      readonly kind: 'confirmed';
      readonly candidate: CandidateFacts;
      readonly matchedOn: MatchedOn;
      readonly grade: string;
      readonly evidence: readonly string[];
    }
  | {
      readonly kind: 'needs_review';
      readonly reason: ReviewReason;
      readonly message: string;
      /** The grade of the one candidate. Undefined if there are several or none. */
      readonly grade: string | undefined;
    }
  | { readonly kind: 'no_match'; readonly reason: NoMatchReason };

/**
 * Confirms at most one candidate. The number (or else the VAT number) must identify it in the right country, and
 * nothing may contradict. Any other possible candidate is a review question.
 */
export function decide(subject: Subject, graded: readonly GradedCandidate[], policy: MatchPolicy): Decision {
  const candidates = oncePerId(graded);
  const { registrationNumber: number, vatNumber: vat } = subject;
  // An unreliable number may find nothing or the wrong company, so an empty result proves nothing.
  if (number?.treatment === 'review') {
    const reason = number.reason ?? 'the registration number cannot be read';
    if (subject.taxInNumber === true) return decideOnTax(subject, candidates, policy, reason);
    return decideWithoutCourt(subject, candidates, graded) ?? unreadable(reason);
  }
  if (number === undefined && vat?.treatment === 'review') {
    return review('number_unreadable', `VAT number: ${vat.reason ?? 'it cannot be read'}`);
  }
  if (candidates.length === 0) return { kind: 'no_match', reason: 'no_candidates' };
  const contradiction = contradictory(graded, number === undefined ? 'vat' : 'number');
  if (contradiction !== undefined) return review('contradictory_candidate', contradiction);
  if (number !== undefined) return decideOnNumber(subject, candidates, policy);
  if (vat !== undefined) return decideOnVat(subject, candidates, policy);
  if (subject.ticker !== undefined)
    return review('ticker_only', 'only the ticker is known, and a ticker alone never confirms');
  return review('name_only', 'only the name is known, and a name alone never confirms');
}

function decideOnNumber(subject: Subject, candidates: readonly GradedCandidate[], policy: MatchPolicy): Decision {
  const hits = candidates.filter(({ graded }) => isYes(letters(graded).number));
  const here = hits.filter(isHere(subject));
  if (hits.length === 0 && candidates.some(({ graded }) => graded.byTaxNumber === true))
    return decideOnVat(subject, candidates, policy);
  if (here.length === 0) return hits.length > 0 ? wrongCountry(hits) : withoutHit(candidates);
  // If the row has no country, candidates may be in several countries, which a name cannot distinguish.
  const namesNone = subject.countryCode === '' || subject.countryFrom !== undefined;
  const hit = namesNone && here.length > 1 ? undefined : singleOut(subject, here, policy);
  if (hit === undefined) {
    return review('several_candidates', `${here.length} candidates have this registration number`);
  }
  const { name, vat } = letters(hit.graded);
  if (differsOnlyInForm(subject, hit, policy)) return otherForm('number', hit);
  if (name === 'F')
    return review('name_conflict', `the number agrees, but the name does not: ${hit.candidate.name}`, hit);
  const agrees = nameAgrees(hit, policy);
  if (name !== 'Z' && !agrees)
    return review('name_conflict', `the number agrees, but the name only in part: ${hit.candidate.name}`, hit);
  if ((subject.registrationNumber?.treatment === 'needs_name' || hit.graded.needsName) && !agrees) {
    return review('name_needed', nameNeeded(subject, hit), hit);
  }
  if (isOfOtherForm(hit, policy)) return otherForm('number', hit);
  if (vat === 'F' && (name !== 'A' || subject.registrationNumber?.treatment === 'needs_name')) {
    return review('vat_conflict', `the number agrees, but the VAT number does not: ${hit.candidate.vat_number}`, hit);
  }
  if (name === 'Z' && !isYes(vat) && !mayStandAlone(subject, policy)) {
    return review('number_alone', 'only the number agrees, and there is no name or VAT number to compare', hit);
  }
  if (hit.graded.matchedOn === 'registration_number_repaired' && !policy.confirmRepaired) {
    return review('repaired_number', 'the number agrees only after a repair, so a person decides', hit);
  }
  return confirm(hit);
}

/**
 * A German number without its court, which several courts may have issued. It confirms with an equal name and place, if
 * no other candidate has that number and that name.
 */
function decideWithoutCourt(
  subject: Subject,
  candidates: readonly GradedCandidate[],
  graded: readonly GradedCandidate[],
): Decision | undefined {
  if (subject.registrationNumber?.lacksCourt !== true) return undefined;
  const hits = candidates.filter((one) => isYes(letters(one.graded).number) && letters(one.graded).name === 'A');
  const [hit, second] = hits;
  if (hit === undefined || second !== undefined || contradictory(graded, 'number') !== undefined) return undefined;
  const { vat, locality } = letters(hit.graded);
  return locality === 'A' && vat !== 'F' && isHere(subject)(hit) ? confirm(hit) : undefined;
}

/**
 * If a country has several registers, and the row or the candidates do not name theirs, equal numbers are no
 * contradiction. The candidate whose name agrees is confirmed, if all others have another name and VAT number. For a row
 * without its register, the name must be equal.
 */
function singleOut(
  { registrationNumber: number, countryCode }: Subject,
  here: readonly GradedCandidate[],
  policy: MatchPolicy,
): GradedCandidate | undefined {
  const [only, second] = here;
  if (second === undefined) return only;
  const isOpen = number !== undefined && lacksRegister(number, countryCode);
  if (!isOpen && !here.every(({ graded }) => graded.needsName)) return undefined;
  const named = here.filter((entry) => nameAgrees(entry, policy) && (!isOpen || letters(entry.graded).name === 'A'));
  const others = here.filter((entry) => !named.includes(entry));
  const ruledOut = others.every(({ graded }) => letters(graded).name === 'F' && !isYes(letters(graded).vat));
  return named.length === 1 && ruledOut ? named[0] : undefined;
}

const isOfOtherForm = ({ graded }: GradedCandidate, { legalForm }: MatchPolicy): boolean =>
  legalForm === 'review' && graded.otherForm === true;

/** "X GmbH" and "X GmbH & Co. KG" are two companies, so their names do not agree. The form is still the reason. */
const differsOnlyInForm = ({ name = '', countryCode }: Subject, hit: GradedCandidate, policy: MatchPolicy): boolean =>
  isOfOtherForm(hit, policy) &&
  normaliseName(name, countryCode) === normaliseName(hit.candidate.name ?? '', countryCode);

const otherForm = (agrees: string, hit: GradedCandidate): Decision =>
  review('legal_form_differs', `the ${agrees} agrees, but the legal form does not: ${hit.candidate.name}`, hit);

function mayStandAlone(subject: Subject, { confirmNumberAlone }: MatchPolicy): boolean {
  const { registrationNumber: number, countryCode, state } = subject;
  if (confirmNumberAlone === 'with_checksum')
    return number !== undefined && checkDigitCatchesTypos(number, countryCode, state);
  return confirmNumberAlone === 'always';
}

function nameNeeded(subject: Subject, hit: GradedCandidate): string {
  const guessed = subject.countryFrom === undefined ? undefined : 'the row names no country';
  const why =
    subject.registrationNumber?.reason ?? guessed ?? hit.graded.evidence[0] ?? 'the number alone is not enough';
  return `${why}. Without an equal name it may be another company`;
}

/**
 * In the country of the row or of its numbers. A location ID has no country, so it neither confirms nor contradicts.
 */
const isHere =
  ({ countryCode, countryFrom }: Subject) =>
  ({ graded }: GradedCandidate): boolean =>
    letters(graded).country === (countryFrom === undefined ? 'A' : 'B') || countryCode === '';

/** The candidate states another country. A missing country does not count. */
export const isOfAnotherCountry = ({ graded }: GradedCandidate): boolean => letters(graded).country === 'F';

function wrongCountry(hits: readonly GradedCandidate[]): Decision {
  const countries = [...new Set(hits.map(({ candidate }) => candidate.country_code ?? 'no country'))].sort();
  return review('country_conflict', `the number exists, but in another country: ${countries.join(', ')}`);
}

/** No candidate has the number. One with the name or the VAT number could still be the match. */
function withoutHit(candidates: readonly GradedCandidate[]): Decision {
  const similar = candidates.filter(({ graded }) => isYes(letters(graded).name) || isYes(letters(graded).vat));
  if (similar.some(({ graded }) => letters(graded).number === 'F')) {
    return review('number_conflict', 'a candidate has the name or the VAT number, but another registration number');
  }
  const unnumbered = candidates.some(({ graded }) => letters(graded).number === 'Z' && letters(graded).name !== 'F');
  if (unnumbered || similar.length > 0) {
    return review('candidate_without_number', 'a candidate has no registration number to compare');
  }
  return { kind: 'no_match', reason: 'no_candidate_with_number' };
}

function decideOnVat(subject: Subject, candidates: readonly GradedCandidate[], policy: MatchPolicy): Decision {
  const hits = candidates.filter(({ graded }) => isYes(letters(graded).vat));
  if (hits.some(({ graded }) => letters(graded).number === 'F')) {
    return review('number_conflict', 'a candidate has the VAT number, but another registration number');
  }
  const here = hits.filter(isHere(subject));
  const [hit, second] = here;
  if (hit === undefined) {
    if (hits.length > 0) return wrongCountry(hits);
    if (candidates.some(({ graded }) => isYes(letters(graded).name)))
      return review('vat_only', 'no candidate has this VAT number, but the name agrees');
    if (!candidates.some(({ graded }) => isOpen(graded))) {
      return { kind: 'no_match', reason: 'no_candidate_with_vat_number' };
    }
    return review('vat_only', 'no candidate has this VAT number, but one may be the company');
  }
  if (second !== undefined) return review('several_candidates', `${here.length} candidates have this VAT number`);
  const { name } = letters(hit.graded);
  if (name === 'Z') return review('name_needed', 'a VAT number confirms only together with a name', hit);
  if (differsOnlyInForm(subject, hit, policy)) return otherForm('VAT number', hit);
  if (!nameAgrees(hit, policy)) {
    return review('name_conflict', `the VAT number agrees, but the name does not: ${hit.candidate.name}`, hit);
  }
  if (isOfOtherForm(hit, policy)) return otherForm('VAT number', hit);
  if (!policy.confirmOnVat) return review('vat_only', 'only VAT number and name agree, so a person decides', hit);
  return confirm(hit);
}

/** The number is a tax number. It confirms like a VAT number, unless a candidate has it as registration number. */
function decideOnTax(
  subject: Subject,
  candidates: readonly GradedCandidate[],
  policy: MatchPolicy,
  reason: string,
): Decision {
  const isNumber = candidates.some(({ graded }) => isYes(letters(graded).number));
  if (candidates.length === 0 || isNumber) return unreadable(reason);
  const decision = decideOnVat(subject, candidates, policy);
  if (decision.kind === 'confirmed')
    return taxMayConfirm(subject) ? decision : { ...unreadable(`${reason}; ${AS_TAX_NUMBER}`), grade: decision.grade };
  if (decision.kind === 'no_match') return unreadable(reason);
  return { ...decision, reason: 'number_unreadable', message: `${reason}; ${decision.message}` };
}

/**
 * An EIN instead of a state's file number could mean any company of the group that files under it. So it is only
 * evidence for a review question.
 */
export const taxMayConfirm = ({ taxInNumber, countryCode }: Pick<Subject, 'taxInNumber' | 'countryCode'>): boolean =>
  taxInNumber === true && countryCode !== 'US';

const AS_TAX_NUMBER = 'one candidate has it as its tax number, and the name agrees';

const unreadable = (reason: string) => review('number_unreadable', reason);

/** Name and VAT number are missing, so they do not contradict. */
const isOpen = (graded: Graded) => letters(graded).vat === 'Z' && letters(graded).name === 'Z';

function nameAgrees({ graded }: GradedCandidate, policy: MatchPolicy): boolean {
  return isYes(letters(graded).name) && graded.nameScore !== null && graded.nameScore >= policy.nameAgreement;
}

function confirm({ candidate, graded }: GradedCandidate): Decision {
  const { grade, evidence, matchedOn } = graded;
  if (matchedOn === null) throw new Error(`a candidate with grade ${grade} cannot be confirmed`);
  return { kind: 'confirmed', candidate, matchedOn, grade, evidence };
}

/** `about`: the one candidate of the question. */
const review = (reason: ReviewReason, message: string, about?: GradedCandidate) => ({
  kind: 'needs_review' as const,
  reason,
  message,
  grade: about?.graded.grade,
});

const isYes = (letter: string) => letter === 'A' || letter === 'B';

function letters({ grade }: Graded) {
  const [number = 'Z', name = 'Z', vat = 'Z', country = 'Z', locality = 'Z'] = grade;
  return { number, name, vat, country, locality };
}

/** One ID came with the row's own number and with another one. Either may be the provider's mistake. */
function contradictory(graded: readonly GradedCandidate[], field: 'number' | 'vat'): string | undefined {
  const told = ({ candidate }: GradedCandidate) =>
    (field === 'number' ? candidate.registration_number : candidate.vat_number) ?? 'none';
  const different = new Set(
    graded.filter((one) => letters(one.graded)[field] === 'F').map(({ candidate }) => candidate.id),
  );
  const odd = graded.filter((one) => isYes(letters(one.graded)[field]) && different.has(one.candidate.id));
  if (odd.length === 0) return undefined;
  const ids = new Set(odd.map(({ candidate }) => candidate.id));
  const numbers = [...new Set(graded.filter(({ candidate }) => ids.has(candidate.id)).map(told))].sort();
  return `the provider gives one ID different numbers (${numbers.slice(0, 4).join(', ')})`;
}

/** Two searches may find the same candidate. If its grades differ, the order of arrival must not decide. */
function oncePerId(graded: readonly GradedCandidate[]): GradedCandidate[] {
  const byId = new Map<string, GradedCandidate>();
  for (const entry of graded) {
    const other = byId.get(entry.candidate.id);
    if (other === undefined || rank(entry) < rank(other)) byId.set(entry.candidate.id, entry);
  }
  return [...byId.values()];
}

const rank = ({ candidate, graded }: GradedCandidate) =>
  JSON.stringify([graded.grade.replaceAll('F', '0'), graded.nameScore, graded.needsName, candidate, graded.evidence]);

/**
 * A registration number that the provider gives for another value of a row. It is never a match. kybatch searches for
 * it like any number, and compares the result with the row as written.
 */
export interface Hint {
  readonly source: string;
  readonly operation: string;
  readonly registrationNumber: string;
  /** Null if none was given. */
  readonly countryCode: string | null;
  /** It was given for the row's name alone. */
  readonly forName: boolean;
}

export type Hints = ReadonlyMap<string, Hint>;

/**
 * Whether the hint means this candidate: the same number in the given country. A name also finds other companies, so a
 * hint for the name alone requires an equal name.
 */
export function hintMatches(hint: Hint, row: Subject, candidate: CandidateFacts): boolean {
  const { registration_number: number, country_code, state, jurisdiction } = candidate;
  const theirs = country_code?.toUpperCase() ?? null;
  const country = hint.countryCode ?? (row.countryCode || theirs);
  if (number === null || (theirs !== null && country !== theirs)) return false;
  if (hint.forName && nameSimilarity(row.name ?? '', candidate.name ?? '') < NAME_AGREEMENT) return false;
  const named = matchNumber({ countryCode: country ?? '', number: hint.registrationNumber });
  return named.matches(number, state ?? jurisdiction ?? undefined);
}

/**
 * The row's own values decide. A hint neither supports nor contradicts a confirmation. A candidate that only a hint
 * names is a review question, which shows the hint and its source.
 */
export function decideWithHints(
  subject: Subject,
  graded: readonly GradedCandidate[],
  hints: Hints,
  policy: MatchPolicy,
): Decision {
  const own = decide(subject, graded, policy);
  const named = graded.filter(({ candidate }) => hints.has(candidate.id));
  const [about] = named;
  const hint = about && hints.get(about.candidate.id);
  if (own.kind === 'confirmed' || about === undefined || hint === undefined) return own;
  const grade = named.length === 1 ? about.graded.grade : undefined;
  const asked = (reason: ReviewReason, message: string): Decision => ({ kind: 'needs_review', reason, message, grade });
  const [number, , , country] = about.graded.grade;
  const said = hintInWords(hint);
  if (country === 'F')
    return asked('country_conflict', `${said}, but the country of the row is ${subject.countryCode}`);
  if (number === 'F') return asked('number_conflict', `${said}, but the row has ${rowNumber(subject)}`);
  if (own.kind === 'needs_review' && !SAYS_LESS.has(own.reason)) return { ...own, message: `${own.message}; ${said}` };
  return asked('hint_only', `${said}, and the row has no number`);
}

/** The given number explains more than "the row has no number". */
const SAYS_LESS: ReadonlySet<ReviewReason> = new Set(['name_only', 'ticker_only']);

const rowNumber = ({ registrationNumber }: Subject): string => sanitizeText(registrationNumber?.raw ?? '', 60);

export function hintInWords({ source, registrationNumber, countryCode }: Hint): string {
  const country = countryCode === null ? '' : ` (${sanitizeText(countryCode, 8)})`;
  return `${source} names ${sanitizeText(registrationNumber, 60)}${country}`;
}
