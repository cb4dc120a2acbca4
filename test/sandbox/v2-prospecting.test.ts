import { expect, test } from 'vitest';
import { prospectingFilters } from '../../src/api/v2/operations/prospecting.js';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import { passes } from '../../src/sandbox/v2/prospecting.js';
import { long } from '../helpers/long.js';
import { withSandbox } from '../helpers/sandbox.js';

const SIZE = 120;
const registry = createRegistry({ seed: 1, size: SIZE });
const everybody = Array.from({ length: SIZE }, (_, index) => registry.company(index)).filter(registry.inV2);

const found = (filters: Readonly<Record<string, unknown>>): readonly string[] =>
  everybody.filter((company) => passes(registry, company, filters)).map(({ v2Id }) => v2Id);
const idsOf = (name: string, options: { parent?: string; country?: string } = {}) =>
  (registry.v2.nomenclature(name, options) ?? []).map(({ id }) => id);

/** A value of each filter that some companies have. */
const SOME: Readonly<Record<string, readonly unknown[]>> = {
  company_status: [[106], [108]],
  number_of_employees: [{ gte: 100 }, { lte: 99 }],
  company_incorporation: [{ gte: '2010-01-01' }],
  company_type: [[71], [72]],
  legal_form: [[2000]],
  activity_type: [[61], [62], [63]],
  trading_activity: [['import'], ['export']],
  industry_focus: [['30001']],
  nace: [[10001], ['Manufacturing']],
  isic: [[20001]],
  location_countries: [{ parents: '1_44' }, { id: 44 }, { parents: ['1_44', '1_40'] }],
  location_regions: [{ parents: '1_40_1000' }],
  location_type: [['London']],
  financial_currency: [['EUR']],
  ownership_parents: ['has_parents', ['has_no_parents']],
  foreign_parents: ['has_a_foreign_parent'],
  ownership_accounts: ['consolidated', 'not_consolidated'],
  insights_visits: [['1000000-5000000']],
  insights_technologies: [['40000'], ['Hosting']],
  insights_ranking: [{ global: '1000000-5000000' }],
  advance_companies: [['have_fax'], ['have_lat_and_long']],
};
const RANGES = Object.keys(prospectingFilters.shape).filter((name) => /^(?:financial|yoy)_(?!currency)/.test(name));
const CODES = Object.keys(prospectingFilters.shape).filter((name) => name.startsWith('sic_code_'));

test('the sandbox evaluates every filter of the document', () => {
  // v2-values.test.ts compares these with one company each.
  const single = ['website_keywords', 'url', 'location_zip'];
  expect([...Object.keys(SOME), ...RANGES, ...CODES, ...single].sort()).toEqual(
    Object.keys(prospectingFilters.shape).sort(),
  );
});

long.each([...Object.entries(SOME), ...RANGES.map((name) => [name, [{ gte: 0.5 }]] as const)])(
  '%s: some companies fit, but not all',
  (name, values) => {
    for (const value of values) {
      const { length } = found({ [name]: value });
      expect(length).toBeGreaterThan(0);
      expect(length).toBeLessThan(everybody.length);
    }
  },
);

test('a filter on a section finds everything below it, each company once', () => {
  const parts = idsOf('nace', { parent: '10001' }).map((id) => found({ nace: [id] }));
  expect(parts.flat().sort()).toEqual([...found({ nace: [10001] })].sort());
});

test('codes of a country are from its own vocabulary, and fit no company of another', () => {
  const codes = idsOf('sic', { country: 'US' });
  const countries = found({ sic_code_us: codes }).map((id) => registry.byV2Id(id)?.countryCode);
  expect(new Set(countries)).toEqual(new Set(['US']));
  expect(found({ sic_code_gb: codes })).toEqual([]);
});

test.each(['ownership_parents', 'ownership_accounts'])('%s: each company fits exactly one of the two', (name) => {
  const [some, others] = (SOME[name] ?? []).map((value) => found({ [name]: value }));
  expect((some?.length ?? 0) + (others?.length ?? 0)).toBe(everybody.length);
});

long('a currency is given by its code or its ID', () => {
  const { id } = registry.v2.nomenclature('currency', {})?.find(({ name }) => name === 'EUR') ?? {};
  expect(found({ financial_currency: [String(id)] })).toEqual(found({ financial_currency: ['EUR'] }));
});

test('V2-12 the totals count the matches, page by page', () =>
  withSandbox({ size: SIZE, seed: 1 }, async ({ v2 }) => {
    const filters = { company_status: [106], location_countries: { parents: '1_44' } };
    const expected = found(filters);
    const ids: string[] = [];
    for (const page of [1, 2]) {
      const { data } = await v2.call('prospecting', { filters, page, per_page: 5 });
      expect([data.total_companies, data.total_pages].map(String)).toEqual([
        String(expected.length),
        String(Math.ceil(expected.length / 5)),
      ]);
      ids.push(...(data.data ?? []).map((hit) => String(hit?.id)));
    }
    expect(ids).toEqual(expected.slice(0, 10));
  }));
