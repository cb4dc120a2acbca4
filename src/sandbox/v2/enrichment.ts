import type { Company } from '../registry/types.js';
import { required, text } from '../validate.js';
import { invalidField, notFound } from './errors.js';
import { findByAddress } from './finder.js';
import { optionalText, textOf, type V2Call, type V2Operation } from './operation.js';
import { permissions } from './permissions.js';

export const enrichment: Readonly<Record<string, V2Operation>> = {
  enrichCompanyByWebsite: {
    permission: permissions.enrichCompany,
    shape: { url: required(text()) },
    answer: (call) => enriched(call, findByAddress(call.registry, textOf(call.values.url))),
  },
  enrichCompanyByLinkedin: {
    permission: permissions.enrichCompany,
    shape: { linkedin: required(text()) },
    answer: (call) => enriched(call, findByAddress(call.registry, textOf(call.values.linkedin))),
  },
  enrichCompanyByRegistry: {
    permission: permissions.enrichCompany,
    shape: {
      registration_number: text(),
      vat_number: text(),
      country_code: required(text({ pattern: /^[A-Z]{2}$/ })),
      state: text({ pattern: /^[A-Z]{2}$/ }),
    },
    rule(values) {
      if (values.country_code === 'US' && values.state === undefined)
        return invalidField('state', 'Required when country_code is US.');
      if (values.registration_number === undefined && values.vat_number === undefined) {
        return invalidField('registration_number', 'This field is required.');
      }
      return undefined;
    },
    answer(call) {
      const { registry, values, world } = call;
      const country = textOf(values.country_code);
      const location = country === 'US' ? `US-${textOf(values.state)}` : country;
      if (!registry.knowsLocation(location))
        return invalidField('country_code', 'The country is not in the nomenclature.');
      const query = {
        location,
        registrationNumber: optionalText(values.registration_number),
        vatNumber: optionalText(values.vat_number),
      };
      return enriched(call, registry.search(query, world.settings.search).find(registry.inV2));
    },
  },
};

function enriched({ registry }: V2Call, company: Company | undefined) {
  return company ? registry.v2.enriched(company) : notFound();
}
