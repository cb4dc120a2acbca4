import { countries } from '../countries/index.js';
import type { NomenclatureItem } from '../types.js';
import { industryFocus, isic, nace, sic, technology } from './industries.js';
import { childPlaces, regions, states } from './places.js';

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
