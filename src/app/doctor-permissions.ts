import { ApiError } from '../api/errors.js';
import { readContactCounts } from '../api/v2/contact-counts.js';
import type { LoadedPipeline } from '../config/pipeline.js';
import { type ContactCounts, wholeDays } from '../domain/contact-counts.js';
import { byPermission, isUsedUp, leftOf, type PermissionUse } from '../domain/permission-use.js';
import { sentence } from '../util/sentence.js';
import { didYouMean } from '../util/suggest.js';
import type { Finding } from './finding.js';
import type { Provider } from './provider.js';

/** What v2 was found to count; null where it did not tell. */
export interface V2Counts {
  readonly use: readonly PermissionUse[] | null;
  readonly contacts: ContactCounts | null;
}

/** Each permission with what is used and left, and what the pipeline says of permissions that v2 does not count. */
export function permissionFindings(
  use: readonly PermissionUse[],
  { name, permissions }: Pick<LoadedPipeline, 'name' | 'permissions'>,
): readonly Finding[] {
  const known = byPermission(use);
  const codenames = known.map(([codename]) => codename);
  const strangers = Object.keys(permissions).filter((codename) => !codenames.includes(codename));
  return [
    ...known.map(([codename, counts]): Finding => {
      const spent = counts.filter(isUsedUp).map(({ metric }) => metric);
      const verdict = spent.length === 0 ? '' : `; used up: ${spent.join(', ')}`;
      const detail = `${codename}: ${counts.map(countInWords).join('; ')}${verdict}`;
      return { check: 'v2 permission', state: spent.length === 0 ? 'ok' : 'note', detail };
    }),
    ...strangers.map((codename): Finding => {
      const detail = `permissions.${codename} of the pipeline ${name} is not among the permissions that /metrics names, so nothing is parked by it.${didYouMean(codename, codenames)}`;
      return { check: 'v2 permission', state: 'note', detail };
    }),
  ];
}

function countInWords(count: PermissionUse): string {
  const { metric, used, total } = count;
  const left = leftOf(count);
  const figures = `${used ?? 'not told'} of ${total ?? 'not told'} used`;
  return `${metric} ${figures}${left === null ? '' : `, ${left} left`}`;
}

const RANGE_MS = 30 * 86_400_000;

/** Contacts that the account has revealed in the last month: asked for 0 units. */
export async function lookAtContacts(
  { v2 }: Pick<Provider, 'v2'>,
  now: number,
): Promise<{ readonly counts: ContactCounts | null; readonly finding: Finding | null }> {
  if (v2 === null) return { counts: null, finding: null };
  const range = wholeDays(now - RANGE_MS, now);
  const counts = await readContactCounts(v2, range);
  const asked = `from ${range.dateFrom} to ${range.dateTo}, as sent (its time zone is not documented)`;
  const check = 'v2 contacts';
  if (counts instanceof ApiError) {
    const detail = `not told ${asked}: ${counts.code}: ${sentence(counts.message)}`;
    return { counts: null, finding: { check, state: 'note', detail } };
  }
  const { emailCount, phoneCount } = counts;
  const detail = `revealed ${asked}: e-mail addresses ${emailCount ?? 'not told'}, phone numbers ${phoneCount ?? 'not told'}`;
  return { counts, finding: { check, state: 'ok', detail } };
}
