import { compact } from './clean.js';
import { compareRegistration } from './compare.js';
import { parseRegistrationNumber } from './parse.js';
import type { ParsedNumber } from './types.js';

/** A registration number that a person named, with its country and, where the country numbers by state, its state. */
export interface NamedNumber {
  readonly countryCode: string;
  readonly number: string;
  readonly state?: string | undefined;
}

/**
 * Whether a text of the same country is the number that was named: as written, or by the comparison that matching
 * uses. Where that would ask for the name as well (no court, no state on one side), it is not the same.
 */
export function isSameNumber(named: NamedNumber, text: string, state?: string): boolean {
  const { countryCode, number } = named;
  if (compact(number) === '' || compact(text) === '') return false;
  const ours = parseRegistrationNumber(number, countryCode, named.state);
  if (ours.register === undefined && compact(number) === compact(text)) return true;
  const theirs = parseRegistrationNumber(text, countryCode, state);
  const lacksState = countryCode !== 'DE' && ours.register !== undefined && theirs.register === undefined;
  if (lacksState) return false;
  const agrees = (wanted: ParsedNumber, other: string | null, place: string | undefined) => {
    const { letter, needsName } = compareRegistration(wanted, other, countryCode, { state: place ?? null });
    return (letter === 'A' || letter === 'B') && !needsName;
  };
  return (
    agrees(ours, text, state) || agrees(theirs, number, named.state) || agrees(theirs, ours.canonical, named.state)
  );
}
