import { plainDecimal } from '../../util/exact-json.js';
import { trimEndOf } from '../../util/text-limits.js';
import type { Glance, GlanceCell, ReaderOutput } from '../reader.js';
import type { Row, Table } from '../table.js';

/** Cells of the first row of a table, without empty ones. `others`: the columns with another name. */
export function glanceAt(
  out: ReaderOutput,
  table: Table,
  names: readonly GlanceCell[],
  others: Readonly<Partial<Record<GlanceCell, string>>> = {},
): Glance {
  const line = out.shownOf(table)[0] ?? {};
  const places = [...names.map((name) => [name, name] as const), ...Object.entries(others)];
  return Object.fromEntries(places.flatMap(([cell, column]) => (line[column] ? [[cell, line[column]]] : [])));
}

/** The filled cells of the first row of a table as one text. Zip code and city go without a comma. */
export function addressAt(out: ReaderOutput, table: Table, columns: readonly string[]): Glance {
  const [line] = out.shownOf(table);
  const { zip_code: zip = null, address_city: city = null } = line ?? {};
  const place = [zip, city].filter(Boolean).join(' ');
  const parts = columns.map((name) => (name === 'address_city' ? place : (line?.[name] ?? '')));
  const address = parts.filter((part) => part !== '').join(', ');
  return address === '' ? {} : { address };
}

/** The provider's document names these two apart from `World-Turnover` and similar ones. */
const TURNOVER = 'Turnover';
const CURRENCY = 'Currency';

/** The name of a year may be any text. */
export const isYear = (text: string): boolean => /^(?:19|20)\d\d$/.test(text);

/** Whether the date of a period has a year, in any form. */
export const hasYear = (text: string): boolean => /(?<!\d)(?:19|20)\d\d(?:[01]\d[0-3]\d)?(?!\d)/.test(text);

/** Only these can be sorted as texts. */
const SORTABLE_PERIOD = /^(?:19|20)\d\d(?:-\d\d-\d\d)?$/;

/** The newest year with a turnover, from rows sorted by year. */
export function flatTurnover(lines: readonly Row[]): Glance {
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = lines[i];
    if (line?.indicator !== TURNOVER || line.value == null || line.value === '') continue;
    if (!isYear(line.year ?? '')) continue;
    const currency = lines.find(({ year, indicator }) => year === line.year && indicator === CURRENCY)?.value;
    return {
      turnover: line.value,
      ...(line.year == null ? {} : { turnover_year: line.year }),
      ...(currency == null || currency === '' ? {} : { turnover_currency: currency }),
    };
  }
  return {};
}

/** Labels of filed statements vary by filing regime (V1-28): only these are unambiguous. */
const FILED_TURNOVER = new Set(['turnover', 'revenue']);

/**
 * The newest period with a turnover. If statements differ, the turnover is empty and `turnover_filed` has all of them.
 * Filed statements have no currency.
 */
export function filedTurnover(lines: readonly Row[]): Glance {
  let newest = '';
  const values = new Map<string, string>();
  for (const { metric, period, value } of lines) {
    if (period == null || period < newest || value == null || value === '' || !SORTABLE_PERIOD.test(period)) continue;
    if (!FILED_TURNOVER.has(metric?.trim().toLowerCase() ?? '')) continue;
    if (period > newest) values.clear();
    newest = period;
    const amount = amountOf(value);
    if (!values.has(amount)) values.set(amount, value);
  }
  const [turnover] = values.values();
  if (turnover === undefined) return {};
  const turnover_filed_year = newest.slice(0, 4);
  const filed = { turnover_filed: [...values.values()].join('\n'), turnover_filed_year };
  return values.size > 1 ? filed : { ...filed, turnover, turnover_year: turnover_filed_year };
}

/** `301` and `301.00` are the same amount. */
export function amountOf(text: string): string {
  const plain = plainDecimal(text);
  if (plain === null) return text;
  return plain.includes('.') ? trimEndOf(trimEndOf(plain, '0'), '.') : plain;
}
