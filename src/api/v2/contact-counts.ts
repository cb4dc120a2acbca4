import type { ContactCounts, ContactRange } from '../../domain/contact-counts.js';
import type { Reveals } from '../../domain/reveals.js';
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

/** What a call asks to be revealed. The details of an employee have no switch: they show both (V2-11). */
export function revealsOfCall(operation: string, params: Readonly<Record<string, unknown>>): Reveals {
  if (operation === ('employeeProfile' satisfies V2OperationName)) return { email: 1, phone: 1 };
  return { email: params.reveal_email === true ? 1 : 0, phone: params.reveal_phone === true ? 1 : 0 };
}

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
