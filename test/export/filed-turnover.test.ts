import { expect, test } from 'vitest';
import { companyAtAGlance } from '../../src/export/company-at-a-glance.js';
import type { SnapshotRow } from '../../src/ledger/answers/snapshot.js';
import { filedTurnover } from '../../src/readers/parts/glance.js';
import type { Glance } from '../../src/readers/reader.js';

const ROW: SnapshotRow = {
  row: 1,
  line: 2,
  values: [],
  kinds: null,
  outcome: 'complete',
  stage: null,
  stages: {},
  matchGrade: 'AAZAZ',
  matchedOn: 'registration_number',
  ids: {},
  unitsCharged: 0,
  errorCode: null,
  errorMessage: null,
  hold: null,
  holdReason: null,
  updatedAt: null,
  fields: {},
  country: 'GB',
  companyKey: null,
  confirmed: null,
  questions: [],
  firstRow: null,
  glances: {},
};

const filed = (...values: readonly string[]): Glance =>
  filedTurnover(values.map((value) => ({ metric: 'Turnover', period: '2024-12-31', value })));

test.each<readonly [string, Glance, Glance, string | null]>([
  ['one value', { turnover: '5', turnover_year: '2022' }, filed('7'), '2024'],
  ['two that differ', { turnover: '5', turnover_year: '2022' }, filed('7', '8'), '2024'],
  ['another value for the same year', { turnover: '5', turnover_year: '2024' }, filed('7'), '2024'],
  ['an equal value', { turnover: '7', turnover_year: '2024' }, filed('7.00'), null],
  ['an equal value among others', { turnover: '7', turnover_year: '2024' }, filed('5', '7.00'), null],
  ['no year', { turnover: '5' }, filed('7'), null],
  ['nothing but the accounts', {}, filed('7'), null],
])('a filed turnover that differs from the flat financials is mentioned: %s', (_, flat, record, year) => {
  const glances = { 'flat-financials': JSON.stringify(flat), record: JSON.stringify(record) };
  expect(companyAtAGlance({ ...ROW, glances }).otherFiledTurnover).toBe(year);
});
