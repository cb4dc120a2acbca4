// Words of generated names and bodies, the vocabularies of the provider, and the meaning of locations.

import { z } from 'zod';
import { lazy } from '../../util/packages.js';
import { dataFile } from '../../util/yaml.js';
import { type Country, countries, type Register } from './countries/index.js';
import { LANGUAGES } from './countries/number-formats.js';
import type { Layout, RegisterIndex } from './layout.js';
import type { NomenclatureItem } from './types.js';

const text = z.string().min(1);
const texts = z.array(text).min(1);
const halves = z.strictObject({ starts: z.array(z.string()).min(1), ends: z.array(z.string()).min(1) });

const cross = ({ starts, ends }: z.infer<typeof halves>, between = ''): string[] =>
  starts.flatMap((start) => ends.map((end) => (start === '' || end === '' ? start + end : `${start}${between}${end}`)));

const language = z.strictObject({
  joined: z.boolean().default(false),
  first: halves,
  trade: halves,
  qualifier: halves.optional(),
});

/** Words of company names. A name is a first word, a trade and a qualifier, and can be split into them again. */
export const lexicons = dataFile(
  'sandbox/lexicons',
  z
    .strictObject({ qualifiers: halves, languages: z.record(z.enum(LANGUAGES), language) })
    .transform(({ qualifiers, languages }) => {
      const usual = cross(qualifiers, ' ');
      const lexicon = ({ joined, first, trade, qualifier }: z.infer<typeof language>) => ({
        first: cross(first),
        trade: cross(trade),
        qualifier: qualifier === undefined ? usual : cross(qualifier),
        /** Words have two characters each, without spaces between them. */
        joined,
      });
      const made = LANGUAGES.map((name) => [name, lexicon(languages[name])]);
      return Object.fromEntries(made) as Readonly<Record<(typeof LANGUAGES)[number], ReturnType<typeof lexicon>>>;
    }),
);

const families = ['income', 'balance', 'debt', 'capital', 'cash_flow', 'banking', 'people'] as const;

const indicators = z
  .strictObject({ money: z.record(z.enum(families), texts), ratios: texts, yoy: texts })
  .transform(({ money, ratios, yoy }) => {
    const { income, balance, debt, capital, cash_flow: cashFlow } = money;
    const main = [
      income.slice(1, 22),
      balance.slice(0, 30),
      debt.slice(0, 8),
      capital.slice(0, 9),
      cashFlow.slice(0, 12),
    ];
    return {
      money: families.flatMap((family) => money[family]),
      ratios,
      /** Year over year, for the main figures of each family. */
      yoy: [...new Set([...yoy, ...main.flat()])].map((name) => `${name}-Yoy`),
    };
  });

/** Words for the bodies of both APIs. */
export const bodyWords = dataFile(
  'sandbox/bodies',
  z.strictObject({
    streets: z.record(z.enum(LANGUAGES), texts),
    first_names: texts,
    last_names: texts,
    officer_roles: texts,
    jobs: texts,
    statements: z.array(z.strictObject({ name: text, ratios: z.boolean().default(false), metrics: texts })).min(1),
    indicators,
    credit_report: z.strictObject({ likes: texts, cautions: texts }),
  }),
);

const codes = z.array(z.string().length(2)).min(1);

/** Names in the vocabularies. IDs follow from their order. */
export const vocabularyWords = dataFile(
  'sandbox/vocabularies',
  z.strictObject({
    seniorities: texts,
    departments: texts,
    activity_types: texts,
    company_types: texts,
    company_statuses: z.record(z.string(), z.int()),
    sections: texts,
    focus: texts,
    technologies: texts,
    kinds: texts,
    sic_countries: texts,
    continents: texts,
    other_countries: z.record(z.string(), codes),
    states: z.record(z.string(), z.record(z.string(), z.string())),
  }),
);

const list = (firstId: number, names: readonly string[]): NomenclatureItem[] =>
  names.map((name, i) => entry(firstId + i, name));

const entry = (id: number, name: string): NomenclatureItem => ({
  id,
  parents: String(id),
  name,
  has_children: false,
  active: true,
});

/** Built at first use, because most sandboxes never use a vocabulary. */
const vocabularies = lazy(() => {
  const words = vocabularyWords();
  const { sections, focus, technologies, kinds, sic_countries: sicCountries } = words;
  const kind = (i: number): string => kinds[i] ?? 'Other';
  return {
    flat: {
      seniority: list(11, words.seniorities),
      department: list(31, words.departments),
      'activity-type': list(61, words.activity_types),
      'company-type': list(71, words.company_types),
      'company-status': Object.entries(words.company_statuses).map(([name, id]) => entry(id, name)),
      'legal-form': countries().flatMap((country, i) =>
        list(
          2_000 + i * 20,
          [...new Set(country.legalForms)].map((form) => `${form.replace(/^, /, '')} (${country.code})`),
        ),
      ),
      currency: list(901, [...new Set(countries().map((country) => country.currency))].sort()),
    } as Readonly<Record<string, readonly NomenclatureItem[]>>,
    trees: {
      nace: tree(10_000, sections, (section, i) => `${letter(section)}${i + 1} ${kind(i)}`, 3),
      isic: tree(20_000, sections, (section, i) => `${letter(section)}-${i + 1} ${kind(i)}`, 3),
      'industry-focus': tree(30_000, focus, (parent, i) => `${focus[parent]}: ${kind(i)}`, 2),
      technology: tree(40_000, technologies, (parent, i) => `${technologies[parent]} tool ${i + 1}`, 2),
    },
    sic: new Map(
      sicCountries.map((code, i) => [
        code,
        tree(50_000 + i * 2_000, sections, (parent, k) => `${code.toUpperCase()} ${parent + 1}${k + 1}0 ${kind(k)}`, 2),
      ]),
    ),
  };
});

