import { draw } from '../draw.js';
import type { Json } from '../json.js';
import { sicCountry } from '../registry/nomenclatures/industries.js';
import type { Company, NomenclatureItem, Registry } from '../registry/types.js';
import { isObject } from '../validate.js';

/**
 * What a company is classified as in a vocabulary, from the section that its profile shows down to the class, which no body
 * shows: whoever looks for a section finds what is below it.
 */
export function codesOf(registry: Registry, company: Company, filter: string): readonly NomenclatureItem[] {
  const of = /^sic_code_(\w+)$/.exec(filter)?.[1];
  if (of !== undefined && sicCountry(company.countryCode) !== of) return [];
  const { industry, sic } = registry.v2.profile(company) as Readonly<Record<string, Json | undefined>>;
  const section = sectionIn(of === undefined ? industry : sic);
  if (section === undefined) return [];
  return pathBelow(registry, company, of === undefined ? filter : 'sic', of, section);
}

/** The industry of a company: no body shows it. */
export function industryOf(registry: Registry, company: Company): readonly NomenclatureItem[] {
  const items = registry.v2.nomenclature('industry-focus', {}) ?? [];
  const root = items[Math.floor(draw(company.index, 'industry') * items.length)];
  return root === undefined ? [] : pathBelow(registry, company, 'industry-focus', undefined, root.name);
}

const sectionIn = (listed: Json | undefined): string | undefined => {
  const [first] = Array.isArray(listed) ? listed : [];
  return isObject(first) && typeof first.value === 'string' ? first.value : undefined;
};

/** The item of this name at the top, and one on each level below it. */
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
