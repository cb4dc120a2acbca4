import type { CandidateFacts } from './grade.js';
import { comparable, compareRegistration } from './numbers/compare.js';
import { parseRegistrationNumber } from './numbers/parse.js';

/** A company that an ID of the provider was confirmed as, by what a search said of it. */
export type IdOwner = Pick<CandidateFacts, 'registration_number' | 'country_code' | 'state' | 'jurisdiction'>;

/**
 * An ID belongs to one company. The company that has it already, if that is another one than `own`. Without a
 * registration number nothing can be compared.
 */
export function otherOwner<Owner extends IdOwner>(own: IdOwner, owners: readonly Owner[]): Owner | undefined {
  if (own.registration_number === null) return undefined;
  const numbered = owners.filter((owner) => owner.registration_number !== null);
  return numbered.some((owner) => isSameCompany(own, owner)) ? undefined : numbered[0];
}

function isSameCompany(a: IdOwner, b: IdOwner): boolean {
  const [country, theirs] = [a.country_code?.toUpperCase() ?? '', b.country_code?.toUpperCase() ?? ''];
  if (country !== '' && theirs !== '' && country !== theirs) return false;
  const [ours, other] = [a.registration_number ?? '', b.registration_number ?? ''];
  const code = country || theirs;
  const parsed = parseRegistrationNumber(ours, code, a.state ?? a.jurisdiction ?? undefined);
  const { letter } = compareRegistration(parsed, other, code, b);
  return letter === 'Z' ? comparable(ours, code) === comparable(other, code) : letter !== 'F';
}
