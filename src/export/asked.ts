import type { SnapshotCall } from '../ledger/snapshot.js';
import { isRecord, parseStored } from '../ledger/stored-json.js';
import { withoutEmails } from '../util/contact-names.js';

/** What may be told of a request, in this order: who was asked about. Ways to reach people are not among it. */
const TOLD = [
  'id',
  'source_id',
  'report_id',
  'registration_number',
  'vat_number',
  'ticker',
  'lei_number',
  'name',
  'company',
  'website',
  'location',
  'country_code',
  'page',
] as const;

/** `registration_number 00445790, location GB`; the ID alone where nothing else is known any more. */
export function askedInShort({ params, subjectId }: Pick<SnapshotCall, 'params' | 'subjectId'>): string | null {
  const said = params === null ? undefined : parseStored(params, isRecord);
  const told = TOLD.flatMap((name) => {
    const value = said?.[name];
    return typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : [];
  });
  if (told.length > 0) return withoutEmails(told.join(', '));
  return subjectId === null ? null : `id ${subjectId}`;
}
