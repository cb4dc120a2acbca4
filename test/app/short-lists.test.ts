import { expect, test } from 'vitest';
import type { Company } from '../../src/sandbox/registry/types.js';
import { wholeCompanies } from '../engine/support.js';
import { DAY, withNights } from './nights.js';

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

type Page = { data: unknown[] | null; total_results: unknown; total_pages: unknown };

/** One fewer, and the count as it was; nobody, likewise; no list at all. */
const SHORT: readonly [string, (page: Page) => Page][] = [
  ['a page that lacks somebody', (page) => ({ ...page, data: page.data?.slice(1) ?? null })],
  ['an empty page', (page) => ({ ...page, data: [] })],
  ['a page without its list', (page) => ({ ...page, data: null })],
];

test.each(SHORT)('V1-22 %s has taken nobody away that it still counts', (_, shorten) =>
  withNights(
    1,
    async ({ sandbox, writeCsv, night, clock, kybatch, table }) => {
      writeCsv('in.csv', wholeCompanies(sandbox, 1).map(inputOf));
      await night();
      expect(table('officers').length).toBeGreaterThan(1);
      clock.advance(8 * DAY);
      sandbox.script('officersKyb', [{ rewrite: (body) => JSON.stringify(shorten(JSON.parse(body) as Page)) }]);
      await night();
      const { changes } = JSON.parse((await kybatch(['changes', '--json'])).stdout) as { changes: unknown[] };
      expect(changes).toEqual([]);
    },
    [
      'stages: [record]',
      'record: {modules: [lite, officers], all_pages: true}',
      'freshness: {liteKyb: 7d, officersKyb: 7d}',
    ],
  ),
);
