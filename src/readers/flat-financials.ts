import type { ExactJson } from '../util/exact-json.js';
import { flatTurnover } from './parts/at-a-glance.js';
import { isObject } from './parts/body-path.js';
import { openWhole } from './parts/open-answer.js';
import { scanFlat } from './parts/scan-flat.js';
import { readValue } from './parts/value.js';
import type { RawAnswer, Reader, ReaderOutput } from './reader.js';
import { column, table } from './table.js';
import { emptyExtra, value, valueType } from './tables/columns.js';

export const flatFinancialsTable = table({
  name: 'flat_financials',
  onePer: 'value',
  description:
    'Flat financials: one value for each year and indicator. The indicators are an open set of more than 250. What is no value, and a year without any, is in `errors`.',
  source: 'v2 financial',
  key: ['v2_company_id', 'year', 'indicator'],
  keyAlwaysThere: true,
  knownBy: { columns: [['year', 'indicator']], news: 'year' },
  columns: [
    column('v2_company_id', 'id', 'The company, in v2’s ID space', 'the request'),
    column('year', 'text', 'Reporting year, as sent', 'key of the answer'),
    column('indicator', 'text', 'Name of the indicator', 'key of the year'),
    value,
    valueType,
    emptyExtra,
  ],
});

/** Figures by year and indicator. There are no people in them. */
export const flatFinancialsReader = {
  name: 'flat-financials',
  space: 'v2',
  operations: ['financial'],
  tables: [flatFinancialsTable],
  apart: { financial: [] },
  bulk: true,
  glance: (out) => flatTurnover(out.shownOf(flatFinancialsTable)),
  read({ id, answers }, out) {
    for (const answer of answers) {
      const rows = scanFlat(answer.body, id);
      if (rows === undefined) readParsed(answer, id, out);
      else out.addAll(flatFinancialsTable, rows);
    }
    // An answer without any value is one that says nothing (V2-2).
    if (out.rowsOf(flatFinancialsTable).length > 0) out.noteCame(flatFinancialsTable);
  },
} as const satisfies Reader;

/** An object keyed by year; `{}` is an answer that says nothing (V2-2). Sorted by year and indicator. */
export function readParsed(answer: RawAnswer, id: string, out: ReaderOutput): void {
  const opened = openWhole(answer, out);
  if (opened === undefined) return;
  const years = opened.body;
  if (!isObject(years)) {
    opened.path.left('an object of years', years);
    return;
  }
  for (const year of Object.keys(years).sort()) {
    const at = opened.path.at(year);
    const indicators = years[year] as ExactJson;
    // A year without a value has no line: that it came is told here, and nowhere else.
    if (!isObject(indicators) || Object.keys(indicators).length === 0) {
      at.left('an object of indicators', indicators);
      continue;
    }
    for (const indicator of Object.keys(indicators).sort()) {
      const read = readValue(indicators[indicator] as ExactJson, () => at.at(indicator));
      if (read === undefined) continue;
      const { value, value_type } = read;
      out.add(flatFinancialsTable, { v2_company_id: id, year, indicator, value, value_type, extra: null });
    }
  }
}
