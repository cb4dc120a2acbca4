// v2 operations for companies and people.

import { permissions } from '../provider-state.js';
import { plain } from '../registry/companies.js';
import type { Registry } from '../registry/index.js';
import type { Company, Employee, SearchKind } from '../registry/types.js';
import {
  flag,
  integer,
  invalidField,
  isObject,
  list,
  notFound,
  numberOf,
  object,
  pageOf,
  required,
  ruleFailure,
  text,
  type Values,
} from '../requests.js';
import {
  bareAddress,
  findAnywhere,
  findByAddress,
  findByEmail,
  findByPhone,
  identity,
  ofCompany,
  optionalText,
  paging,
  people,
  textOf,
  textsOf,
  type V2Call,
  type V2Operation,
} from './operation.js';

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

/**
 * Looks first for values that identify one company, then for a person, else searches. Companies that contradict other
 * values are left out.
 */
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

export const enrichment: Readonly<Record<string, V2Operation>> = {
  enrichCompanyByWebsite: {
    permission: permissions.enrichCompany,
    shape: { url: required(text()) },
    answer: (call) => enriched(call, findByAddress(call.registry, textOf(call.values.url))),
  },
  enrichCompanyByLinkedin: {
    permission: permissions.enrichCompany,
    shape: { linkedin: required(text()) },
    answer: (call) => enriched(call, findByAddress(call.registry, textOf(call.values.linkedin))),
  },
  enrichCompanyByRegistry: {
    permission: permissions.enrichCompany,
    shape: {
      registration_number: text(),
      vat_number: text(),
      country_code: required(text({ pattern: /^[A-Z]{2}$/ })),
      state: text({ pattern: /^[A-Z]{2}$/ }),
    },
    rule(values) {
      if (values.country_code === 'US' && values.state === undefined)
        return invalidField('state', 'Required when country_code is US.');
      if (values.registration_number === undefined && values.vat_number === undefined) {
        return invalidField('registration_number', 'This field is required.');
      }
      return undefined;
    },
    answer(call) {
      const { registry, values, world } = call;
      const country = textOf(values.country_code);
      const location = country === 'US' ? `US-${textOf(values.state)}` : country;
      if (!registry.knowsLocation(location))
        return invalidField('country_code', 'The country is not in the nomenclature.');
      const query = {
        location,
        registrationNumber: optionalText(values.registration_number),
        vatNumber: optionalText(values.vat_number),
      };
      return enriched(call, registry.search(query, world.settings.search).find(registry.inV2));
    },
  },
};

function enriched({ registry }: V2Call, company: Company | undefined) {
  return company ? registry.v2.enriched(company) : notFound();
}

const texts = list(text());
const contactFilters = text({ oneOf: ['have_email_address', 'have_telephone'] });

export const employees: Readonly<Record<string, V2Operation>> = {
  employeesSearch: {
    permission: permissions.employees,
    shape: {
      ...paging,
      filters: object({
        full_name: text({ min: 2 }),
        company_id: integer({ min: 1 }),
        seniority: list(integer()),
        department: list(integer()),
        job_title: texts,
        advance: list(contactFilters),
        url: text(),
      }),
    },
    answer({ registry, values }) {
      const page = pageOf(matching(registry, isObject(values.filters) ? values.filters : {}), values);
      return {
        total_employees: page.total,
        total_pages: page.pages,
        data: page.data.map((one) => ({
          id: one.id,
          name: one.fullName,
          company_id: one.company.v2Id,
          company_name: one.company.name,
        })),
      };
    },
  },
  employeeProfile: {
    permission: permissions.employees,
    shape: { id: required(text()) },
    answer({ world, registry, values }) {
      const employee = registry.v2.employeeById(textOf(values.id));
      if (!employee) return notFound();
      // The profile shows both, which counts as a reveal even if the request did not name them.
      world.contacts.reveal(employee.email !== null, employee.phone !== null);
      return registry.v2.employeeProfile(employee);
    },
  },
  enrichPersonByEmail: person(
    { email: required(text({ pattern: /^[^@\s]+@[^@\s]+$/ })), reveal_phone: flag() },
    (one, { email }) => one.email === email,
  ),
  enrichPersonByLinkedin: person(
    { linkedin: required(text()), reveal_email: flag(), reveal_phone: flag() },
    (one, { linkedin }) => sameAddress(one.linkedin, textOf(linkedin)),
  ),
  enrichPerson: {
    ...person(
      {
        first_name: text(),
        last_name: text(),
        company_name: text(),
        domain: text(),
        email: text(),
        linkedin: text(),
        reveal_email: flag(),
        reveal_phone: flag(),
      },
      fitsDescription,
    ),
    rule: (values) =>
      describing.some((name) => values[name] !== undefined)
        ? undefined
        : invalidField('first_name', `One of ${describing.join(', ')} is required.`),
  },
  enrichEmployeesSearch: {
    permission: permissions.enrichPerson,
    shape: {
      domain_list: texts,
      company_locations: texts,
      employee_locations: texts,
      employee_seniorities: texts,
      ...paging,
    },
    answer({ registry, values }) {
      const page = pageOf(inDomains(registry, values), values);
      return {
        total_employees: page.total,
        total_pages: page.pages,
        data: page.data.map((one) => ({
          name: one.fullName,
          seniority_level: one.seniority,
          job_title: one.jobTitle,
          country: one.country,
          city: one.city,
          company: {
            name: one.company.name,
            website: (registry.v2.profile(one.company) as Values).company_website as string | null,
            country: one.company.countryCode,
            city: one.company.city,
          },
        })),
      };
    },
  },
};

