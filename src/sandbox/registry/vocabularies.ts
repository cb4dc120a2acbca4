import { countries } from './countries/index.js';
import type { Country, Register } from './countries/number-formats.js';
import type { Layout, Shelf } from './layout.js';
import type { NomenclatureItem } from './types.js';
import { canadianProvinces, chineseProvinces, otherCountries, unitedStatesStates } from './word-lists.js';

export const seniorities = ['Owner', 'C-level', 'Vice president', 'Director', 'Manager', 'Senior', 'Entry'];
export const departments = ['Finance', 'Sales', 'Marketing', 'Operations', 'Engineering', 'Human resources', 'Legal'];

const list = (firstId: number, names: readonly string[]): NomenclatureItem[] =>
  names.map((name, i) => entry(firstId + i, name));

const entry = (id: number, name: string): NomenclatureItem => ({
  id,
  parents: String(id),
  name,
  has_children: false,
  active: true,
});

const flat: Readonly<Record<string, readonly NomenclatureItem[]>> = {
  seniority: list(11, seniorities),
  department: list(31, departments),
  'activity-type': list(61, ['Distributor', 'Producer', 'Service provider']),
  'company-type': list(71, ['Head office', 'Branch']),
  'company-status': [entry(106, 'Active'), entry(108, 'Inactive'), entry(1615, 'Intermediate')],
  'legal-form': countries.flatMap((country, i) =>
    list(
      2_000 + i * 20,
      [...new Set(country.legalForms)].map((form) => `${form.replace(/^, /, '')} (${country.code})`),
    ),
  ),
  currency: list(901, [...new Set(countries.map((country) => country.currency))].sort()),
};

/** All fifteen vocabularies; undefined for a name, country or SIC list that does not exist. */
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
      return nace.children(options.parent);
    case 'isic':
      return isic.children(options.parent);
    case 'industry-focus':
      return industryFocus.children(options.parent);
    case 'technology':
      return technology.children(options.parent);
    case 'sic':
      return sic(suffix ?? options.country ?? '')?.children(options.parent);
    default:
      return Object.hasOwn(flat, vocabulary) ? flat[vocabulary] : undefined;
  }
}

/** A vocabulary in levels. IDs and paths follow from the position, so nothing has to be stored. */
interface Tree {
  children(parent: string | undefined): readonly NomenclatureItem[];
}

const sections = [
  'Agriculture, forestry and fishing',
  'Mining and quarrying',
  'Manufacturing',
  'Electricity, gas, steam and air conditioning supply',
  'Water supply; sewerage, waste management and remediation',
  'Construction',
  'Wholesale and retail trade; repair of motor vehicles',
  'Transportation and storage',
  'Accommodation and food service activities',
  'Information and communication',
  'Financial and insurance activities',
  'Real estate activities',
  'Professional, scientific and technical activities',
  'Administrative and support service activities',
  'Public administration and defence; compulsory social security',
  'Education',
  'Human health and social work activities',
  'Arts, entertainment and recreation',
  'Other service activities',
  'Activities of households as employers',
  'Activities of extraterritorial organisations and bodies',
];

const focus = ['Energy', 'Materials', 'Industrials', 'Consumer', 'Health care', 'Financials', 'Technology', 'Media'];
const technologies = ['Analytics', 'Advertising', 'Content management', 'E-commerce', 'Hosting', 'Payment', 'Security'];
const kinds = ['Production', 'Wholesale', 'Retail', 'Services'];

const letter = (section: number): string => String.fromCharCode(65 + section);

const nace = tree(10_000, sections, (section, i) => `${letter(section)}${i + 1} ${kinds[i] ?? 'Other'}`, 3);
const isic = tree(20_000, sections, (section, i) => `${letter(section)}-${i + 1} ${kinds[i] ?? 'Other'}`, 3);
const industryFocus = tree(30_000, focus, (parent, i) => `${focus[parent]}: ${kinds[i] ?? 'Other'}`, 2);
const technology = tree(40_000, technologies, (parent, i) => `${technologies[parent]} tool ${i + 1}`, 2);

const sicCountries = 'gb us de fr it nl be dk ie lu no se sg ca mx anz'.split(' ');

const sicTrees = new Map(
  sicCountries.map((code, i) => [
    code,
    tree(50_000 + i * 2_000, sections, (parent, k) => `${code.toUpperCase()} ${parent + 1}${k + 1}0 ${kinds[k]}`, 2),
  ]),
);

const sic = (country: string): Tree | undefined => sicTrees.get(country.toLowerCase());

/** The list of codes that a country uses; undefined where there is none of its own. */
export function sicCountry(countryCode: string): string | undefined {
  const code = ['AU', 'NZ'].includes(countryCode) ? 'anz' : countryCode.toLowerCase();
  return sicTrees.has(code) ? code : undefined;
}

