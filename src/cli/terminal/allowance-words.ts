import type { UsageView } from '../../app/admin/usage.js';
import type { PlannedPermission } from '../../app/provider/permissions.js';
import type { PlanView } from '../../app/run/plan.js';
import type { RunEndView } from '../../app/run/run-end.js';
import type { StatusView } from '../../app/run/status.js';
import {
  type ContactCounts,
  driftOf,
  increaseSinceStart,
  isRenewed,
  isUsedUp,
  type PermissionUse,
  remainingUse,
} from '../../domain/account-usage.js';
import { type Message, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, moment, withCommas } from '../../util/words.js';
import { block, compactTable, marked, type ViewPart } from './view.js';

type PermissionUsage = UsageView['permissions'][number];
type ContactUsage = UsageView['contacts'][number];

export function permissionsInWords(use: readonly PermissionUsage[]): readonly Message[] {
  const shown = use.filter((one) => (one.used ?? 0) > 0 || isUsedUp(one));
  if (shown.length === 0) return [];
  const table = compactTable(
    ['v2 counter', 'used', 'of', 'left', 'by last attempt', 'our calls', 'drift'],
    shown.map((one) => [
      one.metric,
      told(one.used),
      ofInWords(one),
      figure(remainingUse(one)),
      isRenewed(one) ? 'renewed' : figure(increaseSinceStart(one)),
      callsInWords(one),
      driftInWords(driftOf(one)),
    ]),
    ['our calls', 'of'],
  );
  const seenAt = moment(Math.max(...shown.map(({ observedAt }) => observedAt)));
  const why = shown.some((one) => (driftOf(one) ?? 0) !== 0) ? WHY_DRIFT : '';
  return [message('PERMISSIONS', `${table}Reported ${seenAt}.\n${why}`)];
}

const WHY_DRIFT = 'Drift: the difference to our calls. Others may use the account, or v2 does not count by call.\n';

const callsInWords = ({ callsAnswered, callsFailed }: PermissionUsage): string =>
  callsAnswered === null
    ? ''
    : `${withCommas(callsAnswered)}${callsFailed === null || callsFailed === 0 ? '' : `, ${withCommas(callsFailed)} failed`}`;

const driftInWords = (drift: number | null): string =>
  drift === null ? '' : drift === 0 ? 'none' : `${drift > 0 ? '+' : ''}${withCommas(drift)}`;

/** "at https://api.example.com", or the simulated provider. */
export const providerInWords = (environment: string): string =>
  environment.startsWith('sandbox:') ? 'in the sandbox' : `at ${environment}`;

export const contactsInWords = ({ environment, dateFrom, dateTo, emailCount, phoneCount, observedAt }: ContactUsage) =>
  `v2 ${providerInWords(environment)}: contacts revealed from ${dateFrom} to ${dateTo}: ${told(emailCount)} e-mail addresses, ${told(phoneCount)} phone numbers (${moment(observedAt)})`;

export function plannedInWords({ permissions, at, sandbox }: PlanView): ViewPart {
  const shown = (permissions ?? []).filter((one) => one.enough === false || isScarce(one));
  const [first] = shown;
  if (first === undefined) return null;
  const age = at - first.observedAt;
  // `doctor --sandbox` starts a sandbox of its own, whose counters are not stored.
  const again = sandbox ? '' : ', ask again: kybatch doctor';
  return block(
    'PERMISSIONS',
    '',
    `v2 permissions${age <= 0 ? '' : ` as of ${moment(first.observedAt)}${again}`}`,
    shown.map((one) => `  ${one.metric}: ${standsAt(one)}${drawnInWords(one)}`),
  );
}

function drawnInWords({ operations, callsAtMost, enough }: PlannedPermission): string {
  if (operations === null || callsAtMost === null || callsAtMost === 0) return '';
  return `, up to ${count(callsAtMost, 'call')} planned${enough === false ? ': not enough' : ''}`;
}

export const movedInWords = (moved: RunEndView['moved']): readonly Message[] =>
  moved
    .filter(isScarce)
    .map((one) => marked('PERMISSION_USED', 'attention', `v2 permission ${one.metric}: ${standsAt(one)}`));

/** Less than a tenth is left. */
function isScarce(one: PermissionUse): boolean {
  const left = remainingUse(one);
  return isUsedUp(one) || (left !== null && one.total !== null && left * 10 < one.total);
}

function standsAt(one: PermissionUse): string {
  const left = remainingUse(one);
  return left === null || isUsedUp(one)
    ? `${told(one.used)} of ${ofInWords(one)}`
    : `${withCommas(left)} of ${told(one.total)} left`;
}

export const usedUpInWords = (use: readonly PermissionUsage[]): readonly Message[] =>
  use
    .filter(isUsedUp)
    .map(({ permission, metric, used, total, observedAt }) =>
      marked(
        'PERMISSION_USED_UP',
        'attention',
        `v2 permission ${permission} is used up: ${told(used)} of ${told(total)} (${metric}), seen ${moment(observedAt)}`,
      ),
    );

const ofInWords = (one: Pick<PermissionUse, 'used' | 'total'>): string =>
  `${told(one.total)}${isUsedUp(one) ? ', used up' : ''}`;

export const told = (value: number | null): string => (value === null ? 'not told' : withCommas(value));
const figure = (value: number | null): string => (value === null ? '' : withCommas(value));

/** The allowances as `--json` shows them, in every command. Null: the provider did not say. */
export const allowancesJson = ({ environments, permissions, contacts }: StatusView['allowances']) => ({
  environments: environments.map(({ remainingUnits, waitsFor, unknownCalls, ...environment }) => ({
    ...pick(environment, 'api', 'name'),
    unitsLeft: remainingUnits,
    ...pick(environment, 'dailyLimit', 'dailyRemaining', 'resetAt', 'observedAt', 'driftUnits', 'notCompared'),
    waitsForCall: waitsFor?.call ?? null,
    waitsUntil: waitsFor?.until ?? null,
    unknownCalls,
  })),
  v2Permissions: permissions.map((use) => ({
    environment: use.environment,
    ...movedJson(use),
    ...pick(use, 'operations', 'callsAnswered', 'callsFailed'),
    drift: driftOf(use),
    observedAt: use.observedAt,
  })),
  v2Contacts: contacts.map((use) => ({
    ...pick(use, 'environment'),
    ...contactsJson(use),
    ...pick(use, 'observedAt'),
  })),
});

export const useJson = (use: PermissionUse) => ({
  ...pick(use, 'permission', 'permissionName', 'metric', 'name', 'used', 'total'),
  left: remainingUse(use),
});

export const movedJson = <Use extends PermissionUse & { readonly usedAtStart: number | null }>(use: Use) => ({
  ...useJson(use),
  usedAtStart: use.usedAtStart,
});

export const plannedJson = (use: PlannedPermission) => ({
  ...useJson(use),
  ...pick(use, 'operations', 'callsAtMost', 'enough', 'observedAt'),
});

export const contactsJson = (use: ContactCounts) => pick(use, 'dateFrom', 'dateTo', 'emailCount', 'phoneCount');