const describing = ['first_name', 'last_name', 'company_name', 'domain', 'email', 'linkedin'];

/** Contact data is revealed unless the request declines it, and every reveal counts. */
function person(
  shape: V2Operation['shape'],
  fits: (one: Employee, values: Values, registry: Registry) => boolean,
): V2Operation {
  return {
    permission: permissions.enrichPerson,
    shape,
    answer({ world, registry, values }: V2Call) {
      const found = meant(registry, values).find((one) => fits(one, values, registry));
      if (!found) return notFound();
      const mayReveal = Object.hasOwn(shape, 'reveal_email') && values.reveal_email !== false;
      const email = mayReveal ? found.email : null;
      const phone = values.reveal_phone !== false ? found.phone : null;
      world.contacts.reveal(email !== null, phone !== null);
      return {
        id: found.id,
        full_name: found.fullName,
        gender: (registry.v2.employeeProfile(found) as Values).gender as string | null,
        seniority_level: [found.seniority],
        function_original_name: found.jobTitle,
        phone,
        email: mayReveal ? email : (optionalText(values.email) ?? null),
        company_id: found.company.v2Id,
        company_name: found.company.name,
      };
    },
  };
}

/**
 * The people that a description can mean: of the company it names by domain, e-mail or page, else of the first
 * companies.
 */
function meant(registry: Registry, { domain, email, linkedin }: Values): readonly Employee[] {
  const named = [
    ...(domain === undefined ? [] : [findByAddress(registry, textOf(domain))]),
    ...(email === undefined ? [] : [findByEmail(registry, textOf(email))]),
    ...(linkedin === undefined ? [] : [employerOn(registry, textOf(linkedin))]),
  ];
  const [first] = named;
  if (named.length === 0) return people(registry);
  return first === undefined ? [] : registry.v2.employees(first);
}

/** A person's page ends in the company's index. */
function employerOn(registry: Registry, page: string): Company | undefined {
  const index = Number(/-(\d+)$/.exec(bareAddress(page))?.[1] ?? Number.NaN);
  const company = index < registry.size ? registry.company(index) : undefined;
  return company !== undefined && registry.inV2(company) ? company : undefined;
}

function fitsDescription(one: Employee, values: Values, registry: Registry): boolean {
  const same = (value: string | null, wanted: unknown) =>
    wanted === undefined || value?.toLowerCase() === textOf(wanted).toLowerCase();
  return (
    same(one.firstName, values.first_name) &&
    same(one.lastName, values.last_name) &&
    same(one.company.name, values.company_name) &&
    same(one.email, values.email) &&
    (values.linkedin === undefined || sameAddress(one.linkedin, textOf(values.linkedin))) &&
    (values.domain === undefined || findByAddress(registry, textOf(values.domain))?.index === one.company.index)
  );
}

function sameAddress(address: string | null, wanted: string): boolean {
  return address !== null && bareAddress(address) === bareAddress(wanted);
}

function matching(registry: Registry, filters: Values): readonly Employee[] {
  const company = filters.company_id === undefined ? undefined : registry.byV2Id(textOf(filters.company_id));
  if (filters.company_id !== undefined && !company) return [];
  const names = (vocabulary: string, wanted: unknown) => {
    const known = registry.v2.nomenclature(vocabulary, {}) ?? [];
    return known.filter((item) => textsOf(wanted).includes(String(item.id))).map((item) => item.name.toLowerCase());
  };
  const seniorities = names('seniority', filters.seniority);
  const departments = names('department', filters.department);
  const contacts = textsOf(filters.advance);
  const titles = textsOf(filters.job_title).map((title) => title.toLowerCase());
  const fullName = textOf(filters.full_name).toLowerCase();
  return (company ? registry.v2.employees(company) : people(registry)).filter(
    (one) =>
      one.fullName.toLowerCase().includes(fullName) &&
      (filters.seniority === undefined || seniorities.includes(one.seniority.toLowerCase())) &&
      (filters.department === undefined || departments.includes(one.department.toLowerCase())) &&
      (titles.length === 0 || titles.some((title) => one.jobTitle.toLowerCase().includes(title))) &&
      (!contacts.includes('have_email_address') || one.email !== null) &&
      (!contacts.includes('have_telephone') || one.phone !== null) &&
      (filters.url === undefined || sameAddress(one.linkedin, textOf(filters.url))),
  );
}

function inDomains(registry: Registry, values: Values): readonly Employee[] {
  const named = new Set(textsOf(values.domain_list).flatMap((domain) => findByAddress(registry, domain) ?? []));
  const everybody = values.domain_list === undefined ? people(registry) : [...named].flatMap(registry.v2.employees);
  const oneOf = (wanted: unknown, ...given: readonly string[]) =>
    wanted === undefined ||
    textsOf(wanted).some((entry) => given.some((value) => value.toLowerCase() === entry.toLowerCase()));
  return everybody.filter(
    (one) =>
      oneOf(values.company_locations, one.company.countryCode, one.company.city) &&
      oneOf(values.employee_locations, one.country, one.city) &&
      oneOf(values.employee_seniorities, one.seniority),
  );
}
