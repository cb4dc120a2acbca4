import { numbersOf } from './countries/index.js';
import { parseRegistrationNumber } from './parse.js';

/**
 * Whether no two companies of the country have the same number: one register numbers them all, and the number is of its
 * form. Of a country without rules here nobody knows that.
 */
export function isAloneInCountry(number: string, countryCode: string): boolean {
  if (SEVERAL_REGISTERS.has(countryCode) || numbersOf(countryCode, undefined) === undefined) return false;
  return parseRegistrationNumber(number, countryCode).treatment !== 'review';
}

/** Courts, states, provinces and local offices that number their companies on their own. */
const SEVERAL_REGISTERS: ReadonlySet<string> = new Set(['DE', 'US', 'CA', 'CN']);
