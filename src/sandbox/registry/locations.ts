import type { Layout, Shelf } from './layout.js';
import { knowsCountry, pathOf, placeAt } from './nomenclatures/places.js';

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
