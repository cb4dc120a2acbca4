import type { PlannedPermission } from '../../app/plan-permissions.js';
import type { RunEndView } from '../../app/run-end.js';
import type { StatusView } from '../../app/status.js';
import type { ContactCounts } from '../../domain/contact-counts.js';
import { driftOf } from '../../domain/permission-drift.js';
import { leftOf, type PermissionUse } from '../../domain/permission-use.js';
import { iso } from './iso.js';

/** What providers have said of what is used and left, for scripts: the same words in every command. What was not told is null. */

type Allowances = StatusView['allowances'];

export const useToJson = (use: PermissionUse) => ({
  permission: use.permission,
  permission_name: use.permissionName,
  metric: use.metric,
  name: use.name,
  used: use.used,
  total: use.total,
  left: leftOf(use),
});

export const movedToJson = (use: RunEndView['moved'][number]) => ({
  ...useToJson(use),
  used_at_start: use.usedAtStart,
});

const permissionToJson = (use: Allowances['permissions'][number]) => ({
  environment: use.environment,
  ...useToJson(use),
  used_at_start: use.usedAtStart,
  operations: use.operations,
  calls_answered: use.callsAnswered,
  calls_failed: use.callsFailed,
  drift: driftOf(use),
  observed_at: iso(use.observedAt),
});

export const plannedToJson = (use: PlannedPermission) => ({
  ...useToJson(use),
  operations: use.operations,
  calls_at_most: use.callsAtMost,
  enough: use.enough,
  observed_at: iso(use.observedAt),
});

export const contactsToJson = ({ dateFrom, dateTo, emailCount, phoneCount }: ContactCounts) => ({
  date_from: dateFrom,
  date_to: dateTo,
  email_count: emailCount,
  phone_count: phoneCount,
});

const keptContactsToJson = (told: Allowances['contacts'][number]) => ({
  environment: told.environment,
  ...contactsToJson(told),
  observed_at: iso(told.observedAt),
});

const environmentToJson = (environment: Allowances['environments'][number]) => ({
  api: environment.api,
  name: environment.name,
  units_left: environment.remainingUnits,
  daily_limit: environment.dailyLimit,
  daily_remaining: environment.dailyRemaining,
  reset_at: iso(environment.resetAt),
  observed_at: iso(environment.observedAt),
  drift_units: environment.driftUnits,
  not_compared: environment.notCompared,
  waits_for_call: environment.waitsFor?.call ?? null,
  waits_until: iso(environment.waitsFor?.until ?? null),
  unknown_calls: environment.unknownCalls,
});

export const allowancesToJson = ({ environments, permissions, contacts }: Allowances) => ({
  environments: environments.map(environmentToJson),
  v2_permissions: permissions.map(permissionToJson),
  v2_contacts: contacts.map(keptContactsToJson),
});
