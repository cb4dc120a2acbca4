/** @module-tag long */
import { describe, expect, test } from 'vitest';
import type { Registry } from '../../src/sandbox/registry/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { wholeCompanies } from '../engine/support.js';
import { DAY, decideAll, type Line, type Nights, withNights } from './nights.js';

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

/** A row without its data of one module, and without its message. */
const without = (row: Line | undefined, ...columns: readonly string[]): Line =>
  Object.fromEntries(Object.entries(row ?? {}).filter(([name]) => ![...columns, ...TOLD].includes(name)));

const TOLD = ['outcome', 'stage', 'error_code', 'error_message'];

/** The tables right after a withdrawal, before any run. */
async function withdrawn({ kybatch }: Nights, id = 1): Promise<string> {
  const { code, stdout } = await kybatch(['review', 'withdraw', String(id)]);
  expect(code).toBe(0);
  expect((await kybatch(['export', '--out', 'tables'])).code).toBe(0);
  return stdout;
}

describe('a withdrawn decision about a module', () => {
  test.each(['confirm', 'none_of_these'])('(ownership, %s) leaves the match unchanged', (decision) =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, table, kybatch, cwd, clock } = nights;
        const company = sandbox.registry.company(13505);
        writeCsv('in.csv', [inputOf(company)]);
        await night();
        const asked = table('rows')[0];
        const officers = table('officers').length;
        await decideAll({ kybatch, cwd }, decision);
        expect(await night()).toMatchObject({ code: 0, units: 0 });
        expect((await kybatch(['review', 'decisions'])).stdout).toMatch(
          new RegExp(`${decision} .*ownership\\n +${company.name} `),
        );
        // A search would be paid for again and find another name.
        await sandbox.changeCompany(company.v2Id, 'name', 'Something Else Entirely');
        clock.advance(DAY);

        await withdrawn(nights);
        expect(without(table('rows')[0])).toEqual(without(asked));
        expect(table('rows')[0]).toMatchObject({ ownership_status: 'pending', ownership_number: '' });
        expect([table('officers').length, table('companies').length]).toEqual([officers, 1]);
        const ofOwnership = [...table('shareholders'), ...table('group_links')].map(({ operation }) => operation);
        expect(ofOwnership).not.toContain('ownership');
        expect(await night()).toMatchObject({ code: 3, units: 0 });
        expect(table('rows')[0]).toEqual({ ...asked, stage: expect.any(String) });
      },
      ['stages: [record, ownership]', 'freshness: {ownership: 7d, kybSearch: 1s, searchKyb: 1s}'],
    ),
  );

  test.each(['confirm', 'none_of_these'])('(digital insights, %s) leaves the other modules unchanged', (decision) =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, table, kybatch, cwd } = nights;
        const company = wholeCompanies(sandbox, 20).find((one) => sandbox.registry.v2.employees(one).length > 0);
        if (company === undefined) throw new Error('no company with people');
        writeCsv('in.csv', [inputOf(company)]);
        sandbox.script(({ operation }) => operation === 'insightsSearch', [{ rewrite: withoutNumbers }]);
        expect((await night()).code).toBe(3);
        const asked = table('rows')[0];
        expect(asked).toMatchObject({
          insights_status: 'pending',
          contacts_status: 'done',
          companies_id: company.v2Id,
        });
        const people = table('people').length;
        await decideAll({ kybatch, cwd }, decision);
        expect((await night()).code).toBe(0);
        expect(table('digital_profiles')).toHaveLength(decision === 'confirm' ? 1 : 0);

        await withdrawn(nights);
        expect(without(table('rows')[0])).toEqual(without(asked));
        expect(table('people')).toHaveLength(people);
        expect(table('digital_profiles')).toEqual([]);
        expect(await night()).toMatchObject({ code: 3, units: 0 });
        expect(table('rows')[0]).toEqual({ ...asked, stage: expect.any(String) });
      },
      ['stages: [firmographics, insights, contacts]'],
    ),
  );
});

describe('an accepted profile', () => {
  test('whose acceptance is withdrawn takes with it the people found by its website', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, table, kybatch, cwd } = nights;
        const company = wholeCompanies(sandbox, 20).find((one) => sandbox.registry.v2.employees(one).length > 0);
        if (company === undefined) throw new Error('no company with people');
        writeCsv('in.csv', [inputOf(company)]);
        sandbox.script(({ operation }) => operation === 'companyProfile', [{ rewrite: withAnotherNumber }]);
        expect((await night()).code).toBe(3);
        expect(table('people')).toEqual([]);
        await decideAll({ kybatch, cwd }, 'confirm');
        await night();
        const people = table('people').length;
        expect(people).toBeGreaterThan(0);

        await withdrawn(nights);
        const shown = () => [table('people').length, table('firmographics').length, table('companies').length];
        expect(shown()).toEqual([0, 0, 1]);
        expect(await night()).toMatchObject({ code: 3, units: 0 });
        expect(shown()).toEqual([0, 0, 1]);
        await decideAll({ kybatch, cwd }, 'confirm');
        expect(await night()).toMatchObject({ code: 0, units: 0 });
        expect(shown()).toEqual([people, 1, 1]);
      },
      ['stages: [record, firmographics, contacts]'],
    ));
});

