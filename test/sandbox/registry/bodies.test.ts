import { describe, expect, test } from 'vitest';
import { type Json, writeJson } from '../../../src/sandbox/json.js';
import { createRegistry } from '../../../src/sandbox/registry/index.js';
import type { Traits } from '../../../src/sandbox/registry/layout.js';
import type { Company } from '../../../src/sandbox/registry/types.js';
import { long } from '../../helpers/long.js';

const registry = createRegistry({ seed: 7 });
const companies = Array.from({ length: 250 }, (_, i) => registry.company(i * 2_311));

function companyWith(accepts: (traits: Traits) => boolean): Company {
  for (let index = 0; index < 60_000; index++) {
    const company = registry.company(index);
    if (accepts(registry.traits(company))) return company;
  }
  throw new Error('no such company');
}

const parsed = (body: Json) => JSON.parse(writeJson(body)) as Record<string, unknown>;
const list = (body: readonly Json[]) => JSON.parse(writeJson(body)) as Record<string, unknown>[];

long('JSON.parse accepts every body of every company', () => {
  for (const company of companies.slice(0, 80)) {
    const { v1, v2 } = registry;
    const bodies: Json[] = [
      v1.candidate(company, true),
      v1.lite(company, false),
      v1.lite(company, true),
      v1.officers(company, true),
      v1.shareholders(company),
      v1.source(company),
      v1.groupLite(company),
      v1.groupFull(company),
      v1.financial(company),
      v1.full(company, true),
      v2.candidate(company),
      v2.lite(company),
      v2.officers(company),
      v2.shareholders(company),
      v2.filedFinancials(company),
      v2.flatFinancials(company),
      v2.lookupHit(company),
      v2.profile(company),
      v2.enriched(company),
      v2.insightsHit(company),
      v2.insights(company),
      v2.ownership(company),
      v2.reportHit(company),
      v2.reportBody(company),
      v2.employees(company).map((employee) => v2.employeeProfile(employee)),
    ];
    for (const body of bodies) expect(() => JSON.parse(writeJson(body))).not.toThrow();
    expect(v2.reportHtml(company)).toMatch(/^<!doctype html>/);
  }
});

