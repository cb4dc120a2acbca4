import { UsageError } from '../../domain/errors.js';
import { outsideText } from '../../util/outside-text.js';
import { didYouMean } from '../../util/suggest.js';
import type { Worksheet } from './contents.js';

/** The worksheet that a user names, also one that is hidden, or counts among those that are not. */
export function namedSheet(path: string, wanted: string, worksheets: readonly Worksheet[]): Worksheet {
  const visible = worksheets.filter(({ hidden }) => !hidden);
  const folded = (name: string) => name.trim().toLowerCase();
  const found =
    worksheets.find(({ name }) => name === wanted) ??
    worksheets.find(({ name }) => folded(name) === folded(wanted)) ??
    (/^[1-9]\d{0,3}$/.test(wanted.trim()) ? visible[Number(wanted) - 1] : undefined);
  if (found !== undefined) return found;
  const names = worksheets.map(({ name }) => name);
  throw new UsageError(
    `${path} has no sheet ${outsideText(wanted, 80)}; it has ${listed(names)}`,
    `Name one of them with --sheet.${/^\d+$/.test(wanted.trim()) ? '' : didYouMean(wanted, names)}`,
  );
}

/** What is said where a workbook has several tables and nobody has chosen. */
export function severalSheets(chosen: string, withData: readonly string[]): readonly string[] {
  if (withData.length < 2) return [];
  return [
    `the workbook has ${withData.length} sheets with something in them (${listed(withData)}); ${outsideText(chosen, 80)} is read; --sheet names another`,
  ];
}

const MOST_NAMES = 12;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => outsideText(name, 80));
  return shown.join(', ') + (names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '');
}
