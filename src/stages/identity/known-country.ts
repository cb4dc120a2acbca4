import type { Enquiry } from '../../domain/enquiry.js';
import type { Ids } from '../stage.js';
import { confirmedElsewhere } from './confirmed-elsewhere.js';

/**
 * A location ID does not tell a country, and what a number tells of it is a guess. Once a search has confirmed a company, its own
 * country is known: what comes after is asked by that. Whether both APIs mean the same by a location ID is not shown.
 */
export function inKnownCountry(enquiry: Enquiry, ids: Ids): Enquiry {
  const country = confirmedElsewhere(ids)?.country_code?.toUpperCase() ?? '';
  const { countryCode, countryFrom: guessed } = enquiry.subject;
  if ((countryCode !== '' && guessed === undefined) || !/^[A-Z]{2}$/.test(country)) return enquiry;
  const { locationId: _, countryFrom: __, ...subject } = enquiry.subject;
  if (subject.countryCode === country) return { ...enquiry, subject };
  return { location: country, subject: { ...subject, countryCode: country } };
}
