// The table `allowances`.

import { driftOf, remainingUse } from '../domain/account-usage.js';
import type { Allowances, ContactUsage, EnvironmentUsage, PermissionUsage } from '../ledger/money/usage.js';
import { column, type RowOf, table, timestamp } from '../readers/table.js';

export const allowancesTable = table({
  name: 'allowances',
  onePer: 'count of an API: units, permission, revealed contacts',
  description:
    'The last known use of the account. v1 counts units: `units` in all and `units_daily` for the day. v2 counts for each permission, and counts revealed contacts: `email_count` and `phone_count`. Others may use the same account. A count that was not sent is empty, never 0.',
  source: 'ledger',
  key: ['api', 'environment', 'permission', 'metric'],
  keyAlwaysThere: false,
  columns: [
    column('api', 'text', 'v1 or v2'),
    column('permission', 'text', 'Code of the v2 permission. Empty for units and contacts'),
    column(
      'metric',
      'text',
      'Code of the count: units, units_daily, email_count, phone_count, or as v2 names it. Empty if a permission has none',
    ),
    column('name', 'text', 'Name of the count, as /metrics has it'),
    column('used', 'integer', 'Used, or revealed in the range, as sent'),
    column('total', 'integer', 'The limit, as sent'),
    column('left', 'integer', 'v1: as sent. v2: `total` minus `used`, and empty if the total is 0'),
    column('used_at_start', 'integer', '`used` when the last attempt on this provider began'),
    column('reset_at', 'timestamp', 'When v1 renews the count. v2 does not send it'),
    column('observed_at', 'timestamp', 'When this was read'),
    column('contacts_from', 'text', 'Start of the range, as sent. Its time zone is not documented'),
    column('contacts_to', 'text', 'End of the range, as sent'),
    column('operations', 'json', 'The operations that use the permission, according to the pipeline of that attempt'),
    column('calls_answered', 'integer', 'Our calls of these since that attempt began, up to `observed_at`'),
    column(
      'calls_failed',
      'integer',
      'Calls of these that failed or were lost. Whether v2 counts them is not documented',
    ),
    column('drift', 'integer', 'The provider’s count minus the count of the ledger. Empty if they cannot be compared'),
    column('permission_name', 'text', 'Name of the permission, as /metrics has it'),
    column('environment', 'text', 'The base URL of the provider'),
    column('extra', 'json', 'Other returned values. v1: its quota headers'),
  ],
});

export type AllowanceRow = RowOf<typeof allowancesTable>;

/** In the order of the key. */
export const allowanceRows = ({ environments, permissions, contacts }: Allowances): readonly AllowanceRow[] =>
  [...environments.flatMap(unitRows), ...permissions.map(permissionRow), ...contacts.flatMap(contactRows)].sort(
    (one, other) => compare(keyOf(one), keyOf(other)),
  );

const keyOf = ({ api, environment, permission, metric }: AllowanceRow) => [api, environment, permission, metric];

function compare(one: readonly (string | null)[], other: readonly (string | null)[]): number {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at === -1 ? 0 : (one[at] ?? '') < (other[at] ?? '') ? -1 : 1;
}

const NOTHING: AllowanceRow = {
  api: null,
  permission: null,
  metric: null,
  name: null,
  used: null,
  total: null,
  left: null,
  used_at_start: null,
  reset_at: null,
  observed_at: null,
  contacts_from: null,
  contacts_to: null,
  operations: null,
  calls_answered: null,
  calls_failed: null,
  drift: null,
  permission_name: null,
  environment: null,
  extra: null,
};

function unitRows(told: EnvironmentUsage): readonly AllowanceRow[] {
  const { api, name, remainingUnits, dailyLimit, dailyRemaining, resetAt, observedAt, raw, notCompared } = told;
  // v2 does not count in units.
  if (observedAt === null || api !== 'v1') return [];
  const shared = { ...NOTHING, api, environment: name, observed_at: timestamp(observedAt), extra: raw };
  const drift = notCompared === null ? String(told.driftUnits) : null;
  const units = { ...shared, metric: 'units', left: text(remainingUnits), drift };
  if (dailyLimit === null && dailyRemaining === null) return [{ ...units, reset_at: time(resetAt) }];
  const daily = { total: text(dailyLimit), left: text(dailyRemaining), reset_at: time(resetAt) };
  return [units, { ...shared, metric: 'units_daily', ...daily }];
}

const permissionRow = (told: PermissionUsage): AllowanceRow => ({
  ...NOTHING,
  api: 'v2',
  permission: told.permission,
  metric: told.metric === '' ? null : told.metric,
  name: told.name,
  used: text(told.used),
  total: text(told.total),
  left: text(remainingUse(told)),
  used_at_start: text(told.usedAtStart),
  observed_at: timestamp(told.observedAt),
  operations: told.operations && JSON.stringify(told.operations),
  calls_answered: text(told.callsAnswered),
  calls_failed: text(told.callsFailed),
  drift: text(driftOf(told)),
  permission_name: told.permissionName,
  environment: told.environment,
  extra: told.extra,
});

function contactRows(told: ContactUsage): readonly AllowanceRow[] {
  const shared = {
    ...NOTHING,
    api: 'v2',
    environment: told.environment,
    observed_at: timestamp(told.observedAt),
    contacts_from: told.dateFrom,
    contacts_to: told.dateTo,
    extra: told.extra,
  };
  return [
    { ...shared, metric: 'email_count', used: text(told.emailCount) },
    { ...shared, metric: 'phone_count', used: text(told.phoneCount) },
  ];
}

const text = (value: number | null): string | null => (value === null ? null : String(value));
const time = (at: number | null): string | null => (at === null ? null : timestamp(at));
