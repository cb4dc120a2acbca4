import type { RunEndView } from '../../app/run-end.js';
import { revealsAnything } from '../../domain/reveals.js';
import { revealsInWords } from './spending-words.js';
import { withCommas } from './text.js';

type Revealed = Pick<RunEndView, 'reveals' | 'contacts'>;

/** What of people this start has asked for, beside what the provider counts: its range is wider, and others may share the account. */
export function revealedInWords({ reveals, contacts }: Revealed): readonly string[] {
  if (!revealsAnything(reveals)) return [];
  const asked = `This start has asked for ${revealsInWords(reveals)}`;
  if (contacts === null) return [`${asked}; how many v2 counts (/metrics/contacts) is not told.`];
  const { emailCount, phoneCount, dateFrom, dateTo } = contacts;
  return [
    `${asked}; v2 counts (/metrics/contacts) e-mail addresses ${told(emailCount)}, phone numbers ${told(phoneCount)} from ${dateFrom} to ${dateTo}, whoever had them revealed.`,
  ];
}

const told = (value: number | null): string => (value === null ? 'not told' : withCommas(value));

export const revealsToJson = ({ reveals, contacts }: Revealed) => ({
  asked: reveals,
  counted: contacts && {
    date_from: contacts.dateFrom,
    date_to: contacts.dateTo,
    email_count: contacts.emailCount,
    phone_count: contacts.phoneCount,
  },
});
