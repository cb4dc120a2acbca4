// v2 operations for prospecting, and their filters.

import { type Json, RawNumber } from '../json.js';
import { permissions } from '../provider-state.js';
import { draw } from '../random.js';
import type { Registry } from '../registry/index.js';
import type { Company, NomenclatureItem, Profile } from '../registry/types.js';
import { pathOf, placeAt, sicCountry } from '../registry/vocabularies.js';
import {
  date,
  decimal,
  either,
  type Field,
  integer,
  isObject,
  list,
  object,
  pageOf,
  range,
  type Shape,
  text,
  type Values,
} from '../requests.js';
import { bareAddress, textOf, textsOf, type V2Operation } from './operation.js';

const bands = ['0-10000', '1000-100000', '100000-500000', '500000-1000000', '1000000-5000000', '5000000'];
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

/** What can be known of a company, by the name of the filter's value. */
const contacts: Readonly<Record<string, (company: Company, facts: Profile) => boolean>> = {
  have_email_address: (_, { email }) => email !== null,
  have_telephone: (_, { phone }) => phone.length > 0,
  have_fax: (_, { fax }) => fax !== null,
  have_website: (_, { website }) => website !== null,
  have_vat_number: ({ vatNumber }) => vatNumber !== null,
  have_registration_number: ({ registrationNumber }) => registrationNumber !== null,
  have_business_address: (_, { street }) => street !== null,
  have_lat_and_long: ({ index }) => draw(index, 'have_lat_and_long') < 0.5,
};

