// v2 operations for the account's counters and for the watch.

import { z } from 'zod';
import type { PermissionUse } from '../../../domain/account-usage.js';
import { ExactNumber, stringifyExact } from '../../../util/exact-json.js';
import { sanitizeText } from '../../../util/sanitize-text.js';
import { type BodyOf, namedByKey } from '../../operation.js';
import {
  isoDate,
  list,
  looseObject,
  nonEmpty,
  nullOrAbsent,
  readable,
  id as recordId,
  scalar,
  text,
  textFields,
} from '../../schema.js';
import { envelopePages, page, pagesEnvelope, per_page, v2Id, v2State } from '../fields.js';

const FORM = /^(\d{4}-\d{2}-\d{2}) ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;

/** The time zone is not published, so the text is sent as written and never read as an instant (V2-14). */
const datetime = z.string().refine((value) => z.iso.date().safeParse(FORM.exec(value)?.[1]).success, {
  error: 'expected YYYY-MM-DD hh:mm:ss',
});

/** A figure in another form is no count, but the other figures are still read. */
const metric = looseObject({
  name: nullOrAbsent(text),
  codename: nullOrAbsent(text),
  used: nullOrAbsent(scalar),
  total: nullOrAbsent(scalar),
});
const permission = looseObject({
  name: nullOrAbsent(text),
  codename: nullOrAbsent(text),
  metrics: nullOrAbsent(list(metric)),
});

export const metrics = namedByKey({
  metrics: {
    ...v2State,
    meter: 'free',
    summary: 'Use and limits, by permission',
    route: { method: 'GET', path: '/metrics' },
    params: z.strictObject({}),
    body: list(permission),
  },
  metricsContacts: {
    ...v2State,
    meter: 'free',
    summary: 'How many e-mail addresses and phone numbers were revealed in a range of time',
    route: { method: 'GET', path: '/metrics/contacts' },
    params: z.strictObject({
      date_from: datetime.describe('YYYY-MM-DD hh:mm:ss. The time zone is not documented'),
      date_to: datetime.describe('YYYY-MM-DD hh:mm:ss. The time zone is not documented'),
    }),
    body: looseObject({ email_count: nullOrAbsent(scalar), phone_count: nullOrAbsent(scalar) }),
  },
});

/** The counters of `/metrics`. An account has some dozens. Far more are not plausible. */
export const permissionUseOf = (answer: BodyOf<(typeof metrics)['metrics']>): readonly PermissionUse[] =>
  readable(answer, permission)
    .flatMap((entry) => {
      const { codename, name, metrics: counts } = entry;
      const of = shownName(codename, name);
      const more = unread(entry, ['name', 'codename', 'metrics']);
      const permissionName = name == null || name === '' ? null : shownName(name);
      const read = readable(counts ?? [], metric);
      // A permission without a count is still a permission.
      if (read.length === 0) {
        const extra = asExtra({ ...more, ...(counts == null ? {} : { metrics: counts }) });
        return [
          { permission: of, permissionName, metric: '', name: shownName(name, of), used: null, total: null, extra },
        ];
      }
      return read.map((count) => {
        const others = unread(count, ['name', 'codename'], ['used', 'total']);
        return {
          permission: of,
          permissionName,
          metric: shownName(count.codename, count.name, of),
          name: shownName(count.name, name, of),
          used: countOf(count.used),
          total: countOf(count.total),
          extra: asExtra(Object.keys(more).length === 0 ? others : { ...others, permission: more }),
        };
      });
    })
    .slice(0, COUNTS_AT_MOST);

const COUNTS_AT_MOST = 1_000;

const shownName = (...names: readonly (string | null | undefined)[]): string =>
  sanitizeText(names.find((name) => name != null && name !== '') ?? 'unnamed', 200);

/** Null for a figure that is no count. `unread` keeps it as it was sent. */
export function countOf(value: unknown): number | null {
  const count = value instanceof ExactNumber ? Number(value.text) : Number.NaN;
  return Number.isSafeInteger(count) ? count : null;
}

/** Fields that were not read, and figures that are no counts, as they were sent. */
export const unread = (
  answer: Readonly<Record<string, unknown>>,
  read: readonly string[],
  counts: readonly string[] = [],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(answer).filter(
      ([name, value]) => value != null && (counts.includes(name) ? countOf(value) === null : !read.includes(name)),
    ),
  );

export const asExtra = (others: Readonly<Record<string, unknown>>): string | null =>
  Object.keys(others).length === 0 ? null : kept(stringifyExact(others));

const LONGEST = 4_000;

function kept(json: string): string {
  const text = sanitizeText(json, LONGEST + 1);
  return text.length <= LONGEST ? text : JSON.stringify({ cut: text.slice(0, LONGEST) });
}

/** The names are an open set: the document lists seven and uses two more in its examples. */
const fieldNames = z.array(nonEmpty);
const fields = fieldNames.optional().describe('Names of fields, such as name or vat_number');
const requiredFields = fieldNames.min(1).describe('Names of fields, such as name or vat_number');

const watched = looseObject({
  id: nullOrAbsent(recordId),
  ...textFields('name', 'country_code', 'registration_number', 'date'),
  fields: nullOrAbsent(list(text)),
});

const change = looseObject({
  ...textFields('status', 'message', 'date_created', 'event_type'),
});

/** The document does not show whether the list is bare or a member. */
const fieldSet = z.union([list(text), looseObject({ fields: nullOrAbsent(list(text)) })]);

const subject = { space: 'v2', param: 'id' } as const;

export const watch = namedByKey({
  watchAdd: {
    ...v2State,
    subject,
    summary: 'Watch a company for changes',
    params: z.strictObject({ id: v2Id, fields }),
    body: z.unknown(),
    answersFields: true,
    emptyBody: true,
  },
  watchRemove: {
    ...v2State,
    subject,
    summary: 'Stop watching a company',
    params: z.strictObject({ id: v2Id }),
    body: z.unknown(),
    answersFields: true,
    emptyBody: true,
  },
  watchList: {
    ...v2State,
    summary: 'The watched companies, paged',
    params: z.strictObject({ date: isoDate.optional().describe('YYYY-MM-DD'), fields, page, per_page }),
    body: pagesEnvelope(watched),
    itemIds: { id: 'v2' },
    pages: envelopePages,
  },
  watchHistory: {
    ...v2State,
    subject,
    summary: 'The changes of one company, paged',
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
    summary: 'The watched fields',
    params: z.strictObject({}),
    body: fieldSet,
    answersFields: true,
  },
  watchFieldsAdd: {
    ...v2State,
    summary: 'Watch more fields. The answer is the whole list',
    params: z.strictObject({ fields: requiredFields }),
    body: fieldSet,
    answersFields: true,
  },
  watchFieldsRemove: {
    ...v2State,
    summary: 'Watch fewer fields',
    params: z.strictObject({ fields: requiredFields }),
    body: z.unknown(),
    answersFields: true,
    emptyBody: true,
  },
  watchCallbackSet: {
    ...v2State,
    summary: 'Set the address that changes are posted to',
    params: z.strictObject({
      callback: z.url({ protocol: /^https?$/ }).describe('Address, such as https://example.com/changes'),
    }),
    body: z.unknown(),
    emptyBody: true,
  },
  /** The document writes /v2/companies/watch/callback. The base URL already ends in /v2 (V2-16). */
  watchCallback: {
    ...v2State,
    summary: 'The address that changes are posted to',
    route: { method: 'GET', path: '/companies/watch/callback' },
    params: z.strictObject({}),
    body: looseObject({ callback: nullOrAbsent(text) }),
  },
});
