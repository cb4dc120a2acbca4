import type { ContactCounts, ContactRange } from '../../domain/contact-counts.js';
import { ApiError } from '../errors.js';
import type { PlatformV2Client } from './client.js';
import { asExtra, countOf, unread } from './counts.js';
import type { V2OperationName } from './operations.js';

/** Operations whose answer may show an e-mail address or a phone number of a person. */
export const REVEALING: ReadonlySet<string> = new Set([
  'employeeProfile',
  'enrichPersonByEmail',
  'enrichPersonByLinkedin',
  'enrichPerson',
] satisfies V2OperationName[]);

/** What `/metrics/contacts` counts, for 0 units; the error where it does not tell. */
export async function readContactCounts(
  v2: PlatformV2Client,
  { dateFrom, dateTo }: ContactRange,
  signal?: AbortSignal,
): Promise<ContactCounts | ApiError> {
  try {
    const { data } = await v2.call('metricsContacts', { date_from: dateFrom, date_to: dateTo }, { signal });
    return {
      dateFrom,
      dateTo,
      emailCount: countOf(data.email_count),
      phoneCount: countOf(data.phone_count),
      extra: asExtra(unread(data, [], ['email_count', 'phone_count'])),
    };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
