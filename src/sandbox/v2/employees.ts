import type { Company, Employee, Registry } from '../registry/types.js';
import { flag, integer, isObject, list, object, required, text, type Values } from '../validate.js';
import { invalidField, notFound } from './errors.js';
import { bare, findByAddress, findByEmail, people } from './finder.js';
import { optionalText, pageOf, paging, textOf, textsOf, type V2Call, type V2Operation } from './operation.js';
import { permissions } from './permissions.js';

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
      // The profile shows both: that is a reveal, though nobody asked for it by name.
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

/** Contact data is revealed unless refused, and every reveal counts. */
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

/** Whom a description can mean: those of the company that it names by domain, e-mail or page; else those of the first companies. */
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

/** The page of a person ends in the place of the company in the registry. */
function employerOn(registry: Registry, page: string): Company | undefined {
  const index = Number(/-(\d+)$/.exec(bare(page))?.[1] ?? Number.NaN);
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
  return address !== null && bare(address) === bare(wanted);
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