/** The ID of a section in that list; in that of the first where a country has none. */
export const sicSectionId = (countryCode: string, index: number): number =>
  (sic(sicCountry(countryCode) ?? 'gb')?.children(undefined) ?? [])[index % sections.length]?.id ?? 0;

export const sectionName = (index: number): string => sections[index % sections.length] ?? 'Other';

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
      return kinds.map((_, i) => {
        const id = path.length === 1 ? base + 100 + root * 4 + i : base + 400 + (last - base - 100) * 4 + i;
        const label = path.length === 1 ? name(root, i) : `${name(root, (last - base - 100) % 4)}, class ${i + 1}`;
        return item(id, path.join('_'), label, path.length + 1 < levels);
      });
    },
  };

  /** A parent may come as its path or as its bare ID. */
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

/** A place of the country and region vocabularies. Its path is what a search accepts as location. */
export interface Place {
  readonly item: NomenclatureItem;
  readonly countryCode: string | null;
  /** For a region: the registers it covers, or the city it stands for. */
  readonly covers?: ((register: Register) => boolean) | undefined;
  readonly city?: string | undefined;
}

const continents = ['Europe', 'North America', 'South America', 'Asia', 'Oceania', 'Africa'];
const displayNames = new Intl.DisplayNames('en', { type: 'region' });

const places = new Map<string, Place>();
const childrenOf = new Map<string, Place[]>();
const countryPaths = new Map<string, string>();
const statePaths = new Map<string, string>();
build();

export const placeAt = (path: string): Place | undefined => places.get(path);

/** The path of `GB`, or of `US-CA`. */
export const pathOf = (code: string): string | undefined => countryPaths.get(code) ?? statePaths.get(code);

/** Countries known to the vocabulary, with or without companies here. */
const knowsCountry = (code: string): boolean => countryPaths.has(code);

/** The country of a country vocabulary ID. */
export function countryById(id: number): string | undefined {
  for (const place of places.values()) {
    if (place.item.id === id && place.item.parents.split('_').length === 2) return place.countryCode ?? undefined;
  }
  return undefined;
}

/** One level of the tree below a path or an ID; the continents without one. */
function childPlaces(parent: string | undefined): readonly NomenclatureItem[] {
  if (parent === undefined) return (childrenOf.get('') ?? []).map(({ item }) => item);
  const path = places.has(parent) ? parent : [...places.keys()].find((key) => key.endsWith(`_${parent}`));
  return (childrenOf.get(path ?? parent) ?? []).map(({ item }) => item);
}

/** All regions below a country, or of every country. */
function regions(parent: string | undefined): readonly NomenclatureItem[] {
  if (parent !== undefined) return childPlaces(parent);
  return [...places.values()].filter(({ item }) => item.parents.split('_').length === 3).map(({ item }) => item);
}

function states(country: string): readonly NomenclatureItem[] {
  return childPlaces(countryPaths.get(country) ?? country);
}

function build(): void {
  continents.forEach((name, i) => {
    add('', i + 1, name, null);
  });
  countries.forEach((country, i) => {
    const path = add(String(continentId(country.continent)), 40 + i * 4, country.name, country.code);
    countryPaths.set(country.code, path);
    addRegions(country, path, 1_000 + i * 100);
  });
  let next = 300;
  for (const [continent, codes] of Object.entries(otherCountries)) {
    for (const code of codes.split(' ')) {
      const path = add(String(continentId(continent)), next++, displayNames.of(code) ?? code, code);
      countryPaths.set(code, path);
    }
  }
}

function continentId(name: string): number {
  return continents.indexOf(name) + 1;
}

function addRegions(country: Country, path: string, firstId: number): void {
  const named = { US: unitedStatesStates, CA: canadianProvinces, CN: chineseProvinces }[country.code];
  if (named !== undefined) {
    named.forEach(([code, name], i) => {
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
  const hasChildren = depth === 1 || (depth === 2 && countries.some((country) => country.code === countryCode));
  const item: NomenclatureItem = { id, parents: path, name, has_children: hasChildren, active: true };
  const place: Place = { item, countryCode, ...region };
  places.set(path, place);
  const siblings = childrenOf.get(parent);
  if (siblings === undefined) childrenOf.set(parent, [place]);
  else siblings.push(place);
  return path;
}

/** What a location means for a search: the registers to look in and, for a region that is a city, the city. */
export interface Scope {
  readonly shelves: readonly Shelf[];
  readonly city?: string | undefined;
}

/** `GB`, `US-CA`, or a path of the country and region vocabularies such as `1_44`. */
export function knowsLocation(location: string): boolean {
  if (/^[A-Z]{2}$/.test(location)) return knowsCountry(location);
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
