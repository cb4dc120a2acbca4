import { z } from 'zod';
import type { Operation } from '../../operation.js';
import { isoCountry, nonEmpty, oneOf } from '../../params.js';
import { list } from '../../schema.js';
import { registration_number, v2List, vat_number } from '../fields.js';
import { enrichedCompany } from '../records.js';

/** E-mail and LinkedIn address are parameters, but none that a country may be paired with (V2-10). */
const partners = oneOf('name', 'registration_number', 'vat_number', 'website', 'phone_number');

export const autocomplete = {
  autocomplete: {
    ...v2List,
    findsOne: true,
    name: 'autocomplete',
    summary: 'Complete a company record from a few fields',
    route: null,
    params: z
      .strictObject({
        country_code: isoCountry.optional().describe('ISO 3166-1 alpha-2; never alone'),
        name: nonEmpty.optional().describe('Company name'),
        registration_number,
        vat_number,
        website: nonEmpty.optional().describe('Website'),
        phone_number: nonEmpty.optional().describe('Phone number'),
        email: nonEmpty.optional().describe('E-mail address'),
        url: nonEmpty.optional().describe('LinkedIn address of the company'),
      })
      .refine((value) => value.country_code === undefined || partners(value), {
        path: ['country_code'],
        error: 'needs name, registration_number, vat_number, website or phone_number beside it',
      }),
    /** One record or several is not shown. */
    body: z.union([enrichedCompany, list(enrichedCompany)]),
  },
} as const satisfies Readonly<Record<string, Operation>>;
