import { driftOf, remainingUse } from '../domain/account-usage.js';
import type { Allowances, ContactUsage, EnvironmentUsage, PermissionUsage } from '../ledger/money/usage.js';
import { type CamelCase, column, type RowOf, rowOf, table } from '../readers/table.js';

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

export const allowanceRows = ({ environments, permissions, contacts }: Allowances): readonly AllowanceRow[] =>
  [...environments.flatMap(unitRows), ...permissions.map(permissionRow), ...contacts.flatMap(contactRows)].sort(
    (one, other) => compare(keyOf(one), keyOf(other)),
  );

const keyOf = ({ api, environment, permission, metric }: AllowanceRow) => [api, environment, permission, metric];

function compare(one: readonly (string | null)[], other: readonly (string | null)[]): number {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at === -1 ? 0 : (one[at] ?? '') < (other[at] ?? '') ? -1 : 1;
}

function unitRows(told: EnvironmentUsage): readonly AllowanceRow[] {
  const { api, name, remainingUnits, dailyLimit, dailyRemaining, resetAt, observedAt, raw, notCompared } = told;
  // v2 does not count in units.
  if (observedAt === null || api !== 'v1') return [];
  const row = (metric: string, left: number | null, more: object) =>
    allowanceRow({ api, environment: name, observedAt, extra: raw, metric, left, ...more });
  const drift = notCompared === null ? told.driftUnits : null;
  if (dailyLimit === null && dailyRemaining === null) return [row('units', remainingUnits, { drift, resetAt })];
  return [row('units', remainingUnits, { drift }), row('units_daily', dailyRemaining, { total: dailyLimit, resetAt })];
}

const permissionRow = (told: PermissionUsage): AllowanceRow =>
  allowanceRow({
    ...told,
    api: 'v2',
    metric: told.metric === '' ? null : told.metric,
    left: remainingUse(told),
    operations: told.operations && JSON.stringify(told.operations),
    drift: driftOf(told),
  });

const contactRows = ({ emailCount, phoneCount, dateFrom, dateTo, ...told }: ContactUsage): readonly AllowanceRow[] =>
  [
    { metric: 'email_count', used: emailCount },
    { metric: 'phone_count', used: phoneCount },
  ].map((count) => allowanceRow({ ...told, ...count, api: 'v2', contactsFrom: dateFrom, contactsTo: dateTo }));

type AllowanceCell = CamelCase<(typeof allowancesTable)['columns'][number]['name']>;

const allowanceRow = (told: Partial<Record<AllowanceCell, string | number | null>>): AllowanceRow =>
  rowOf(allowancesTable, told, {});
