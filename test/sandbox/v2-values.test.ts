import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Company } from '../../src/sandbox/registry/types.js';
import { pathOf } from '../../src/sandbox/registry/vocabularies.js';
import { long } from '../helpers/long.js';
import { type Bench, findCompany, openBench, withSandbox } from '../helpers/sandbox.js';

let bench: Bench;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ bench, close } = await openBench({ size: 250 }));
});
afterAll(() => close());

type Filters = Readonly<Record<string, unknown>>;

async function found(filters: Filters): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let page = 1; page <= 10; page++) {
    const { data } = await bench.v2.call('prospecting', { filters, page, per_page: 100 } as never);
    ids.push(...(data.data ?? []).map((hit) => String(hit?.id)));
    if (page >= Number(String(data.total_pages))) break;
  }
  return ids;
}

/** A company with a value for every filter. */
const whole = (): Company =>
  findCompany(bench.sandbox, (company) => {
    const { registry } = bench.sandbox;
    const { website, linkedin, zip, phone, street } = registry.facts(company);
    const has = website !== null && linkedin !== null && zip !== null && phone.length > 0 && street !== null;
    return has && registry.inV2(company) && company.legalForm !== null && company.incorporationDate !== null;
  });

describe('prospecting evaluates the values of its filters', { tags: 'long' }, () => {
  test.each<[string, (company: Company) => readonly [fits: unknown, fitsNot: unknown]]>([
    ['number_of_employees', (one) => [{ gte: staff(one), lte: staff(one) }, { gte: staff(one) + 1 }]],
    ['company_incorporation', (one) => [{ lte: one.incorporationDate }, { gte: '2090-01-01' }]],
    ['website_keywords', (one) => [[website(one).slice(12, 18)], ['xyzzy']]],
    ['url', (one) => [bench.sandbox.registry.facts(one).linkedin, 'https://www.linkedin.com/company/nobody']],
    ['location_zip', (one) => [[bench.sandbox.registry.facts(one).zip], ['no such code']]],
    ['location_type', (one) => [[one.city], ['Atlantis']]],
    ['location_countries', (one) => [{ parents: pathOf(one.countryCode) }, { parents: '1_999' }]],
    [
      'advance_companies',
      () => [
        ['have_website', 'have_telephone'],
        ['have_website', 'have_telephone', 'have_fax'],
      ],
    ],
  ])('%s', async (name, values) => {
    const company = whole();
    const [fits, fitsNot] = values(company);
    expect(await found({ [name]: fits })).toContain(company.v2Id);
    const others = await found({ [name]: fitsNot });
    if (name !== 'advance_companies' || bench.sandbox.registry.facts(company).fax === null)
      expect(others).not.toContain(company.v2Id);
  });

  test.each(['company_type', 'activity_type', 'legal_form', 'industry_focus', 'foreign_parents', 'ownership_accounts'])(
    '%s: no company has two values',
    async (name) => {
      const all = CHOICES[name] ?? [];
      const answers = await Promise.all(all.map((value) => found({ [name]: wrap(name, value) })));
      const seen = answers.flat();
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBeGreaterThan(0);
    },
  );

  test('financial figures are from the newest accounts, bands of visits are from the digital profile', async () => {
    const { v2 } = bench;
    const [id = ''] = await found({ financial_turnover: { gte: 1 } });
    const years = (await v2.call('financial', { id })).data as Readonly<
      Record<string, Readonly<Record<string, unknown>>>
    >;
    const newest = years[Object.keys(years).sort().at(-1) ?? ''] ?? {};
    expect(Number(String(newest.Turnover))).toBeGreaterThanOrEqual(1);
    expect(await found({ financial_turnover: { gte: 1 }, financial_currency: ['XXX'] })).toEqual([]);
    const busy = await found({ insights_visits: ['1000000-5000000'] });
    const quiet = await found({ insights_visits: ['0-10000'] });
    expect(busy.length).toBeGreaterThan(quiet.length);
    expect(busy.filter((one) => quiet.includes(one))).toEqual([]);
  });
});

const staff = (company: Company) => bench.sandbox.registry.facts(company).employees;
const website = (company: Company) => bench.sandbox.registry.facts(company).website ?? '';
const wrap = (name: string, value: unknown) => (/parents|accounts/.test(name) ? value : [value]);

const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  company_type: [71, 72],
  activity_type: [61, 62, 63],
  legal_form: [2000, 2001, 2002],
  industry_focus: ['30000', '30001', '30002'],
  foreign_parents: ['has_a_foreign_parent', 'has_no_foreign_parent'],
  ownership_accounts: ['consolidated', 'not_consolidated'],
};