describe('v1', () => {
  test('V1-17 IDs are integers and strings, some beyond 2^53', () => {
    const texts = companies.map((company) => writeJson(registry.v1.candidate(company, false)));
    const ids = texts.map((text) => /"id":("?\d+"?)/.exec(text)?.[1] ?? '');
    expect(ids.some((id) => id.startsWith('"'))).toBe(true);
    expect(ids.some((id) => /^\d{19}$/.test(id))).toBe(true);
    expect(ids.some((id) => /^\d{8}$/.test(id))).toBe(true);
  });

  test('V1-25 the lite profile is grouped with provenance and flat without', () => {
    const company = companyWith(({ listed }) => listed);
    const grouped = parsed(registry.v1.lite(company, true));
    const flat = parsed(registry.v1.lite(company, false));
    expect(grouped).toMatchObject({
      basic: { name: company.name, source: expect.any(Object) },
      address: { country_code: company.countryCode, source: expect.any(Object) },
      contact: { source: expect.any(Object) },
    });
    expect(flat).toMatchObject({ name: company.name, country_code: company.countryCode, ticker: company.ticker });
    expect(flat).not.toHaveProperty('source');
  });

  test('V1-22 lists have items, are empty, or are absent', () => {
    for (const state of ['some', 'empty', 'absent'] as const) {
      const company = companyWith((traits) => traits.officers === state);
      const { officers } = parsed(registry.v1.full(company, false)) as { officers?: unknown[] };
      if (state === 'absent') expect(officers).toBeUndefined();
      else expect((officers ?? []).length > 0).toBe(state === 'some');
    }
  });

  long('V1-23 values are numbers with their scale, strings and null, some with 25 digits', () => {
    const text = companies.map((company) => writeJson(registry.v1.financial(company))).join('\n');
    expect(text).toMatch(/":-?\d+\.\d?0[,}]/);
    expect(text).toMatch(/-\d\d":"-?\d/);
    expect(text).toMatch(/-\d\d":null/);
    expect(text).toMatch(/[:"]\d{25}\b/);
    expect(text).toMatch(/":-\d/);
    expect(text).toMatch(/"progress":\[/);
    expect(text).toMatch(/"list":\{[^}]*\}\}/);
  });

  test('V1-26 V1-27 group links name their source as a string, and nodes have numbers with a country prefix', () => {
    const company = companyWith(
      (traits) => traits.wideGroup && traits.groupLinks === 'some' && !traits.noRegistrationNumber,
    );
    const full = parsed(registry.v1.full(company, false)) as { group_structures_full: Record<string, unknown>[] };
    expect(full.group_structures_full.length).toBe(300);
    for (const link of full.group_structures_full) expect(typeof link.source).toBe('string');
    const [root] = list(registry.v1.groupFull(company));
    expect(root).toMatchObject({
      selected: true,
      registration_number: `${company.countryCode}-${company.registrationNumber}`,
    });
  });

  test('a deep group has more than fifty levels, its immediate part two or three', () => {
    const company = companyWith((traits) => traits.deepGroup && traits.groupLinks === 'some');
    const depth = (nodes: readonly Json[]) => {
      let levels = 0;
      type Node = { children: Node[] };
      for (let level = list(nodes) as unknown as Node[]; level.length > 0; level = level.flatMap((n) => n.children))
        levels++;
      return levels;
    };
    expect(depth(registry.v1.groupFull(company))).toBeGreaterThan(50);
    expect(depth(registry.v1.groupLite(company))).toBe(3);
  });

  long('V1-28 births are partial, and contacts are only in the provenance groups', () => {
    const officers = companies.flatMap((company) => list(registry.v1.officers(company, false)));
    expect(officers.some((o) => o.date_of_birth_year !== null && o.date_of_birth_month === null)).toBe(true);
    expect(officers.some((o) => o.date_of_birth_year === null)).toBe(true);
    expect(officers.some((o) => o.resigned_at !== null)).toBe(true);
    expect(officers.some((o) => 'email' in o || 'contact' in o)).toBe(false);
    const groups = companies.flatMap((company) => list(registry.v1.officers(company, true)));
    expect(groups.some((o) => typeof (o.contact as { email?: unknown }).email === 'string')).toBe(true);
  });

  long('V1-29 the record has eight fields and sometimes more', () => {
    const eight = [
      'id',
      'name',
      'registration_number',
      'vat_number',
      'incorporation_date',
      'status',
      'country_code',
      'legal_form',
    ];
    const keys = companies.map((company) => Object.keys(parsed(registry.v1.full(company, false)).lite as object));
    for (const own of keys) expect(own.slice(0, 8)).toEqual(eight);
    expect(keys.some((own) => own.length > 8)).toBe(true);
    expect(keys.some((own) => own.length === 8)).toBe(true);
  });

  test('an identity mismatch shows in the record, never in the candidate', () => {
    const company = companyWith(({ identityMismatch }) => identityMismatch);
    const full = parsed(registry.v1.full(company, false)) as { lite: { registration_number: string } };
    expect(full.lite.registration_number).not.toBe(company.registrationNumber);
    expect(parsed(registry.v1.candidate(company, false)).registration_number).toBe(company.registrationNumber);
  });

  test('people and holders are found by name', () => {
    const company = companyWith(
      (traits) => traits.officers === 'some' && traits.shareholders === 'some' && traits.large,
    );
    const officer = list(registry.v1.officers(company, false))[3];
    const name = `${officer?.first_name} ${officer?.last_name}`;
    const byNumber = { name, company_reg_number: company.registrationNumber };
    expect(list(registry.v1.officerSearch(byNumber, false)).map((o) => o.company_name)).toContain(company.name);
    const anywhere = list(registry.v1.officerSearch({ name, status: 'C' }, true));
    expect(anywhere.length).toBeGreaterThan(5);
    for (const found of anywhere)
      expect(found).toMatchObject({ resigned_at: null, company: { company_id: found.company_id } });
    const holder = list(registry.v1.shareholders(company))[1];
    const held = list(registry.v1.shareholderSearch({ name: holder?.name }, 'full', false));
    expect(held.map((item) => (item.company as { name: string }).name)).toContain(company.name);
    expect(held[0]?.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{3}\+0000$/);
  });
});

describe('v2', () => {
  test('V2-8 a large company has more than 250 indicators a year and about 80 KB', () => {
    const company = companyWith((traits) => traits.large && !traits.noAccounts);
    const text = writeJson(registry.v2.flatFinancials(company));
    expect(text.length).toBeGreaterThan(60_000);
    expect(text.length).toBeLessThan(110_000);
    const years = JSON.parse(text) as Record<string, Record<string, unknown>>;
    for (const [year, values] of Object.entries(years)) {
      expect(Object.keys(values).length).toBeGreaterThan(250);
      expect(values['Reported-Date']).toBe(`${year}-12-31`);
      expect(typeof values.Currency).toBe('string');
    }
    expect(Object.keys(parsed(registry.v2.flatFinancials(company, 2023)))).toEqual(['2023']);
  });

  test('V2-2 a company without accounts answers {}', () => {
    expect(writeJson(registry.v2.flatFinancials(companyWith(({ noAccounts }) => noAccounts)))).toBe('{}');
  });

  long('V2-7 the report has every section, and texts for the limit and the employees', () => {
    const texts = companies.slice(0, 60).map((company) => parsed(registry.v2.reportBody(company)));
    for (const body of texts) {
      expect(body).toMatchObject({
        summary: {
          overall_credit_risk: { pod: expect.any(Number), creditLimit: { value: expect.any(String) } },
          what_we_like_about_this_company: expect.any(Array),
        },
        company_profile: { vat_number: expect.any(Array) },
      });
    }
  });

  test('employees are found by their ID', () => {
    const [employee] = registry.v2.employees(companyWith(({ large }) => large));
    expect(registry.v2.employeeById(employee?.id ?? '')).toEqual(employee);
    expect(registry.v2.employeeById('1')).toBeUndefined();
  });
});

const vocabularies =
  'seniority department activity-type company-type company-status legal-form industry-focus isic nace sic/gb country region states technology currency'.split(
    ' ',
  );

test.each(vocabularies)('nomenclature %s has items whose path ends in their own ID', (name) => {
  const items = registry.v2.nomenclature(name, { country: 'US' }) ?? [];
  expect(items.length).toBeGreaterThan(1);
  for (const { id, parents } of items) expect(parents.split('_').at(-1)).toBe(String(id));
  const ids = items.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each(['country', 'nace', 'isic', 'industry-focus', 'technology', 'sic/us'])(
  'nomenclature %s has levels',
  (name) => {
    const [root] = registry.v2.nomenclature(name, {}) ?? [];
    const children = registry.v2.nomenclature(name, { parent: root?.parents }) ?? [];
    expect(root?.has_children).toBe(true);
    expect(children.length).toBeGreaterThan(1);
    for (const { parents } of children) expect(parents.startsWith(`${root?.parents}_`)).toBe(true);
    expect(registry.v2.nomenclature(name, { parent: 'nobody' })).toEqual([]);
  },
);

test('V2-14 the company statuses have their known IDs, and unknown vocabularies do not exist', () => {
  const statuses = registry.v2.nomenclature('company-status', {})?.map(({ id, name }) => [name, id]);
  expect(statuses).toEqual([
    ['Active', 106],
    ['Inactive', 108],
    ['Intermediate', 1615],
  ]);
  for (const name of ['constructor', 'sic/xx', 'states', ''])
    expect(registry.v2.nomenclature(name, {})).toBeUndefined();
});
