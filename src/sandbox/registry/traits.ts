import { isBeyond2To53, isStringId } from './ids.js';
import { hash } from './random.js';
import type { Company, Traits } from './types.js';

/**
 * Rates per 1024 companies. Low enough that a normal run goes well, high enough that a thousand rows meet each.
 */
export const rates = {
  noRecord: 4,
  identityMismatch: 3,
  unknownToV2: 10,
  noCreditReport: 30,
  noRegistrationNumber: 12,
  noVatNumber: 260,
  noAccounts: 150,
  dissolved: 110,
  intermediate: 30,
  large: 60,
  deepGroup: 2,
  wideGroup: 4,
  emptyList: 60,
  absentList: 40,
} as const;

type Rate = keyof typeof rates;

const keys = Object.fromEntries(Object.keys(rates).map((rate, i) => [rate, 100 + i])) as Record<Rate, number>;

export function hasTrait(seed: number, index: number, rate: Rate): boolean {
  return hash(seed, index, keys[rate]) % 1024 < rates[rate];
}

/** A few of the large ones have more people than a page of fifty holds. */
export const isCrowded = (seed: number, index: number): boolean =>
  hasTrait(seed, index, 'large') && hash(seed, index, 205) % 16 === 0;

/** Places that a company has for the people of one list. */
export const PLACES = 64;

/** One company in two hundred is listed: tickers follow from that. */
export const LISTED_EVERY = 200;
export const LISTED_AT = 7;

export type ListKind = 'officers' | 'shareholders' | 'groupLinks' | 'filedFinancials';

const listKeys: Record<ListKind, number> = { officers: 201, shareholders: 202, groupLinks: 203, filedFinancials: 204 };

export function listState(seed: number, index: number, kind: ListKind): 'some' | 'empty' | 'absent' {
  const dice = hash(seed, index, listKeys[kind]) % 1024;
  if (dice < rates.emptyList) return 'empty';
  return dice < rates.emptyList + rates.absentList ? 'absent' : 'some';
}

export function traitsOf(seed: number, company: Company, namesake: boolean): Traits {
  const { index } = company;
  const has = (rate: Rate) => hasTrait(seed, index, rate);
  return {
    noRecord: has('noRecord'),
    identityMismatch: has('identityMismatch') && company.registrationNumber !== null,
    unknownToV2: has('unknownToV2'),
    noCreditReport: has('noCreditReport'),
    noRegistrationNumber: company.registrationNumber === null,
    noVatNumber: company.vatNumber === null,
    noAccounts: has('noAccounts'),
    dissolved: has('dissolved'),
    namesake,
    listed: company.ticker !== null,
    large: has('large'),
    deepGroup: has('deepGroup'),
    wideGroup: has('wideGroup'),
    idBeyond2To53: isBeyond2To53(company.v1Id),
    stringId: isStringId(company.v1Id),
    formulaName: /^[=+\-@]/.test(company.name),
    quotedName: company.name.includes('"'),
    officers: listState(seed, index, 'officers'),
    shareholders: listState(seed, index, 'shareholders'),
    groupLinks: listState(seed, index, 'groupLinks'),
    filedFinancials: listState(seed, index, 'filedFinancials'),
  };
}
