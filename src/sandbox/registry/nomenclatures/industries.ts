import type { NomenclatureItem } from '../types.js';

/** A vocabulary in levels. IDs and paths follow from the position, so nothing has to be stored. */
export interface Tree {
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

export const nace = tree(10_000, sections, (section, i) => `${letter(section)}${i + 1} ${kinds[i] ?? 'Other'}`, 3);
export const isic = tree(20_000, sections, (section, i) => `${letter(section)}-${i + 1} ${kinds[i] ?? 'Other'}`, 3);
export const industryFocus = tree(30_000, focus, (parent, i) => `${focus[parent]}: ${kinds[i] ?? 'Other'}`, 2);
export const technology = tree(40_000, technologies, (parent, i) => `${technologies[parent]} tool ${i + 1}`, 2);

const sicCountries = 'gb us de fr it nl be dk ie lu no se sg ca mx anz'.split(' ');

const sicTrees = new Map(
  sicCountries.map((code, i) => [
    code,
    tree(50_000 + i * 2_000, sections, (parent, k) => `${code.toUpperCase()} ${parent + 1}${k + 1}0 ${kinds[k]}`, 2),
  ]),
);

export const sic = (country: string): Tree | undefined => sicTrees.get(country.toLowerCase());

/** The list of codes that a country uses; undefined where there is none of its own. */
export function sicCountry(countryCode: string): string | undefined {
  const code = ['AU', 'NZ'].includes(countryCode) ? 'anz' : countryCode.toLowerCase();
  return sicTrees.has(code) ? code : undefined;
}

/** The ID of a section in that list; in that of the first where a country has none. */
export const sicSectionId = (countryCode: string, index: number): number =>
  (sic(sicCountry(countryCode) ?? 'gb')?.children(undefined) ?? [])[index % sections.length]?.id ?? 0;

export const sectionName = (index: number): string => sections[index % sections.length] ?? 'Other';

const letter = (section: number): string => String.fromCharCode(65 + section);

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