describe('a company is looked up by any value that identifies it', () => {
  test('telephone number and LEI', async () => {
    const { sandbox, v2 } = bench;
    const { registry } = sandbox;
    const company = findCompany(
      sandbox,
      (one) => registry.inV2(one) && registry.lei(one) !== null && registry.facts(one).phone.length > 0,
    );
    const lei = registry.lei(company) ?? '';
    const [phone = ''] = registry.facts(company).phone;
    for (const params of [{ lei_number: lei }, { phone_number: phone }, { phone_number: phone.replaceAll(' ', '') }]) {
      const { data } = await v2.call('companiesLookup', params);
      expect(data.data?.map((hit) => String(hit?.id))).toEqual([company.v2Id]);
    }
    for (const params of [{ lei_number: lei, country_code: 'XX' }, { phone_number: '+1 2' }, { lei_number: 'X' }])
      expect((await v2.call('companiesLookup', params)).data.data).toEqual([]);
  });

  long('a person, a website and a page, beside all other given values', async () => {
    const { sandbox, v2 } = bench;
    const { registry } = sandbox;
    const company = findCompany(sandbox, (one) => {
      const { website, linkedin } = registry.facts(one);
      return registry.inV2(one) && website !== null && linkedin !== null && registry.v2.employees(one).length > 0;
    });
    const { website, linkedin } = registry.facts(company);
    const [employee] = registry.v2.employees(company);
    const found = async (params: object) =>
      (await v2.call('companiesLookup', params)).data.data?.map((hit) => String(hit?.id));
    const person = { person: employee?.fullName ?? '', registration_number: company.registrationNumber ?? '' };
    const page = { website: website ?? '', url: linkedin ?? '' };
    expect(await found({ ...person, country_code: company.countryCode })).toEqual([company.v2Id]);
    expect(await found({ ...page, ...person, name: company.name })).toEqual([company.v2Id]);
    expect(await found({ ...page, company_status: [registry.statusId(company)] })).toEqual([company.v2Id]);
    for (const other of [{ country_code: 'XX' }, { state: 'ZZ' }, { name: 'Quite Different' }, { company_status: [1] }])
      expect(await found({ ...person, ...page, ...other })).toEqual([]);
    expect(await found({ ...page, person: 'Nobody Here' })).toEqual([]);
  });

  test('e-mail', async () => {
    const { sandbox, v2 } = bench;
    const { registry } = sandbox;
    const company = findCompany(sandbox, (one) => registry.inV2(one) && registry.facts(one).email !== null);
    const { data } = await v2.call('autocomplete', { email: registry.facts(company).email ?? '' });
    expect(data).toMatchObject({ id: company.v2Id });
  });

  test('a post code narrows the search for reports', async () => {
    const { sandbox, v2 } = bench;
    const { registry } = sandbox;
    const company = findCompany(
      sandbox,
      (one) => registry.hasCreditReport(one) && one.registrationNumber !== null && registry.facts(one).zip !== null,
    );
    const params = { country: company.countryCode, registration_number: company.registrationNumber ?? '' };
    const hits = async (post_code: string) => (await v2.call('creditReportSearch', { ...params, post_code })).data;
    expect((await hits(registry.facts(company).zip ?? '')).map(({ id }) => String(id))).toContain(company.sourceId);
    expect(await hits('no such code')).toEqual([]);
  });
});

test("an employee's profile is a reveal, and is counted", async () => {
  await withSandbox({ size: 1_000 }, async ({ sandbox, v2 }) => {
    const employee = [...Array(200).keys()]
      .flatMap((index) => sandbox.registry.v2.employees(sandbox.registry.company(index)))
      .find((one) => one.email !== null && one.phone !== null);
    await v2.call('employeeProfile', { id: employee?.id ?? '' });
    const range = { date_from: '2000-01-01 00:00:00', date_to: '2100-01-01 00:00:00' };
    const { data } = await v2.call('metricsContacts', range);
    expect([String(data.email_count), String(data.phone_count)]).toEqual(['1', '1']);
  });
});

test('a change in the register changes the record, in both APIs, watched or not', async () => {
  await withSandbox({ size: 1_000 }, async ({ sandbox, v1, v2 }) => {
    const { registry } = sandbox;
    const company = findCompany(sandbox, (one) => registry.inV2(one) && registry.hasRecord(one));
    await sandbox.changeCompany(company.v2Id, 'name', 'Quite Another Name');
    await sandbox.changeCompany(company.v2Id, 'vat_number', 'XX123');
    await sandbox.changeCompany(company.v2Id, 'company_address_street', '1 New Street');
    const { data } = await v2.call('kybLite', { id: company.v2Id });
    expect(data).toMatchObject({ name: 'Quite Another Name', vat_number: 'XX123', address_street: '1 New Street' });
    const full = await v1.call('fullKyb', { id: company.v1Id });
    expect(full.data.lite).toMatchObject({ name: 'Quite Another Name', vat_number: 'XX123' });
    // Unchanged fields stay, including the domain.
    expect(data.website ?? null).toBe(registry.facts(company).website);
  });
});
