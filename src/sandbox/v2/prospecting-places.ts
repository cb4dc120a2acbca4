import { pathOf, placeAt } from '../registry/nomenclatures/places.js';
import type { Company, NomenclatureItem, Registry } from '../registry/types.js';
import { isObject } from '../validate.js';
import { textOf, textsOf } from './operation.js';

/** Is the company in one of the places that a filter names, by path or by ID? */
export function isIn(value: unknown, company: Company, registry: Registry): boolean {
  const wanted = (Array.isArray(value) ? value : [value]).filter(isObject);
  const own = placesOf(registry, company);
  return wanted.some((place) =>
    own.some(
      (item) =>
        several(place.parents).some((path) => item.parents === path || item.parents.startsWith(`${path}_`)) ||
        several(place.id).includes(String(item.id)),
    ),
  );
}

const several = (given: unknown): readonly string[] => {
  if (given === undefined) return [];
  return Array.isArray(given) ? textsOf(given) : [textOf(given)];
};

/** Its country, and the region of it that is its city, state or court. */
function placesOf(registry: Registry, company: Company): readonly NomenclatureItem[] {
  const country = placeAt(pathOf(company.countryCode) ?? '')?.item;
  if (country === undefined) return [];
  const regions = registry.v2.nomenclature('region', { parent: country.parents }) ?? [];
  const own = [company.city, company.state, company.jurisdiction];
  return [country, ...regions.filter(({ name }) => own.includes(name))];
}
