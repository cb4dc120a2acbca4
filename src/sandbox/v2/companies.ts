import { plain } from '../registry/names.js';
import type { Company, Registry, SearchKind } from '../registry/types.js';
import { integer, list, text, type Values } from '../validate.js';
import { notFound, ruleFailure } from './errors.js';
import { findAnywhere, findByAddress, findByEmail, findByPhone, people } from './finder.js';
import { numberOf, ofCompany, optionalText, pageOf, type V2Operation } from './operation.js';
import { permissions } from './permissions.js';

const countryCode = text({ pattern: /^[A-Z]{2}$/ });
const completing = ['name', 'registration_number', 'vat_number', 'website', 'phone_number'];

export const companies: Readonly<Record<string, V2Operation>> = {
  companiesLookup: {
    permission: permissions.companies,
    shape: {
      country_code: countryCode,
      state: countryCode,
      name: text(),
      registration_number: text(),
      lei_number: text(),
      vat_number: text(),
      website: text(),
      phone_number: text(),
      person: text(),
      company_status: list(integer()),
      url: text(),
      page: integer({ min: 1 }),
      per_page: integer({ min: 1, max: 5 }),
    },
    answer({ world, registry, values }) {
      const wanted = values.company_status;
      const found = lookup(registry, values, world.settings.search).filter(
        (company) => !Array.isArray(wanted) || wanted.map(Number).includes(registry.statusId(company)),
      );
      const page = pageOf(found, values, 5);
      return {
        total_results: page.total,
        total_pages: page.pages,
        data: page.data.map((company) => registry.v2.lookupHit(company)),
      };
    },
  },
  companyProfile: ofCompany(permissions.companies, 'v2profile', (registry, company) => registry.v2.profile(company)),
  autocomplete: {
    permission: permissions.autocomplete,
    shape: {
      country_code: countryCode,
      name: text(),
      registration_number: text(),
      vat_number: text(),
      website: text(),
      email: text(),
      url: text(),
      phone_number: text(),
    },
    rule(values) {
      if (values.country_code === undefined && (values.email !== undefined || values.url !== undefined))
        return undefined;
      if (completing.some((name) => values[name] !== undefined)) return undefined;
      return ruleFailure(`country_code must be paired with at least one of ${completing.join(', ')}.`);
    },
    answer({ world, registry, values }) {
      const company = lookup(registry, values, world.settings.search)[0];
      return company ? registry.v2.enriched(company) : notFound();
    },
  },
  insightsSearch: {
    permission: permissions.insights,
    shape: { name: text(), registration_number: text() },
    rule: nameOrNumber,
    answer: ({ world, registry, values }) =>
      findAnywhere(registry, identity(values), world.settings.search).map((company) =>
        registry.v2.insightsHit(company),
      ),
  },
  insightsProfile: ofCompany(permissions.insights, 'v2insights', (registry, company) => registry.v2.insights(company)),
  ownership: {
    permission: permissions.ownership,
    shape: { name: text(), registration_number: text() },
    rule: nameOrNumber,
    answer({ world, registry, values }) {
      const company = findAnywhere(registry, identity(values), world.settings.search, 1)[0];
      return company ? registry.v2.ownership(company) : notFound();
    },
  },
};

function nameOrNumber(values: Values) {
  return values.name === undefined && values.registration_number === undefined
    ? ruleFailure('One of name, registration_number is required.')
    : undefined;
}

function identity(values: Values) {
  return {
    name: optionalText(values.name),
    registrationNumber: optionalText(values.registration_number),
    vatNumber: optionalText(values.vat_number),
    ticker: optionalText(values.ticker),
  };
}

/** By whatever names one company first, then by a person, else by a search; whoever does not fit the rest is left out. */
export function lookup(registry: Registry, values: Values, kind: SearchKind): readonly Company[] {
  const named = ONE_COMPANY.flatMap(({ name, find }) => {
    const wanted = optionalText(values[name]);
    return wanted === undefined ? [] : [find(registry, wanted)];
  });
  const person = optionalText(values.person);
  if (named.length === 0 && person === undefined) return search(registry, values, kind);
  const [first, ...others] = named;
  const isFirst = (company: Company) => company.index === first?.index;
  const found = named.length === 0 ? employersOf(registry, person ?? '') : first === undefined ? [] : [first];
  return found.filter(
    (company) =>
      registry.inV2(company) &&
      others.every((other) => other !== undefined && isFirst(other)) &&
      (person === undefined || registry.v2.employees(company).some(({ fullName }) => fullName === person)) &&
      fits(company, values),
  );
}

const employersOf = (registry: Registry, fullName: string): readonly Company[] => [
  ...new Map(
    people(registry).flatMap((one) => (one.fullName === fullName ? [[one.company.index, one.company]] : [])),
  ).values(),
];

function fits(company: Company, { country_code, state, registration_number, vat_number, name }: Values): boolean {
  const isNamed = typeof name !== 'string' || plain(company.name).includes(plain(name));
  const said = { countryCode: country_code, state, registrationNumber: registration_number, vatNumber: vat_number };
  return (
    isNamed &&
    (Object.keys(said) as (keyof typeof said)[]).every((key) => said[key] === undefined || company[key] === said[key])
  );
}

const ONE_COMPANY: readonly {
  readonly name: string;
  readonly find: (registry: Registry, wanted: string) => Company | undefined;
}[] = [
  { name: 'lei_number', find: (registry, lei) => registry.byLei(lei) },
  { name: 'website', find: findByAddress },
  { name: 'url', find: findByAddress },
  { name: 'phone_number', find: findByPhone },
  { name: 'email', find: findByEmail },
];

function search(registry: Registry, values: Values, kind: SearchKind): readonly Company[] {
  const wanted = identity(values);
  const country = optionalText(values.country_code);
  const state = optionalText(values.state);
  if (Object.values(wanted).some((value) => value !== undefined)) {
    if (country === undefined) return findAnywhere(registry, wanted, kind);
    const location = state === undefined ? country : `${country}-${state}`;
    return registry.knowsLocation(location) ? registry.search({ ...wanted, location }, kind).filter(registry.inV2) : [];
  }
  const firstPages = Math.min(registry.size, numberOf(values.page, 1) * 5 + 200);
  return Array.from({ length: firstPages }, (_, index) => registry.company(index)).filter(
    (company) => registry.inV2(company) && (country === undefined || company.countryCode === country),
  );
}
