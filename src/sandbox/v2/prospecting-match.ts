import { draw } from '../draw.js';
import { type Json, RawNumber } from '../json.js';
import type { Company, NomenclatureItem, Registry } from '../registry/types.js';
import { isObject, type Values } from '../validate.js';
import { bare } from './finder.js';
import { textOf, textsOf } from './operation.js';
import { codesOf, industryOf } from './prospecting-codes.js';
import { isIn } from './prospecting-places.js';

/** Does the company have what every filter asks for? What no body shows is drawn once for each company, and compared. */
export const passes = (registry: Registry, company: Company, wanted: Values): boolean =>
  Object.entries(wanted).every(([name, value]) => {
    const fits = Object.hasOwn(tests, name) ? tests[name] : undefined;
    return fits === undefined ? classified(registry, company, name, value) : fits(value, company, registry);
  });

type Test = (value: unknown, company: Company, registry: Registry) => boolean;

const listed = (value: unknown): readonly string[] => (Array.isArray(value) ? textsOf(value) : [textOf(value)]);
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
  url: (value, company, registry) => bare(registry.facts(company).linkedin ?? '') === bare(textOf(value)),
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
  advance_companies: (value, company, registry) => listed(value).every((what) => has(what, company, registry)),
};

function has(what: string, company: Company, registry: Registry): boolean {
  const { email, phone, fax, website, street } = registry.facts(company);
  switch (what) {
    case 'have_email_address':
      return email !== null;
    case 'have_telephone':
      return phone.length > 0;
    case 'have_fax':
      return fax !== null;
    case 'have_website':
      return website !== null;
    case 'have_vat_number':
      return company.vatNumber !== null;
    case 'have_registration_number':
      return company.registrationNumber !== null;
    case 'have_business_address':
      return street !== null;
    default:
      return draw(company.index, what) < 0.5;
  }
}

/** The newest year that was filed. */
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

/** Everybody above the company in its group. */
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

/** Somebody above is of another country, as the qualified numbers of the group say. */
const hasForeignParent = (registry: Registry, company: Company): boolean =>
  parentsOf(registry, company).some(
    ({ registration_number: number }) => number !== null && !number.startsWith(`${company.countryCode}-`),
  );

/** NACE, ISIC and the codes of the company's own country, by ID or name, on whichever level. */
const classified = (registry: Registry, company: Company, name: string, value: unknown): boolean =>
  isOneOf(value, codesOf(registry, company, name));

const isOneOf = (value: unknown, items: readonly NomenclatureItem[]): boolean =>
  items.some(({ id, name }) => holds(value, id) || holds(value, name));

function legalFormId(registry: Registry, company: Company): number | undefined {
  const name = `${company.legalForm?.replace(/^, /, '')} (${company.countryCode})`;
  return registry.v2.nomenclature('legal-form', {})?.find((item) => item.name === name)?.id;
}