const filters: Shape = {
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
  advance_companies: list(fixed(...Object.keys(contacts))),
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

/** Filters see only the first companies, because a filter over a million companies would have to generate them all. */
function universe(registry: Registry): readonly Company[] {
  return Array.from({ length: Math.min(registry.size, 1_000) }, (_, index) => registry.company(index)).filter(
    registry.inV2,
  );
}

/** Whether the company passes every filter. Values that no body shows are drawn once for each company. */
export const passes = (registry: Registry, company: Company, wanted: Values): boolean =>
  Object.entries(wanted).every(([name, value]) => {
    const fits = Object.hasOwn(tests, name) ? tests[name] : undefined;
    return fits === undefined ? isOneOf(value, codesOf(registry, company, name)) : fits(value, company, registry);
  });

type Test = (value: unknown, company: Company, registry: Registry) => boolean;

const listed = (value: unknown): readonly string[] =>
  value === undefined ? [] : Array.isArray(value) ? textsOf(value) : [textOf(value)];
const holds = (value: unknown, own: unknown): boolean => listed(value).includes(textOf(own));
const within = (value: unknown, own: number | string | null): boolean =>
  own !== null &&
  isObject(value) &&
  (value.gte === undefined || own >= (value.gte as typeof own)) &&
  (value.lte === undefined || own <= (value.lte as typeof own));
const oneOfVocabulary =
  (vocabulary: string): Test =>
  (value, company, registry) => {
    const items = registry.v2.nomenclature(vocabulary, {}) ?? [];
    return holds(value, items[Math.floor(draw(company.index, vocabulary) * items.length)]?.id);
  };
const indicator =
  (name: string): Test =>
  (value, company, registry) =>
    within(value, accounts(registry, company).number(name));

const tests: Readonly<Record<string, Test>> = {
  company_status: (value, company, registry) => holds(value, registry.statusId(company)),
  number_of_employees: (value, company, registry) => within(value, registry.facts(company).employees),
  company_incorporation: (value, company) => within(value, company.incorporationDate),
  company_type: oneOfVocabulary('company-type'),
  activity_type: oneOfVocabulary('activity-type'),
  legal_form: (value, company, registry) => holds(value, legalFormId(registry, company)),
  trading_activity: (value, company) => listed(value).some((kind) => draw(company.index, kind) < 0.4),
  industry_focus: (value, company, registry) => isOneOf(value, industryOf(registry, company)),
  website_keywords: (value, company, registry) => {
    const words = registry.facts(company).website?.toLowerCase() ?? '';
    return listed(value).some((word) => words.includes(word.toLowerCase()));
  },
  url: (value, company, registry) => bareAddress(registry.facts(company).linkedin ?? '') === bareAddress(textOf(value)),
  location_countries: isIn,
  location_regions: isIn,
  location_zip: (value, company, registry) => holds(value, registry.facts(company).zip),
  location_type: (value, company) => listed(value).some((place) => [company.city, company.state].includes(place)),
  financial_currency: (value, company, registry) => {
    const own = accounts(registry, company).text('Currency');
    return isOneOf(
      value,
      (registry.v2.nomenclature('currency', {}) ?? []).filter(({ name }) => name === own),
    );
  },
  financial_turnover: indicator('Turnover'),
  financial_profit: indicator('Profit-after-Tax'),
  financial_liabilities: indicator('Total-Liabilities'),
  financial_directors: indicator('Directors-Remuneration'),
  financial_employee_profit: (value, company, registry) => {
    const filed = accounts(registry, company);
    const profit = filed.number('Profit-after-Tax');
    const staff = filed.number('Employee-Numbers');
    return within(value, profit === null || staff === null || staff === 0 ? null : profit / staff);
  },
  financial_exports: indicator('Exports'),
  yoy_turnover: indicator('Turnover-Yoy'),
  yoy_ebitda: indicator('EBITDA-Yoy'),
  yoy_profit: indicator('Profit-after-Tax-Yoy'),
  yoy_staff: indicator('Employee-Numbers-Yoy'),
  yoy_liabilities: indicator('Total-Liabilities-Yoy'),
  yoy_exports: indicator('Exports-Yoy'),
  ownership_parents: (value, company, registry) =>
    holds(value, parentsOf(registry, company).length > 0 ? 'has_parents' : 'has_no_parents'),
  foreign_parents: (value, company, registry) =>
    holds(value, hasForeignParent(registry, company) ? 'has_a_foreign_parent' : 'has_no_foreign_parent'),
  ownership_accounts: (value, company, registry) =>
    holds(
      value,
      accounts(registry, company).text('Consolidated-Accounts') === 'Yes' ? 'consolidated' : 'not_consolidated',
    ),
  insights_visits: (value, company, registry) =>
    listed(value).some((band) => inBand(band, Number(insights(registry, company).engagement_total_visits))),
  insights_ranking: (value, company, registry) => {
    const rank = insights(registry, company).global_rank;
    const bands = isObject(value) ? Object.values(value).flatMap(listed) : [];
    return typeof rank === 'number' && bands.some((band) => inBand(band, rank));
  },
  insights_technologies: (value, company, registry) => {
    const used = technologiesOf(insights(registry, company).technologies).map((name) => name.toLowerCase());
    return listed(value).some((wanted) => used.includes(wanted.toLowerCase()));
  },
  advance_companies: (value, company, registry) =>
    listed(value).every((what) => contacts[what]?.(company, registry.facts(company)) ?? true),
};

/** The newest filed year. */
function accounts(registry: Registry, company: Company) {
  const years = registry.v2.flatFinancials(company) as Readonly<Record<string, Readonly<Record<string, Json>>>>;
  const newest = years[Object.keys(years).sort().at(-1) ?? ''] ?? {};
  const text = (name: string): string | null => {
    const value = newest[name];
    if (value instanceof RawNumber) return value.text;
    return value === undefined || value === null ? null : String(value);
  };
  return { text, number: (name: string) => (text(name) === null ? null : Number(text(name))) };
}

const insights = (registry: Registry, company: Company) =>
  registry.v2.insights(company) as Readonly<Record<string, Json | undefined>>;

/** Names and IDs of categories and of the tools in them. */
function technologiesOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) =>
    isObject(entry) ? [textOf(entry.id), textOf(entry.name), ...technologiesOf(entry.list)] : [],
  );
}

/** `0-10000`, or `5000000` and more. The bands overlap (V2-14). */
function inBand(band: string, figure: number): boolean {
  const [from = '0', to] = band.split('-');
  return figure >= Number(from) && (to === undefined || figure <= Number(to));
}

interface Node {
  readonly selected: boolean;
  readonly registration_number: string | null;
  readonly children: readonly Node[];
}