/** All fifteen vocabularies. Undefined for an unknown name, country or SIC list. */
export function nomenclature(
  name: string,
  options: { parent?: string | undefined; country?: string | undefined },
): readonly NomenclatureItem[] | undefined {
  const [vocabulary = '', suffix] = name.replace(/^\//, '').split('/');
  switch (vocabulary) {
    case 'country':
      return childPlaces(options.parent);
    case 'region':
      return regions(options.parent);
    case 'states':
      return options.country === 'US' || options.country === 'CA' ? states(options.country) : undefined;
    case 'nace':
    case 'isic':
    case 'industry-focus':
    case 'technology':
      return vocabularies().trees[vocabulary].children(options.parent);
    case 'sic':
      return sic(suffix ?? options.country ?? '')?.children(options.parent);
    default:
      return Object.hasOwn(vocabularies().flat, vocabulary) ? vocabularies().flat[vocabulary] : undefined;
  }
}

/** A vocabulary in levels. IDs and paths follow from the position. */
interface Tree {
  children(parent: string | undefined): readonly NomenclatureItem[];
}

const letter = (section: number): string => String.fromCharCode(65 + section);

const sic = (country: string): Tree | undefined => vocabularies().sic.get(country.toLowerCase());

/** The SIC list of a country. Undefined if it has none. */
export function sicCountry(countryCode: string): string | undefined {
  const code = ['AU', 'NZ'].includes(countryCode) ? 'anz' : countryCode.toLowerCase();
  return sic(code) === undefined ? undefined : code;
}

/** The ID of a section in the country's list, or in the first list if the country has none. */
export const sicSectionId = (countryCode: string, index: number): number =>
  (sic(sicCountry(countryCode) ?? 'gb')?.children(undefined) ?? [])[index % vocabularyWords().sections.length]?.id ?? 0;

export function sectionName(index: number): string {
  const { sections } = vocabularyWords();
  return sections[index % sections.length] ?? 'Other';
}

/** `levels` levels with four children each below the first. */
function tree(
  base: number,
  roots: readonly string[],
  name: (root: number, child: number) => string,
  levels: number,
): Tree {
  return {
    children: (parent) => {
      if (parent === undefined) return roots.map((label, i) => item(base + i, '', label, true));
      const path = ancestors(parent);
      const root = (path[0] ?? Number.NaN) - base;
      if (!(root >= 0 && root < roots.length) || path.length >= levels) return [];
      const last = path.at(-1) ?? base;
      return vocabularyWords().kinds.map((_, i) => {
        const id = path.length === 1 ? base + 100 + root * 4 + i : base + 400 + (last - base - 100) * 4 + i;
        const label = path.length === 1 ? name(root, i) : `${name(root, (last - base - 100) % 4)}, class ${i + 1}`;
        return item(id, path.join('_'), label, path.length + 1 < levels);
      });
    },
  };

  /** A parent may be given as its path or as its bare ID. */
  function ancestors(parent: string): number[] {
    const ids = parent.split('_').map(Number);
    const only = ids[0] ?? Number.NaN;
    if (ids.length > 1 || only < base + 100) return ids;
    return [base + Math.floor((only - base - 100) / 4), only];
  }
}

function item(id: number, parent: string, name: string, hasChildren: boolean): NomenclatureItem {
  return { id, parents: parent === '' ? String(id) : `${parent}_${id}`, name, has_children: hasChildren, active: true };
}

/** A place of the country and region vocabularies. Searches accept its path as location. */
interface Place {
  readonly item: NomenclatureItem;
  readonly countryCode: string | null;
  /** For a region: the registers in it, or its city. */
  readonly covers?: ((register: Register) => boolean) | undefined;
  readonly city?: string | undefined;
}

/** All places by path, children by their parent's path, and the paths of codes such as `GB` and `US-CA`. */
interface Places {
  readonly byPath: ReadonlyMap<string, Place>;
  readonly childrenOf: ReadonlyMap<string, readonly Place[]>;
  readonly countryPaths: ReadonlyMap<string, string>;
  readonly statePaths: ReadonlyMap<string, string>;
}

const places = lazy(buildPlaces);

export const placeAt = (path: string): Place | undefined => places().byPath.get(path);

/** The path of a code such as `GB` or `US-CA`. */
export const pathOf = (code: string): string | undefined =>
  places().countryPaths.get(code) ?? places().statePaths.get(code);

/** The country code of an ID in the country vocabulary. */
export function countryById(id: number): string | undefined {
  for (const place of places().byPath.values()) {
    if (place.item.id === id && place.item.parents.split('_').length === 2) return place.countryCode ?? undefined;
  }
  return undefined;
}

/** One level of the tree below a path or an ID. Without one, the continents. */
function childPlaces(parent: string | undefined): readonly NomenclatureItem[] {
  const { byPath, childrenOf } = places();
  if (parent === undefined) return (childrenOf.get('') ?? []).map(({ item }) => item);
  const path = byPath.has(parent) ? parent : [...byPath.keys()].find((key) => key.endsWith(`_${parent}`));
  return (childrenOf.get(path ?? parent) ?? []).map(({ item }) => item);
}

/** All regions below a country, or of every country. */
function regions(parent: string | undefined): readonly NomenclatureItem[] {
  if (parent !== undefined) return childPlaces(parent);
  const all = [...places().byPath.values()];
  return all.filter(({ item }) => item.parents.split('_').length === 3).map(({ item }) => item);
}

function states(country: string): readonly NomenclatureItem[] {
  return childPlaces(places().countryPaths.get(country) ?? country);
}

function buildPlaces(): Places {
  const { continents, other_countries: otherCountries, states: statesOf } = vocabularyWords();
  const displayNames = new Intl.DisplayNames('en', { type: 'region' });
  const byPath = new Map<string, Place>();
  const childrenOf = new Map<string, Place[]>();
  const countryPaths = new Map<string, string>();
  const statePaths = new Map<string, string>();

  continents.forEach((name, i) => {
    add('', i + 1, name, null);
  });
  countries().forEach((country, i) => {
    const path = add(continentPath(country.continent), 40 + i * 4, country.name, country.code);
    countryPaths.set(country.code, path);
    addRegions(country, path, 1_000 + i * 100);
  });
  let next = 300;
  for (const [continent, others] of Object.entries(otherCountries)) {
    for (const code of others)
      countryPaths.set(code, add(continentPath(continent), next++, displayNames.of(code) ?? code, code));
  }
  return { byPath, childrenOf, countryPaths, statePaths };

  function continentPath(name: string): string {
    return String(continents.indexOf(name) + 1);
  }

  function addRegions(country: Country, path: string, firstId: number): void {
    const named = statesOf[country.code];
    if (named !== undefined) {
      Object.entries(named).forEach(([code, name], i) => {
        const covers = (register: Register) => register.state === code;
        statePaths.set(`${country.code}-${code}`, add(path, firstId + i, name, country.code, { covers }));
      });
      return;
    }
    const single = country.registers[0];
    if (country.registers.length === 1 && single !== undefined) {
      single.cities.forEach((city, i) => {
        add(path, firstId + i, city, country.code, { city });
      });
      return;
    }
    const labels = new Set(country.registers.map((register) => register.jurisdiction ?? 'Other regions'));
    [...labels].forEach((label, i) => {
      const covers = (register: Register) => (register.jurisdiction ?? 'Other regions') === label;
      add(path, firstId + i, label, country.code, { covers });
    });
  }

  function add(
    parent: string,
    id: number,
    name: string,
    countryCode: string | null,
    region: Pick<Place, 'covers' | 'city'> = {},
  ): string {
    const path = parent === '' ? String(id) : `${parent}_${id}`;
    const depth = path.split('_').length;
    const hasChildren = depth === 1 || (depth === 2 && countries().some((country) => country.code === countryCode));
    const item: NomenclatureItem = { id, parents: path, name, has_children: hasChildren, active: true };
    const place: Place = { item, countryCode, ...region };
    byPath.set(path, place);
    const siblings = childrenOf.get(parent);
    if (siblings === undefined) childrenOf.set(parent, [place]);
    else siblings.push(place);
    return path;
  }
}

/** The registers that a location covers and, for a region that is a city, the city. */
interface Scope {
  readonly shelves: readonly RegisterIndex[];
  readonly city?: string | undefined;
}

/** `GB`, `US-CA`, or a path of the country and region vocabularies such as `1_44`. */
export function knowsLocation(location: string): boolean {
  if (/^[A-Z]{2}$/.test(location)) return places().countryPaths.has(location);
  if (/^[A-Z]{2}-/.test(location)) return pathOf(location) !== undefined;
  return placeAt(location) !== undefined;
}

export function scopeOf(layout: Layout, location: string): Scope {
  const [country = '', state] = location.split('-');
  const shelves = layout.byCountry.get(country);
  if (shelves !== undefined) {
    return { shelves: state === undefined ? shelves : shelves.filter(({ register }) => register.state === state) };
  }
  const place = placeAt(location);
  if (place === undefined) return { shelves: [] };
  if (place.countryCode === null) {
    return { shelves: layout.shelves.filter((shelf) => shelf.country.continent === place.item.name) };
  }
  const inside = layout.byCountry.get(place.countryCode) ?? [];
  const { covers } = place;
  return {
    shelves: covers === undefined ? inside : inside.filter(({ register }) => covers(register)),
    city: place.city,
  };
}
