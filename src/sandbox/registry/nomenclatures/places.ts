import { countries } from '../countries/index.js';
import type { Country, Register } from '../countries/types.js';
import type { NomenclatureItem } from '../types.js';
import { canadianProvinces, chineseProvinces, otherCountries, unitedStatesStates } from './place-names.js';

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
export const knowsCountry = (code: string): boolean => countryPaths.has(code);

/** The country of a country vocabulary ID. */
export function countryById(id: number): string | undefined {
  for (const place of places.values()) {
    if (place.item.id === id && place.item.parents.split('_').length === 2) return place.countryCode ?? undefined;
  }
  return undefined;
}

/** One level of the tree below a path or an ID; the continents without one. */
export function childPlaces(parent: string | undefined): readonly NomenclatureItem[] {
  if (parent === undefined) return (childrenOf.get('') ?? []).map(({ item }) => item);
  const path = places.has(parent) ? parent : [...places.keys()].find((key) => key.endsWith(`_${parent}`));
  return (childrenOf.get(path ?? parent) ?? []).map(({ item }) => item);
}

/** All regions below a country, or of every country. */
export function regions(parent: string | undefined): readonly NomenclatureItem[] {
  if (parent !== undefined) return childPlaces(parent);
  return [...places.values()].filter(({ item }) => item.parents.split('_').length === 3).map(({ item }) => item);
}

export function states(country: string): readonly NomenclatureItem[] {
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
