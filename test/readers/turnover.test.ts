import { expect, test } from 'vitest';
import { flatTurnover } from '../../src/readers/parts/glance.js';

test.each(['zzzz', '__proto__', '9999', ''])('V2-8 the newest turnover is never of %j, which is no year', (odd) => {
  const lines = ['2023', '2024', odd].map((year) => ({ year, indicator: 'Turnover', value: `1${year}` }));
  expect(flatTurnover(lines)).toMatchObject({ turnover: '12024', turnover_year: '2024' });
});
