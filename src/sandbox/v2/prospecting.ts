import type { Company, Registry } from '../registry/types.js';
import {
  date,
  decimal,
  either,
  type Field,
  integer,
  isObject,
  list,
  object,
  range,
  type Shape,
  text,
} from '../validate.js';
import { pageOf, textOf, type V2Operation } from './operation.js';
import { permissions } from './permissions.js';
import { passes } from './prospecting-match.js';

const bands = ['0-10000', '1000-100000', '100000-500000', '500000-1000000', '1000000-5000000', '5000000'];
const companyContacts = [
  'have_email_address',
  'have_telephone',
  'have_fax',
  'have_website',
  'have_vat_number',
  'have_registration_number',
  'have_business_address',
  'have_lat_and_long',
];
const sicCountries = ['gb', 'us', 'de', 'fr', 'it', 'nl', 'be', 'dk', 'ie', 'lu', 'no', 'se', 'sg', 'ca', 'mx', 'anz'];

const ids = list(integer());
const texts = list(text());
const fixed = (...values: readonly string[]): Field => text({ oneOf: values });
const oneOrMore = (field: Field, message: string): Field => either(message, list(field), field);
const codes = list(either('Must be a nomenclature value.', integer(), text()));
const paths = either(
  'Must be a path of IDs.',
  text({ pattern: /^\d+(?:_\d+)*$/ }),
  list(text({ pattern: /^\d+(?:_\d+)*$/ })),
);
const place = object({ parents: paths, id: either('Must be an ID.', integer(), text(), codes) }, (values) =>
  values.parents === undefined && values.id === undefined ? 'parents or id is required.' : undefined,
);
const places = oneOrMore(place, 'Must be an object (or a list of objects) with parents and id.');

export const filters: Shape = {
  company_status: ids,
  number_of_employees: range(integer({ min: 0 })),
  company_incorporation: range(date()),
  company_type: ids,
  legal_form: ids,
  activity_type: ids,
  trading_activity: list(fixed('import', 'export')),
  industry_focus: texts,
  website_keywords: texts,
  url: text(),
  nace: codes,
  isic: codes,
  ...Object.fromEntries(sicCountries.map((country) => [`sic_code_${country}`, codes])),
  location_countries: places,
  location_regions: places,
  location_zip: texts,
  location_type: texts,
  financial_currency: texts,
  ...ranges('financial', ['turnover', 'profit', 'liabilities', 'directors', 'employee_profit', 'exports']),
  ...ranges('yoy', ['turnover', 'ebitda', 'profit', 'staff', 'liabilities', 'exports']),
  ownership_parents: oneOrMore(fixed('has_parents', 'has_no_parents'), 'Must be has_parents or has_no_parents.'),
  foreign_parents: oneOrMore(
    fixed('has_a_foreign_parent', 'has_no_foreign_parent'),
    'Must be has_a_foreign_parent or has_no_foreign_parent.',
  ),
  ownership_accounts: oneOrMore(fixed('consolidated', 'not_consolidated'), 'Must be consolidated or not_consolidated.'),
  insights_visits: list(fixed(...bands)),
  insights_technologies: texts,
  insights_ranking: {
    ...object({}),
    check(value, report) {
      if (!isObject(value)) report('Must be an object.');
      else if (
        Object.values(value)
          .flat()
          .some((band) => !bands.includes(textOf(band)))
      )
        report(`Must be one of ${bands.join(', ')}.`);
    },
  },
  advance_companies: list(fixed(...companyContacts)),
};

export const prospecting: Readonly<Record<string, V2Operation>> = {
  prospecting: {
    permission: permissions.prospecting,
    shape: { page: integer({ min: 1, max: 10 }), per_page: integer({ min: 1, max: 100 }), filters: object(filters) },
    answer({ registry, values }) {
      const wanted = isObject(values.filters) ? values.filters : {};
      const found = universe(registry).filter((company) => passes(registry, company, wanted));
      const page = pageOf(found, values);
      return {
        total_companies: page.total,
        total_pages: page.pages,
        data: page.data.map(({ v2Id, name }) => ({ id: v2Id, name })),
      };
    },
  },
};

function ranges(family: string, names: readonly string[]): Shape {
  return Object.fromEntries(names.map((name) => [`${family}_${name}`, range(decimal())]));
}

/** The first companies stand for all of them: a filter over a million generated companies would have to generate them. */
function universe(registry: Registry): readonly Company[] {
  return Array.from({ length: Math.min(registry.size, 1_000) }, (_, index) => registry.company(index)).filter(
    registry.inV2,
  );
}
