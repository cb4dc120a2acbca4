import type { Json } from '../json.js';
import { date, integer, list, range, required, text } from '../validate.js';
import { invalidField } from './errors.js';
import { ofCompany, optionalText, pageOf, paging, textOf, type V2Operation } from './operation.js';
import { permissions } from './permissions.js';

const locationPattern = /^(?:[A-Z]{2}|(?:US|CA|CN)-[A-Z0-9]{2,3}|\d+(?:_\d+)*)$/;

export const kyb: Readonly<Record<string, V2Operation>> = {
  kybSearch: {
    permission: permissions.kybSearch,
    shape: {
      location: required(text()),
      name: text(),
      registration_number: text(),
      vat_number: text(),
      ticker: text(),
    },
    rule(values) {
      const given = ['name', 'registration_number', 'vat_number', 'ticker'].some((name) => values[name] !== undefined);
      return given
        ? undefined
        : invalidField('name', 'One of name, registration_number, vat_number, ticker must accompany the location.');
    },
    answer({ world, registry, values }) {
      const location = textOf(values.location);
      if (!locationPattern.test(location))
        return invalidField('location', 'The location has none of the accepted forms.');
      if (!registry.knowsLocation(location))
        return invalidField('location', 'The location is not in the nomenclature.');
      const query = {
        location,
        name: optionalText(values.name),
        registrationNumber: optionalText(values.registration_number),
        vatNumber: optionalText(values.vat_number),
        ticker: optionalText(values.ticker),
      };
      const found = registry.search(query, world.settings.search);
      return found.filter(registry.inV2).map((company) => registry.v2.candidate(company));
    },
  },
  kybLite: ofCompany(permissions.kybDetails, 'v2lite', (registry, company) => registry.v2.lite(company)),
  kybOfficers: ofCompany(
    permissions.kybDetails,
    'v2officers',
    (registry, company, values) => envelope(pageOf(registry.v2.officers(company), values)),
    paging,
  ),
  kybShareholders: ofCompany(
    permissions.kybDetails,
    'v2shareholders',
    (registry, company, values) => envelope(pageOf(registry.v2.shareholders(company), values)),
    paging,
  ),
  kybFinancial: ofCompany(permissions.kybFinancials, 'v2filed', (registry, company) =>
    registry.v2.filedFinancials(company),
  ),
  kybOfficersSearch: {
    permission: permissions.kybPersons,
    shape: {
      name: required(text({ min: 2 })),
      date_of_birth_year: integer({ min: 1000, max: 9999 }),
      country_code: text({ pattern: /^[A-Z]{2}$/ }),
      status: text({ oneOf: ['C', 'P'] }),
      appointment_date: range(date()),
      resignation_date: range(date()),
      company_name: text(),
      company_reg_number: text(),
      company_status: list(integer()),
      company_countries: list(integer()),
    },
    answer: ({ registry, values }) => registry.v2.officerSearch(values),
  },
  financial: ofCompany(
    permissions.financials,
    'v2flat',
    (registry, company, values) =>
      registry.v2.flatFinancials(company, typeof values.year === 'number' ? values.year : undefined),
    { year: integer({ min: 1000, max: 9999 }) },
  ),
};

function envelope(page: { readonly data: readonly Json[]; readonly total: number; readonly pages: number }): Json {
  return { data: page.data, total_results: page.total, total_pages: page.pages };
}