describe('an accepted record', () => {
  const TABLES = ['companies', 'officers', 'shareholders', 'group_links', 'appointments', 'holdings'];

  test('whose acceptance is withdrawn takes with it everything since, and returns free when accepted again', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, table, kybatch, cwd } = nights;
        writeCsv('in.csv', [inputOf(contradicting(sandbox.registry))]);
        const lines = () => TABLES.map((name) => table(name).length);
        const nothing = TABLES.map(() => 0);
        expect((await night()).code).toBe(3);
        const asked = table('rows')[0];
        expect(lines()).toEqual(nothing);
        await decideAll({ kybatch, cwd }, 'confirm');
        expect((await night()).code).toBe(0);
        const accepted = lines();
        expect(accepted.filter((count) => count === 0)).toEqual([]);
        // The record is shown, and its number differs from the list's.
        expect(asked?.match_grade).toMatch(/^A/);
        expect(table('rows')[0]?.match_grade).toBe(`F${asked?.match_grade?.slice(1)}`);
        expect(table('results')[0]?.match_grade).toBe(`F${asked?.match_grade?.slice(1)}`);

        expect(await withdrawn(nights)).toMatch(/ kybatch resume /);
        expect(lines()).toEqual(nothing);
        const spent = 'units_charged';
        expect(without(table('rows')[0], spent)).toEqual(without(asked, spent));
        expect(await night()).toMatchObject({ code: 3, units: 0 });
        expect(lines()).toEqual(nothing);
        expect(without(table('rows')[0], spent)).toEqual(without(asked, spent));

        await decideAll({ kybatch, cwd }, 'confirm');
        expect(await night()).toMatchObject({ code: 0, units: 0 });
        expect(lines()).toEqual(accepted);
      },
      ['stages: [record, profile, ownership, screening]', 'screening: {people_at_most: 2}'],
    ));
});

describe('candidates', () => {
  const decided = ({ table }: Nights) =>
    Object.fromEntries(
      ['v1', 'v2'].map((space) => [
        space,
        [...new Set(table('candidates').flatMap(({ api, decision }) => (api === space ? [decision] : [])))].sort(),
      ]),
    );
  const STAGES = ['stages: [record, financials]'];

  test('of a chosen company can be chosen again after a withdrawal, and results found through it were not seen', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, kybatch, cwd } = nights;
        const [company] = wholeCompanies(sandbox, 1);
        if (company === undefined) throw new Error('no company');
        writeCsv('in.csv', [{ ...inputOf(company), registration_number: '' }]);
        expect((await night()).code).toBe(3);
        const asked = decided(nights);
        expect(asked).toEqual({ v1: ['needs_review'], v2: [] });
        await decideAll({ kybatch, cwd }, 'confirm', ({ candidate_name }) => candidate_name === company.name);
        await night();
        expect(decided(nights)).toMatchObject({ v1: expect.arrayContaining(['confirmed']), v2: ['confirmed'] });

        await withdrawn(nights);
        expect(decided(nights)).toEqual(asked);
        expect(await night()).toMatchObject({ code: 3, units: 0 });
        expect(decided(nights)).toEqual(asked);
      },
      STAGES,
    ));

  test('of a refused record are rejected, and of a record in review again only earlier ones are in question', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, kybatch, cwd } = nights;
        writeCsv('in.csv', [inputOf(contradicting(sandbox.registry))]);
        await night();
        expect(decided(nights)).toEqual({ v1: ['confirmed'], v2: [] });
        await decideAll({ kybatch, cwd }, 'confirm');
        await night();
        expect(decided(nights)).toEqual({ v1: ['confirmed'], v2: ['confirmed'] });
        await withdrawn(nights);
        expect(decided(nights)).toEqual({ v1: ['confirmed'], v2: [] });
        await night();
        await decideAll({ kybatch, cwd }, 'none_of_these');
        await night();
        expect(decided(nights)).toEqual({ v1: ['rejected'], v2: [] });
      },
      STAGES,
    ));
});

/** A company whose record has another number than its search. It has people, holders and a group, and v2 knows it. */
function contradicting(registry: Registry): Company {
  for (let index = 0; ; index++) {
    const found = registry.company(index);
    const { identityMismatch, namesake } = registry.traits(found);
    if (!identityMismatch || namesake || !registry.hasRecord(found) || !registry.inV2(found)) continue;
    if (JSON.stringify(registry.v2.ownership(found)).includes('"children":[{')) return found;
  }
}

const withAnotherNumber = (body: string) =>
  body.replace(/"registration_number":\s*"[^"]*"/, '"registration_number":"00000000"');

const withoutNumbers = (body: string) =>
  body.replaceAll(/"registration_number":\s*"[^"]*"/g, '"registration_number":null');
