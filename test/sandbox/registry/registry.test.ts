import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRegistry } from '../../../src/sandbox/registry/index.js';
import type { Traits } from '../../../src/sandbox/registry/layout.js';
import type { Company } from '../../../src/sandbox/registry/types.js';
import { long } from '../../helpers/long.js';

const registry = createRegistry({ seed: 7 });
const anyCompany = fc.integer({ min: 0, max: registry.size - 1 }).map((index) => registry.company(index));
const includes = (found: readonly Company[], company: Company) => found.some(({ index }) => index === company.index);
const locationOf = ({ countryCode, state }: Company) =>
  ['US', 'CA', 'CN'].includes(countryCode) ? `${countryCode}-${state}` : countryCode;

/** The first company that is accepted. */
function firstCompany(accepts: (company: Company) => boolean): Company {
  for (let index = 0; index < 60_000; index++) {
    const company = registry.company(index);
    if (accepts(company)) return company;
  }
  throw new Error('no such company');
}

describe('every company is found', () => {
  long('by its number, in both kinds of search', () => {
    fc.assert(
      fc.property(anyCompany, (company) => {
        if (company.registrationNumber === null) return;
        const query = { location: company.countryCode, registrationNumber: company.registrationNumber };
        expect(includes(registry.search(query, 'exact'), company)).toBe(true);
        expect(includes(registry.search(query, 'forgiving'), company)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  long('alone, by its number in its own state or court', () => {
    fc.assert(
      fc.property(anyCompany, (company) => {
        if (company.registrationNumber === null) return;
        const court = company.countryCode === 'DE' ? `${company.jurisdiction} ` : '';
        const registrationNumber = `${court}${company.registrationNumber}`;
        expect(registry.search({ location: locationOf(company), registrationNumber }, 'exact')).toEqual([company]);
      }),
      { numRuns: 500 },
    );
  });

  test('alone, by its VAT number', () => {
    fc.assert(
      fc.property(anyCompany, (company) => {
        if (company.vatNumber === null) return;
        const query = { location: company.countryCode, vatNumber: company.vatNumber };
        expect(registry.search(query, 'exact')).toEqual([company]);
      }),
      { numRuns: 500 },
    );
  });

  long('by its name, among its namesakes', () => {
    fc.assert(
      fc.property(anyCompany, (company) => {
        const query = { location: company.countryCode, name: company.name };
        expect(includes(registry.search(query, 'forgiving', 40), company)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('by its ticker', () => {
    const listed = firstCompany(({ ticker }) => ticker !== null);
    const query = { location: listed.countryCode, ticker: listed.ticker?.toLowerCase() };
    expect(registry.search(query, 'exact')).toEqual([listed]);
  });
});

describe('V1-17 V2-4 IDs', () => {
  long('lead back to their company, and no space shares an ID with another', () => {
    const seen = new Set<string>();
    for (let index = 0; index < 2_000; index++) {
      const company = registry.company(index * 499);
      for (const id of [company.v1Id, company.v2Id, company.sourceId]) seen.add(id);
      expect(registry.byV1Id(company.v1Id)).toEqual(company);
      expect(registry.byV2Id(company.v2Id)).toEqual(registry.inV2(company) ? company : undefined);
      expect(registry.bySourceId(company.sourceId)).toEqual(registry.hasCreditReport(company) ? company : undefined);
      expect(registry.byV1Id(company.v2Id) ?? registry.byV2Id(company.v1Id)).toBeUndefined();
      expect(registry.byV1Id(company.sourceId) ?? registry.byV2Id(company.sourceId)).toBeUndefined();
    }
    expect(seen.size).toBe(6_000);
  });

  test.each(['', '0', 'abc', '-1', '1e9', '99999999999999999999999999', '10000001'])('%j is no company', (id) => {
    expect(registry.byV1Id(id) ?? registry.byV2Id(id) ?? registry.bySourceId(id)).toBeUndefined();
  });
});

describe('search', () => {
  test('one number at two courts gives two candidates', () => {
    const hits = Array.from({ length: 300 }, (_, i) =>
      registry.search({ location: 'DE', registrationNumber: `HRB ${2_000 + i}` }, 'exact'),
    );
    const two = hits.find((found) => found.length > 1) ?? [];
    expect(new Set(two.map(({ state }) => state)).size).toBeGreaterThan(1);
    expect(new Set(two.map(({ registrationNumber }) => registrationNumber)).size).toBe(1);
  });

  test('one number in two states gives two candidates', () => {
    const company = firstCompany(
      ({ countryCode, state, registrationNumber }) =>
        countryCode === 'US' &&
        state === 'DE' &&
        registrationNumber !== null &&
        registry.search({ location: 'US', registrationNumber }, 'exact').length > 1,
    );
    const registrationNumber = company.registrationNumber ?? '';
    expect(registry.search({ location: 'US-DE', registrationNumber }, 'exact')).toEqual([company]);
  });

  test('forgiving ignores separators, case, lost zeros and the country, exact does not', () => {
    const company = firstCompany(
      ({ countryCode, registrationNumber }) => countryCode === 'GB' && /^00\d{6}$/.test(registrationNumber ?? ''),
    );
    const number = company.registrationNumber ?? '';
    const spellings = [number.slice(2), ` ${number.slice(0, 4)}-${number.slice(4)} `, `gb${number}`];
    for (const registrationNumber of spellings) {
      expect(registry.search({ location: 'GB', registrationNumber }, 'forgiving')).toEqual([company]);
      expect(registry.search({ location: 'GB', registrationNumber }, 'exact')).toEqual([]);
    }
  });

  test('a number beats a conflicting name', () => {
    const company = firstCompany(
      ({ countryCode, registrationNumber }) => countryCode === 'FR' && registrationNumber !== null,
    );
    const query = { location: 'FR', registrationNumber: company.registrationNumber ?? '', name: 'Somebody Else' };
    expect(registry.search(query, 'forgiving')).toEqual([company]);
  });

  test('a number with one wrong digit often is another company', () => {
    let decoys = 0;
    let tried = 0;
    for (let index = 0; tried < 200; index++) {
      const { countryCode, registrationNumber } = registry.company(index);
      if (countryCode !== 'NL' || registrationNumber === null) continue;
      tried++;
      const last = (Number(registrationNumber.at(-1)) + 1) % 10;
      const query = { location: 'NL', registrationNumber: `${registrationNumber.slice(0, -1)}${last}` };
      decoys += registry.search(query, 'exact').length;
    }
    expect(decoys / tried).toBeGreaterThan(0.4);
  });

  test('a similar name finds companies, nonsense finds none, a place narrows the search', () => {
    const company = firstCompany(
      ({ countryCode, registrationNumber }) => countryCode === 'GB' && registrationNumber !== null,
    );
    const [first = '', trade = ''] = company.name.replace(/[^\p{L}' ]/gu, '').split(' ');
    expect(registry.search({ location: 'GB', name: `${first} ${trade}` }, 'forgiving').length).toBeGreaterThan(0);
    expect(registry.search({ location: 'GB', name: 'Xqzw Vbnmk' }, 'forgiving')).toEqual([]);
    const narrowed = registry.search({ location: 'GB', name: first, cityOrState: ['london'] }, 'forgiving');
    expect(narrowed.every(({ city }) => city === 'London')).toBe(true);
  });

  test('a path of the nomenclature is a location', () => {
    const country = registry.v2.nomenclature('country', { parent: '1' })?.find(({ name }) => name === 'Germany');
    const region = registry.v2.nomenclature('region', { parent: country?.parents ?? '' })?.[0];
    const company = firstCompany(
      ({ jurisdiction, registrationNumber }) => jurisdiction === region?.name && registrationNumber !== null,
    );
    for (const location of [country?.parents ?? '', region?.parents ?? '']) {
      expect(registry.knowsLocation(location)).toBe(true);
      const query = { location, registrationNumber: company.registrationNumber ?? '' };
      expect(includes(registry.search(query, 'exact'), company)).toBe(true);
    }
  });
});

test.each([
  ['GB', true],
  ['GR', true],
  ['US-CA', true],
  ['CN-BJ', true],
  ['UK', false],
  ['XX', false],
  ['US-XX', false],
  ['GB-SCT', false],
  ['1_9999', false],
])('V2-5 location %s is known: %s', (location, known) => {
  expect(registry.knowsLocation(location)).toBe(known);
});

test('two registries of one seed are equal, another seed gives another registry', () => {
  const twin = createRegistry({ seed: 7 });
  const other = createRegistry({ seed: 8 });
  fc.assert(
    fc.property(anyCompany, (company) => {
      expect(twin.company(company.index)).toEqual(company);
      expect(JSON.stringify(twin.v1.full(company, true))).toBe(JSON.stringify(registry.v1.full(company, true)));
    }),
    { numRuns: 50 },
  );
  expect(other.company(1).v1Id).not.toBe(registry.company(1).v1Id);
});

test('small registries work, down to one company', () => {
  for (const size of [1, 2, 50, 1_500]) {
    const small = createRegistry({ seed: 3, size });
    for (let index = 0; index < Math.min(size, 60); index++) {
      const company = small.company(index);
      expect(small.byV1Id(company.v1Id)).toEqual(company);
      expect(
        includes(small.search({ location: company.countryCode, name: company.name }, 'forgiving', 50), company),
      ).toBe(true);
    }
  }
  expect(() => registry.company(registry.size)).toThrow(RangeError);
});

const flags: readonly (keyof Traits)[] = [
  'noRecord',
  'identityMismatch',
  'unknownToV2',
  'noCreditReport',
  'noRegistrationNumber',
  'noVatNumber',
  'noAccounts',
  'dissolved',
  'namesake',
  'listed',
  'large',
  'deepGroup',
  'wideGroup',
  'idBeyond2To53',
  'stringId',
  'formulaName',
  'quotedName',
];

test('two thousand companies show every trait', () => {
  const missing = new Set<string>(flags);
  const states = new Set<string>();
  for (let index = 0; index < 2_000; index++) {
    const traits = registry.traits(registry.company(index));
    for (const flag of flags) if (traits[flag] === true) missing.delete(flag);
    for (const kind of ['officers', 'shareholders', 'groupLinks', 'filedFinancials'] as const) {
      states.add(`${kind} ${traits[kind]}`);
    }
  }
  expect([...missing]).toEqual([]);
  expect(states.size).toBe(12);
});

test('names have quotes, commas, apostrophes, umlauts, CJK, Hebrew and formula characters', () => {
  const names = Array.from({ length: 2_000 }, (_, index) => registry.company(index).name);
  for (const shape of [/"/, /,/, /'/, /[äöüß]/, /\p{Script=Han}/u, /\p{Script=Hebrew}/u, /^[=+\-@]/]) {
    expect(names.some((name) => shape.test(name))).toBe(true);
  }
});

test('a namesake has another company of its name in its register', () => {
  const company = firstCompany((candidate) => registry.traits(candidate).namesake && candidate.countryCode === 'FR');
  const words = (name: string) =>
    name
      .replace(/["=+@,-]/g, '')
      .split(' ')
      .slice(0, 2)
      .join(' ');
  const found = registry.search({ location: 'FR', name: company.name }, 'forgiving', 40);
  expect(found.filter(({ name }) => words(name) === words(company.name)).length).toBeGreaterThan(1);
});
