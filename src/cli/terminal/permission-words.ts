import type { PlanView } from '../../app/plan.js';
import type { PlannedPermission } from '../../app/plan-permissions.js';
import type { RunEndView } from '../../app/run-end.js';
import type { UsageView } from '../../app/usage.js';
import { driftOf, isRenewed, risenBy } from '../../domain/permission-drift.js';
import { byPermission, isUsedUp, leftOf, type PermissionUse } from '../../domain/permission-use.js';
import { count, durationInWords, moment, textTable, withCommas } from './text.js';

type PermissionUsage = UsageView['permissions'][number];
type ContactUsage = UsageView['contacts'][number];

/** What v2 counts. Of what nobody has used there is nothing to say; `--json` has it all. */
export function permissionsInWords(use: readonly PermissionUsage[]): string {
  const shown = use.filter((one) => (one.used ?? 0) > 0 || isUsedUp(one));
  if (shown.length === 0) return '';
  const table = textTable(
    ['v2 counts (/metrics)', 'count', 'used', 'of', 'left', 'since the last start', 'our calls', 'drift', 'seen'],
    shown.map((one) => [
      one.permission,
      one.metric,
      told(one.used),
      ofInWords(one),
      figure(leftOf(one)),
      isRenewed(one) ? 'renewed' : figure(risenBy(one)),
      callsInWords(one),
      driftInWords(driftOf(one)),
      moment(one.observedAt),
    ]),
  );
  return `${table}${shown.some((one) => (driftOf(one) ?? 0) !== 0) ? WHY_DRIFT : ''}\n`;
}

const WHY_DRIFT =
  'Drift: what v2 counts beyond our calls of what draws on it, or short of them: others may share the account, or it does not count by call.\n';

const callsInWords = ({ callsAnswered, callsFailed }: PermissionUsage): string =>
  callsAnswered === null
    ? ''
    : `${withCommas(callsAnswered)}${callsFailed === null || callsFailed === 0 ? '' : `, ${withCommas(callsFailed)} failed`}`;

const driftInWords = (drift: number | null): string =>
  drift === null ? '' : drift === 0 ? 'none' : `${drift > 0 ? '+' : ''}${withCommas(drift)}`;

/** Revealed contacts, with the range as it was sent. */
export const contactsInWords = ({ environment, dateFrom, dateTo, emailCount, phoneCount, observedAt }: ContactUsage) =>
  `v2 at ${environment}: contacts revealed from ${dateFrom} to ${dateTo}, as sent (whole days and one on either side: the time zone is not documented): e-mail addresses ${told(emailCount)}, phone numbers ${told(phoneCount)}; seen ${moment(observedAt)}`;

/** What of v2 a planned run draws on, and whether it suffices. `place`: the flag that names the data directory. */
export function plannedInWords({ permissions, at, sandbox }: PlanView, place: string): readonly string[] {
  const shown = (permissions ?? []).filter((one) => one.operations !== null || (one.used ?? 0) > 0 || isUsedUp(one));
  const [first] = shown;
  if (first === undefined) return [];
  const age = at - first.observedAt;
  // A check of the simulated provider has an account of its own, of which nothing is kept.
  const anew = sandbox ? 'the next start asks anew' : `\`kybatch doctor${place}\` asks anew, for 0 units`;
  const seen = age <= 0 ? 'now' : `as it said ${durationInWords(age)} ago (${moment(first.observedAt)}; ${anew})`;
  return [`v2 counts (/metrics), ${seen}:`, ...shown.map((one) => `  ${leftInWords(one)}${drawnInWords(one)}`)];
}

function leftInWords(one: PlannedPermission): string {
  const { permission, metric, used, total, left } = one;
  const figures = left === null ? `${told(used)} used of ${told(total)}` : `${withCommas(left)} of ${told(total)} left`;
  return `permission ${permission}: ${figures} (${metric})${isUsedUp(one) ? ', used up' : ''}`;
}

function drawnInWords({ operations, callsAtMost, enough }: PlannedPermission): string {
  if (operations === null) return '';
  if (callsAtMost === null) return ', how many calls draw on it cannot be told before';
  if (callsAtMost === 0) return ', nothing that is planned draws on it';
  const verdict = enough === null ? '' : enough ? ': enough' : ': not enough for all of them';
  return `, up to ${count(callsAtMost, 'call')} may draw on it${verdict}`;
}

/** What a start, or others meanwhile, have used of each permission: a line for each. */
export const movedInWords = (moved: RunEndView['moved']): readonly string[] =>
  byPermission(moved).map(([permission, counts]) => {
    const amounts = new Set(counts.map(({ used, usedAtStart }) => used - usedAtStart));
    const [amount = 0] = amounts;
    // As a rule the counts of a day and of a term rise together.
    const together = amounts.size === 1 && amount > 0;
    const each = counts.map((one) => `${one.metric} ${together ? '' : `${movedBy(one)}, `}${standsAt(one)}`).join('; ');
    const all = together
      ? `${withCommas(amount)} used while this start was at work; `
      : 'while this start was at work: ';
    return `v2 permission ${permission}: ${all}${each}`;
  });

type Moved = RunEndView['moved'][number];

const movedBy = ({ used, usedAtStart }: Moved): string =>
  used < usedAtStart ? 'was renewed' : `rose by ${withCommas(used - usedAtStart)}`;

function standsAt(one: Moved): string {
  const left = leftOf(one);
  return `${withCommas(one.used)} of ${ofInWords(one)}${left === null ? '' : `, ${withCommas(left)} left`}`;
}

/** For `kybatch status`: what nothing more can be had of. */
export const usedUpInWords = (use: readonly PermissionUsage[]): readonly string[] =>
  use
    .filter(isUsedUp)
    .map(
      ({ permission, metric, used, total, observedAt }) =>
        `v2 permission ${permission} is used up: ${told(used)} of ${told(total)} (${metric}), seen ${moment(observedAt)}`,
    );

const ofInWords = (one: Pick<PermissionUse, 'used' | 'total'>): string =>
  `${told(one.total)}${isUsedUp(one) ? ', used up' : ''}`;

const told = (value: number | null): string => (value === null ? 'not told' : withCommas(value));
const figure = (value: number | null): string => (value === null ? '' : withCommas(value));
