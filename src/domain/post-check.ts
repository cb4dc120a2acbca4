import type { CandidateFacts } from './grade.js';
import { comparable } from './numbers/compare.js';

export type PostCheck =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: 'number_differs' | 'number_missing' | 'country_differs';
      readonly message: string;
    };

/** The record that was bought must be the company that was confirmed: same number, same country. */
export function postCheck(
  candidate: Pick<CandidateFacts, 'id' | 'registration_number' | 'country_code'>,
  record: { readonly registration_number?: string | null; readonly country_code?: string | null },
): PostCheck {
  const country = candidate.country_code?.toUpperCase() ?? '';
  const theirs = record.country_code?.toUpperCase() ?? '';
  if (country !== '' && theirs !== '' && country !== theirs) {
    const message = `the record of ${candidate.id} is of ${theirs}, the confirmed candidate of ${country}`;
    return { ok: false, reason: 'country_differs', message };
  }
  const confirmed = candidate.registration_number ?? '';
  const found = record.registration_number ?? '';
  if (confirmed === '') return { ok: true };
  if (found === '') {
    const message = `the record of ${candidate.id} carries no registration number; confirmed was ${confirmed}`;
    return { ok: false, reason: 'number_missing', message };
  }
  if (comparable(confirmed, country) === comparable(found, country)) return { ok: true };
  const message = `the record of ${candidate.id} has registration number ${found}, the confirmed candidate ${confirmed}`;
  return { ok: false, reason: 'number_differs', message };
}
