/** @module-tag long */
import { expect, test } from 'vitest';
import type { Company } from '../../src/sandbox/registry/types.js';
import { wholeCompanies } from '../engine/support.js';
import { DAY, withNights } from './nights.js';

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

/** Without the check of the key, which names no company. */
const aList = ({ operation, path }: { readonly operation: string | undefined; readonly path: string }) =>
  operation === 'officersKyb' && !path.includes('/kyb/0/');

type Page = { data: unknown[] | null; total_results: unknown; total_pages: unknown };

/** One fewer with the old count, none with the old count, no list at all. */
const SHORT: readonly [string, (page: Page) => Page][] = [
  ['a page that lacks an entry', (page) => ({ ...page, data: page.data?.slice(1) ?? null })],
  ['an empty page', (page) => ({ ...page, data: [] })],
  ['a page without its list', (page) => ({ ...page, data: null })],
];

test.each(SHORT)('V1-22 %s removes no entry that it still counts', (_, shorten) =>
  withNights(
    1,
    async ({ sandbox, writeCsv, night, clock, kybatch, table }) => {
      writeCsv('in.csv', wholeCompanies(sandbox, 1).map(inputOf));
      await night();
      expect(table('officers').length).toBeGreaterThan(1);
      clock.advance(8 * DAY);
      sandbox.script(aList, [{ rewrite: (body) => JSON.stringify(shorten(JSON.parse(body) as Page)) }]);
      await night();
      type Told = {
        readonly changes: readonly { readonly kind: string; readonly table: string; readonly column: string | null }[];
      };
      const told = async () => (JSON.parse((await kybatch(['changes', '--json'])).stdout) as Told).changes;
      expect(await told()).toEqual([]);
      // A departure by the next complete list is still reported.
      clock.advance(8 * DAY);
      const gone = (page: Page) => ({
        ...page,
        data: page.data?.slice(1) ?? null,
        total_results: Number(page.total_results) - 1,
      });
      sandbox.script(aList, [{ rewrite: (body) => JSON.stringify(gone(JSON.parse(body) as Page)) }]);
      await night();
      const removed = (await told()).filter(({ kind, column }) => kind === 'removed' && column === null);
      expect(removed).toMatchObject([{ table: 'officers' }]);
    },
    [
      'stages: [record]',
      'record: {modules: [lite, officers], all_pages: true}',
      'freshness: {liteKyb: 7d, officersKyb: 7d}',
    ],
  ),
);

test('V1-7 a directly bought page is not mixed into the list and hides no change from the next reading', () =>
  withNights(
    1,
    async ({ sandbox, writeCsv, night, clock, kybatch, table }) => {
      const [company] = wholeCompanies(sandbox, 60).filter(
        (one) => (sandbox.registry.v2.officers(one) as readonly unknown[]).length > 4,
      );
      if (company === undefined) throw new Error('a company with five officers');
      writeCsv('in.csv', [inputOf(company)]);
      await night();
      const names = () => table('officers').map(({ id, last_name }) => `${id} ${last_name}`);
      const before = names();
      const renamed = (body: string) => body.replaceAll(/"last_name":\s*"[^"]*"/g, '"last_name":"By Hand"');
      sandbox.script('kybOfficers', [{ rewrite: renamed }]);
      const params = JSON.stringify({ id: company.v2Id, page: 2, per_page: 2 });
      expect((await kybatch(['call', 'v2', 'kybOfficers', '--params', params, '--rebuy'])).stdout).toContain('By Hand');
      await kybatch(['export', '--out', 'tables']);
      expect(names()).toEqual(before);
      clock.advance(8 * DAY);
      sandbox.script('kybOfficers', ['none', { rewrite: renamed }]);
      await night();
      expect(names()).not.toEqual(before);
      type Told = {
        readonly changes: readonly { readonly new_value: string | null; readonly old_value: string | null }[];
      };
      const { changes } = JSON.parse((await kybatch(['changes', '--json'])).stdout) as Told;
      expect(changes.filter(({ new_value }) => new_value === 'By Hand').length).toBeGreaterThan(0);
      expect(changes.filter(({ old_value }) => old_value === 'By Hand')).toEqual([]);
    },
    [
      'stages: [registry]',
      'registry: {modules: [lite, officers], per_page: 2}',
      'freshness: {kybLite: 7d, kybOfficers: 7d, kybSearch: 365d}',
    ],
  ));

test('V1-7 a list of which further pages were not bought is named in the reason of its row', () =>
  withNights(
    1,
    async ({ sandbox, writeCsv, night, table, clock }) => {
      writeCsv('in.csv', wholeCompanies(sandbox, 1).map(inputOf));
      const more = (page: Page) => ({ ...page, total_results: 999, total_pages: 20 });
      sandbox.script(aList, [{ rewrite: (body) => JSON.stringify(more(JSON.parse(body) as Page)) }]);
      await night();
      expect(table('errors')).toMatchObject([{ code: 'PAGES_LEFT' }]);
      expect(table('results')[0]?.reason).toMatch(/: officers\b/);
      clock.advance(DAY);
      await night('--rebuy');
      expect(table('results')[0]?.reason).not.toMatch(/: officers\b/);
    },
    ['stages: [record]', 'record: {modules: [lite, officers], pages_at_most: 1}'],
  ));
