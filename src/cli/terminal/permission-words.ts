import { isUsedUp, type PermissionUse } from '../../domain/permission-use.js';
import { withCommas } from './text.js';

/** What v2 counts, a line for each count. */
export const permissionsInWords = (use: readonly PermissionUse[]): readonly string[] =>
  use.length === 0 ? [] : ['v2 counts, as /metrics says', ...use.map((count) => `  ${permissionInWords(count)}`)];

export function permissionInWords(use: PermissionUse): string {
  const { permission, metric, used, total } = use;
  const told = (figure: number | null) => (figure === null ? 'not told' : withCommas(figure));
  const up = isUsedUp(use) ? ': used up' : '';
  return `${permission} (${metric}): ${told(used)} of ${told(total)} used${up}`;
}
