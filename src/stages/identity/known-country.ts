import type { Enquiry } from '../../domain/enquiry.js';
import type { Ids } from '../stage.js';
import { confirmedElsewhere } from './confirmed-elsewhere.js';

/**
 * A location ID does not tell a country. Once a search has confirmed a company, its own country does: what comes after is asked
 * by that. Whether both APIs mean the same by a location ID is not shown.
 */
export function inKnownCountry(enquiry: Enquiry, ids: Ids): Enquiry {
  const country = confirmedElsewhere(ids)?.country_code?.toUpperCase() ?? '';
  if (enquiry.subject.countryCode !== '' || !/^[A-Z]{2}$/.test(country)) return enquiry;
  const { locationId: _, ...subject } = enquiry.subject;
  return { location: country, subject: { ...subject, countryCode: country } };
}
