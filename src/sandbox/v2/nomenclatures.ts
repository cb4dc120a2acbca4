import { required, type Shape, text } from '../validate.js';
import { invalidField } from './errors.js';
import { optionalText, textOf, type V2Operation } from './operation.js';

const parent: Shape = { parent: text({ pattern: /^\d+(?:_\d+)*$/ }) };
const flat = ['seniority', 'department', 'activity-type', 'company-type', 'company-status', 'legal-form', 'currency'];
const trees = ['industry-focus', 'isic', 'nace', 'country', 'region', 'technology'];

/** By path below /nomenclatures: fifteen in all, with /sic/{country_code} and /states. */
export const nomenclatures: Readonly<Record<string, V2Operation>> = Object.fromEntries([
  ...flat.map((name) => [name, vocabulary(name, {})] as const),
  ...trees.map((name) => [name, vocabulary(name, parent)] as const),
  ['sic/{country_code}', vocabulary('sic', { ...parent, country_code: required(text({ min: 2, max: 3 })) })],
  ['states', vocabulary('states', { country: required(text({ oneOf: ['US', 'CA'] })) })],
]);

function vocabulary(name: string, shape: Shape): V2Operation {
  return {
    shape,
    answer({ registry, values }) {
      const country = optionalText(values.country_code) ?? optionalText(values.country);
      const items = registry.v2.nomenclature(name, {
        parent: values.parent === undefined ? undefined : textOf(values.parent),
        country,
      });
      return items
        ? items.map((item) => ({ ...item }))
        : invalidField(country === undefined ? 'parent' : 'country_code', 'There is no such vocabulary.');
    },
  };
}
