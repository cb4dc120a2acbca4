import { z } from 'zod';
import { type ExactJson, ExactNumber, isObject } from '../../util/exact-json.js';
import {
  companyId,
  digitsId,
  id,
  list,
  listIfSent,
  looseObject,
  nonEmpty,
  nullOrAbsent,
  number,
  positiveInteger,
  scalar,
  scalarFields,
  text,
  textFields,
  vocabularyId,
} from '../schema.js';

export const v2 = { api: 'v2', scopes: [], meter: 'not_told', route: null } as const;

export const v2List = { ...v2, subject: null, keep: { days: 30 } } as const;

/** One company or person, by a value that identifies it. */
export const v2Record = { ...v2List, keep: { days: 90 }, findsOne: true } as const;

export const v2State = { ...v2, subject: null, keep: 'never' } as const;
export const aboutV2Company = { ...v2, subject: { space: 'v2', param: 'id' }, keep: { days: 90 } } as const;

export const v2Id = digitsId.describe('v2 company ID, digits');

/** For IDs that the document only calls strings. */
export const textId = companyId;
export const page = positiveInteger.optional().describe('Page, from 1');
export const per_page = positiveInteger.optional().describe('Items a page');
export const registration_number = nonEmpty.optional().describe('Registration number');
export const vat_number = nonEmpty.optional().describe('VAT number');

/** For vocabulary IDs whose form the document does not give. */
export const vocabularyIds = z.array(vocabularyId);

/** False by default: the server's own default is true, which reveals contacts and charges for them (V2-11). */
export const reveal_email = z.boolean().default(false).describe('Reveal the e-mail address. It is charged');
export const reveal_phone = z.boolean().default(false).describe('Reveal the phone number. It is charged');

/** An ID that is sent as a JSON integer, exact beyond 2^53. */
export const wireInteger = digitsId.transform((digits) => new ExactNumber(digits.replace(/^0+(?=\d)/, '')));

/** The document shows no maximum for `per_page`. */
export const totalPages = { perPageAtMost: null, countField: 'total_pages' } as const;
export const envelopePages = { perPageAtMost: null, countField: 'pages' } as const;

export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value as ExactJson | undefined);

/** An object whose members are neither checked nor copied. */
export const opaque = z.custom<Readonly<Record<string, unknown>>>(isPlainObject, { error: 'expected an object' });

/** The documented fields of each record. All others pass through unread. */
export const candidate = looseObject({
  id,
  ...scalarFields('name', 'registration_number', 'vat_number', 'country_code', 'state'),
});

export const companyLite = looseObject({
  id: nullOrAbsent(id),
  ...textFields('name', 'registration_number', 'vat_number'),
  incorporation_date: nullOrAbsent(scalar),
  ...textFields('status', 'country_code', 'country_name', 'country_region'),
  ...scalarFields('address_street', 'address_location', 'address_city', 'zip_code'),
  ...textFields('legal_form', 'website', 'linkedin'),
});

/** There is no resigned_at and no work_status, so current or former is unknown (V2-9). */
export const officer = looseObject({
  id: nullOrAbsent(id),
  ...scalarFields('first_name', 'last_name', 'appointed_at', 'date_of_birth_year', 'date_of_birth_month'),
  ...scalarFields('job_title', 'address_country', 'address_line_1', 'address_locality', 'address_region'),
  ...scalarFields('address_postal_code'),
});

export const officerSearchResult = looseObject({
  id: nullOrAbsent(id),
  company_id: nullOrAbsent(id),
  ...scalarFields('company_name', 'registration_number', 'company_status', 'incorporation_date', 'full_name'),
  ...scalarFields('title', 'nationality', 'officer_role', 'appointed_at', 'resigned_at'),
  ...scalarFields('country_of_residence', 'address_postal_code'),
});

export const shareholder = looseObject({
  id: nullOrAbsent(id),
  ...scalarFields('name', 'quantity', 'currency'),
  company_id: nullOrAbsent(id),
  ...scalarFields('share_value', 'share_type', 'share_price', 'total_value'),
});

/** Only the shell: the export reads the values one by one and exactly. */
export const filedFinancials = looseObject({
  years: nullOrAbsent(list(scalar)),
  groups: nullOrAbsent(
    list(
      looseObject({
        id: nullOrAbsent(scalar),
        name: nullOrAbsent(text),
        order: nullOrAbsent(number),
        list: nullOrAbsent(list(opaque)),
      }),
    ),
  ),
});

/** The names of the totals differ between modules (V2-12). */
export const envelope = <T extends z.ZodType, Total extends string = 'total_results'>(
  item: T,
  total = 'total_results' as Total,
) => looseObject({ data: listIfSent(item), ...scalarFields<Total | 'total_pages'>(total, 'total_pages') });

/** For watch and report history: a missing entry would be asked for or bought again, so an absent list is no answer. */
export const pagesEnvelope = <T extends z.ZodType>(item: T) =>
  looseObject({ data: list(item), total_results: nullOrAbsent(number), pages: nullOrAbsent(number) });

/** A text or a list of texts: the document shows both for the same name. */
export const textOrList = z.union([text, list(text)]);

export const enrichedCompany = looseObject({
  id: nullOrAbsent(id),
  ...textFields('name', 'registration_number', 'country_code', 'company_legal_form', 'address_city'),
  size: nullOrAbsent(scalar),
  founding_date: nullOrAbsent(scalar),
});

export const enrichedPerson = looseObject({
  id: nullOrAbsent(id),
  full_name: nullOrAbsent(text),
  gender: nullOrAbsent(text),
  seniority_level: nullOrAbsent(textOrList),
  function_original_name: nullOrAbsent(text),
  phone: nullOrAbsent(textOrList),
  email: nullOrAbsent(textOrList),
  company_id: nullOrAbsent(id),
  company_name: nullOrAbsent(text),
});
