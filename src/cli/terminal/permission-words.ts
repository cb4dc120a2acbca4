import { isUsedUp, type PermissionUse } from '../../domain/permission-use.js';
import { moment, textTable, withCommas } from './text.js';

interface Shown extends PermissionUse {
  readonly usedAtStart?: number | null;
  readonly observedAt?: number;
}

/** What v2 counts. Of what nobody has used there is nothing to say; `--json` has it all. */
export function permissionsInWords(use: readonly Shown[]): string {
  const shown = use.filter((count) => (count.used ?? 0) > 0 || isUsedUp(count));
  if (shown.length === 0) return '';
  const table = textTable(
    ['v2 counts (/metrics)', 'count', 'used', 'of', 'since the last start', 'seen'],
    shown.map((count) => [
      count.permission,
      count.metric,
      told(count.used),
      `${told(count.total)}${isUsedUp(count) ? ', used up' : ''}`,
      count.used == null || count.usedAtStart == null ? '' : withCommas(count.used - count.usedAtStart),
      count.observedAt === undefined ? 'now' : moment(count.observedAt),
    ]),
  );
  return `${table}\n`;
}

const told = (figure: number | null): string => (figure === null ? 'not told' : withCommas(figure));
