import { z } from 'zod';
import { ExactNumber } from '../../util/exact-json.js';
import { companyId, digitsId, nonEmpty, positiveInteger, vocabularyId } from '../params.js';

/** What several v2 operations take or answer. */

export const v2 = { api: 'v2', scopes: [], meter: 'not_told' } as const;
/** A list of what fits a description: it names no company by an ID. */
export const v2List = { ...v2, subject: null, keep: { days: 30 } } as const;
/** How things stand at this moment, or a change of it. */
export const v2State = { ...v2, subject: null, keep: 'never' } as const;
export const aboutV2Company = { ...v2, subject: { space: 'v2', param: 'id' }, keep: { days: 90 } } as const;

export const v2Id = digitsId.describe('v2 company ID, digits');
/** Where the document says only that an ID is a string. */
export const textId = companyId;
export const page = positiveInteger.optional().describe('Page, from 1');
export const per_page = positiveInteger.optional().describe('Items a page');
export const registration_number = nonEmpty.optional().describe('Registration number');
export const vat_number = nonEmpty.optional().describe('VAT number');

/** IDs of a vocabulary where the document says only that they are IDs. */
export const vocabularyIds = z.array(vocabularyId);

/** False unless asked: the server's own default is true, which reveals contacts and charges for them (V2-11). */
export const reveal_email = z.boolean().default(false).describe('Reveal the e-mail address; charged');
export const reveal_phone = z.boolean().default(false).describe('Reveal the phone number; charged');

/** An ID that goes on the wire as a JSON integer, exact beyond 2^53. */
export const wireInteger = digitsId.transform((digits) => new ExactNumber(digits.replace(/^0+(?=\d)/, '')));

/** The document shows no bound for `per_page`. */
export const totalPages = { perPageAtMost: null, countField: 'total_pages' } as const;
export const envelopePages = { perPageAtMost: null, countField: 'pages' } as const;

export type PlainObject = Readonly<Record<string, unknown>>;

export const isPlainObject = (value: unknown): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

/** An object whose members are left to whoever reads them: neither checked nor copied. */
export const opaque = z.custom<PlainObject>(isPlainObject, { error: 'expected an object' });
