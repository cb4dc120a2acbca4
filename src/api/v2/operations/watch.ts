import { z } from 'zod';
import type { Operation } from '../../operation.js';
import { isoDate, nonEmpty } from '../../params.js';
import { list, nullable, record, id as recordId, text } from '../../schema.js';
import { envelopePages, page, per_page, v2Id, v2State } from '../fields.js';
import { pagesEnvelope } from '../records.js';

/** The names are an open set: the document lists seven and uses two more in its examples. */
const fieldNames = z.array(nonEmpty);
const fields = fieldNames.optional().describe('Names of fields, such as name or vat_number');
const requiredFields = fieldNames.min(1).describe('Names of fields, such as name or vat_number');

const watched = record({
  id: nullable(recordId),
  name: nullable(text),
  country_code: nullable(text),
  registration_number: nullable(text),
  date: nullable(text),
  fields: nullable(list(text)),
});

const change = record({
  status: nullable(text),
  message: nullable(text),
  date_created: nullable(text),
  event_type: nullable(text),
});

/** Whether the list comes bare or as a member is not shown. */
const fieldSet = z.union([list(text), record({ fields: nullable(list(text)) })]);

/** The watch takes the IDs of v2. */
const subject = { space: 'v2', param: 'id' } as const;

export const watch = {
  watchAdd: {
    ...v2State,
    subject,
    name: 'watchAdd',
    summary: 'Watch a company for changes',
    route: null,
    params: z.strictObject({ id: v2Id, fields }),
    body: z.unknown(),
    answersFields: true,
    emptyBody: true,
  },
  watchRemove: {
    ...v2State,
    subject,
    name: 'watchRemove',
    summary: 'Stop watching a company',
    route: null,
    params: z.strictObject({ id: v2Id }),
    body: z.unknown(),
    answersFields: true,
    emptyBody: true,
  },
  watchList: {
    ...v2State,
    name: 'watchList',
    summary: 'The companies that are watched, paged',
    route: null,
    params: z.strictObject({ date: isoDate.optional().describe('YYYY-MM-DD'), fields, page, per_page }),
    body: pagesEnvelope(watched),
    itemIds: { id: 'v2' },
    pages: envelopePages,
  },
  watchHistory: {
    ...v2State,
    subject,
    name: 'watchHistory',
    summary: 'The changes of one company, paged',
    route: null,
    params: z.strictObject({
      id: v2Id,
      from_date: isoDate.optional().describe('From, YYYY-MM-DD'),
      to_date: isoDate.optional().describe('To, YYYY-MM-DD'),
      fields,
      page,
      per_page,
    }),
    body: pagesEnvelope(change),
    pages: envelopePages,
  },
  watchFields: {
    ...v2State,
    name: 'watchFields',
    summary: 'The fields that are watched',
    route: null,
    params: z.strictObject({}),
    body: fieldSet,
    answersFields: true,
  },
  watchFieldsAdd: {
    ...v2State,
    name: 'watchFieldsAdd',
    summary: 'Watch more fields; the answer is the whole list',
    route: null,
    params: z.strictObject({ fields: requiredFields }),
    body: fieldSet,
    answersFields: true,
  },
  watchFieldsRemove: {
    ...v2State,
    name: 'watchFieldsRemove',
    summary: 'Watch fewer fields',
    route: null,
    params: z.strictObject({ fields: requiredFields }),
    body: z.unknown(),
    answersFields: true,
    emptyBody: true,
  },
  watchCallbackSet: {
    ...v2State,
    name: 'watchCallbackSet',
    summary: 'Set the address that changes are posted to',
    route: null,
    params: z.strictObject({
      callback: z.url({ protocol: /^https?$/ }).describe('Address, such as https://example.com/changes'),
    }),
    body: z.unknown(),
    emptyBody: true,
  },
  /** The document writes /v2/companies/watch/callback; the base address already ends in /v2 (V2-16). */
  watchCallback: {
    ...v2State,
    name: 'watchCallback',
    summary: 'The address that changes are posted to',
    route: { method: 'GET', path: '/companies/watch/callback' },
    params: z.strictObject({}),
    body: record({ callback: nullable(text) }),
  },
} as const satisfies Readonly<Record<string, Operation>>;
