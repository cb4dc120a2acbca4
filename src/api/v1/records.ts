import { z } from 'zod';
import { id, integer, list, nullable, number, record, scalar, text } from '../schema.js';

/** What the v1 document shows of each record. Everything else passes through unread. */

const source = record({
  category: nullable(text),
  comment: nullable(text),
  id: nullable(id),
  name: nullable(text),
  url: nullable(text),
});

export const candidate = record({
  id,
  name: text,
  registration_number: nullable(text),
  vat_number: nullable(text),
  country_code: nullable(text),
  state: nullable(text),
  jurisdiction: nullable(text),
  source: nullable(source),
});

/** An array of candidates; the response schema also permits an object, whose members are not shown (V1-17). */
export const searchAnswer = z.union([
  list(candidate),
  record({}).refine((answer) => list(candidate).safeParse(candidatesIn(answer)).success, {
    error: 'an object without a list of candidates',
  }),
]);

/** The one list there is, or the object itself if it is a candidate. An empty object is no answer we understand. */
export function candidatesIn(answer: object): readonly unknown[] | undefined {
  const lists = Object.values(answer).filter((member) => Array.isArray(member));
  if (lists.length === 1) return lists[0];
  return Object.hasOwn(answer, 'id') ? [answer] : undefined;
}

/** Grouped with provenance, flat without; the flat keys are not shown, so only the ID is required (V1-25). */
export const lite = record({
  id,
  basic: nullable(
    record({
      name: nullable(text),
      registration_number: nullable(text),
      vat_number: nullable(text),
      incorporation_date: nullable(text),
      status: nullable(text),
      legal_form: nullable(text),
      ticker: nullable(text),
      source: nullable(source),
    }),
  ),
  ticker: nullable(text),
  address: nullable(scalarOr(record({ source: nullable(source) }))),
  contact: nullable(scalarOr(record({ source: nullable(source) }))),
});

export const officer = record({
  id: nullable(id),
  first_name: nullable(text),
  last_name: nullable(text),
  appointed_at: nullable(text),
  resigned_at: nullable(text),
  work_status: nullable(text),
  date_of_birth_year: nullable(scalar),
  date_of_birth_month: nullable(scalar),
  job_title: nullable(text),
  address_country: nullable(text),
  address_line_1: nullable(text),
  address_locality: nullable(text),
  address_region: nullable(text),
  address_postal_code: nullable(text),
});

export const shareholder = record({
  id: nullable(id),
  name: nullable(text),
  percentage: nullable(scalar),
  quantity: nullable(scalar),
  share_price: nullable(scalar),
  share_type: nullable(text),
  share_value: nullable(scalar),
  currency: nullable(text),
  status: nullable(text),
  total_value: nullable(scalar),
});

export const envelope = <T extends z.ZodType>(item: T) =>
  record({
    data: list(item),
    total_pages: nullable(integer),
    total_results: nullable(integer),
    source: nullable(source),
  });

export const officerSearchResult = record({
  id: nullable(id),
  company_id: nullable(id),
  company_name: nullable(text),
  registration_number: nullable(text),
});

export const shareholderSearchItem = record({ name: nullable(text), company: nullable(record({})) });

/** `children` is recursive and may be very deep, so it is checked one level at a time by whoever walks it. */
const groupNode = record({
  id: nullable(id),
  name: nullable(text),
  country: nullable(text),
  registration_number: nullable(text),
  selected: nullable(z.boolean()),
  children: nullable(list(z.unknown())),
});

export const groupEnvelope = record({ data: list(groupNode), source: nullable(source) });

/** Only the shell: the values are read, one by one and exactly, by the export. */
export const filedFinancials = record({
  years: nullable(list(scalar)),
  groups: nullable(
    list(
      record({ id: nullable(scalar), name: nullable(text), order: nullable(number), list: nullable(list(record({}))) }),
    ),
  ),
  source: nullable(source),
});

/** The lists carry no envelope, so whether they are complete is unknown (V1-26). */
export const completeRecord = record({
  lite: nullable(
    record({
      id: nullable(id),
      name: nullable(text),
      registration_number: nullable(text),
      vat_number: nullable(text),
      incorporation_date: nullable(text),
      status: nullable(text),
      country_code: nullable(text),
      legal_form: nullable(text),
    }),
  ),
  officers: nullable(list(record({}))),
  shareholders: nullable(list(record({}))),
  group_structures_full: nullable(list(record({ source: nullable(scalarOr(record({}))) }))),
  financial: nullable(record({})),
});

/** Null, where it says that nothing was returned, is as good. */
export const isMemberOfRecord = (member: string, first: string): boolean =>
  first === 'n' ? MEMBERS.has(member) : MEMBERS.get(member) === first;

const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['lite', '{'],
  ['officers', '['],
  ['shareholders', '['],
  ['group_structures_full', '['],
  ['financial', '{'],
]);

/** A field that one form gives as text and another as a group. */
function scalarOr<T extends z.ZodType>(schema: T) {
  return z.union([scalar, schema]);
}