/** All companies above this one in its group. */
function parentsOf(registry: Registry, company: Company): readonly Node[] {
  const { group_structure: roots } = registry.v2.ownership(company) as unknown as { group_structure: readonly Node[] };
  const above = (node: Node, parents: readonly Node[]): readonly Node[] | undefined => {
    if (node.selected) return parents;
    for (const child of node.children) {
      const found = above(child, [...parents, node]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return roots.flatMap((root) => above(root, []) ?? []);
}

/** A company above is in another country, by the country prefix of its number. */
const hasForeignParent = (registry: Registry, company: Company): boolean =>
  parentsOf(registry, company).some(
    ({ registration_number: number }) => number !== null && !number.startsWith(`${company.countryCode}-`),
  );

const isOneOf = (value: unknown, items: readonly NomenclatureItem[]): boolean =>
  items.some(({ id, name }) => holds(value, id) || holds(value, name));

function legalFormId(registry: Registry, company: Company): number | undefined {
  const name = `${company.legalForm?.replace(/^, /, '')} (${company.countryCode})`;
  return registry.v2.nomenclature('legal-form', {})?.find((item) => item.name === name)?.id;
}

/**
 * The codes of a company in a vocabulary, from the section in its profile down to the class, which no body shows. So a
 * filter on a section finds everything below it.
 */
function codesOf(registry: Registry, company: Company, filter: string): readonly NomenclatureItem[] {
  const of = /^sic_code_(\w+)$/.exec(filter)?.[1];
  if (of !== undefined && sicCountry(company.countryCode) !== of) return [];
  const { industry, sic } = registry.v2.profile(company) as Readonly<Record<string, Json | undefined>>;
  const section = sectionIn(of === undefined ? industry : sic);
  if (section === undefined) return [];
  return pathBelow(registry, company, of === undefined ? filter : 'sic', of, section);
}

/** The industry of a company. No body shows it. */
function industryOf(registry: Registry, company: Company): readonly NomenclatureItem[] {
  const items = registry.v2.nomenclature('industry-focus', {}) ?? [];
  const root = items[Math.floor(draw(company.index, 'industry') * items.length)];
  return root === undefined ? [] : pathBelow(registry, company, 'industry-focus', undefined, root.name);
}

const sectionIn = (listed: Json | undefined): string | undefined => {
  const [first] = Array.isArray(listed) ? listed : [];
  return isObject(first) && typeof first.value === 'string' ? first.value : undefined;
};

/** The top item of this name, and one item on each level below it. */
function pathBelow(
  registry: Registry,
  company: Company,
  vocabulary: string,
  country: string | undefined,
  name: string,
): readonly NomenclatureItem[] {
  const path: NomenclatureItem[] = [];
  let next = registry.v2.nomenclature(vocabulary, { country })?.find((item) => item.name === name);
  while (next !== undefined) {
    path.push(next);
    const below = next.has_children
      ? (registry.v2.nomenclature(vocabulary, { country, parent: next.parents }) ?? [])
      : [];
    next = below[Math.floor(draw(company.index, `${vocabulary} ${path.length}`) * below.length)];
  }
  return path;
}

/** Whether the company is in one of the places of a filter, given by path or by ID. */
function isIn(value: unknown, company: Company, registry: Registry): boolean {
  const wanted = (Array.isArray(value) ? value : [value]).filter(isObject);
  const own = placesOf(registry, company);
  return wanted.some((place) =>
    own.some(
      (item) =>
        listed(place.parents).some((path) => item.parents === path || item.parents.startsWith(`${path}_`)) ||
        listed(place.id).includes(String(item.id)),
    ),
  );
}

/** The company's country, and the region for its city, state or court. */
function placesOf(registry: Registry, company: Company): readonly NomenclatureItem[] {
  const country = placeAt(pathOf(company.countryCode) ?? '')?.item;
  if (country === undefined) return [];
  const regions = registry.v2.nomenclature('region', { parent: country.parents }) ?? [];
  const own = [company.city, company.state, company.jurisdiction];
  return [country, ...regions.filter(({ name }) => own.includes(name))];
}
