import { z } from 'zod';
import { anyCandidate, id, list, listIfSent, nullable, number, record, scalar, text } from '../schema.js';

/** The documented fields of each record. All others pass through unread. */

const source = record({
  category: nullable(text),
  comment: nullable(text),
  id: nullable(id),
  name: nullable(text),
  url: nullable(text),
});

/** A number instead of a text, or a missing name, is unusual but readable. */
export const candidate = record({
  id,
  name: nullable(scalar),
  registration_number: nullable(scalar),
  vat_number: nullable(scalar),
  country_code: nullable(scalar),
  state: nullable(scalar),
  jurisdiction: nullable(scalar),
  source: nullable(source),
});

/** An array of candidates. The response schema also allows an object whose members are not shown (V1-17). */
export const searchAnswer = z.union([
  list(anyCandidate),
  record({}).refine((answer) => list(anyCandidate).safeParse(candidatesIn(answer)).success, {
    error: 'an object without a list of candidates',
  }),
]);

/** The only list in the object, or the object itself if it is a candidate. An empty object is no readable answer. */
export function candidatesIn(answer: object): readonly unknown[] | undefined {
  const lists = Object.values(answer).filter((member) => Array.isArray(member));
  if (lists.length === 1) return lists[0];
  return Object.hasOwn(answer, 'id') ? [answer] : undefined;
}

/**
 * Grouped with provenance, flat without. The flat keys are not published, so it is recognized by its ID (V1-25) or its
 * group, even if they are null (V1-22).
 */
export const lite = record({
  id: nullable(id),
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
}).refine((said) => Object.hasOwn(said, 'id') || Object.hasOwn(said, 'basic') || Object.keys(said).length === 0, {
  error: 'a profile without an ID',
});

export const officer = record({
  id: nullable(id),
  first_name: nullable(scalar),
  last_name: nullable(scalar),
  appointed_at: nullable(scalar),
  resigned_at: nullable(scalar),
  work_status: nullable(scalar),
  date_of_birth_year: nullable(scalar),
  date_of_birth_month: nullable(scalar),
  job_title: nullable(scalar),
  address_country: nullable(scalar),
  address_line_1: nullable(scalar),
  address_locality: nullable(scalar),
  address_region: nullable(scalar),
  address_postal_code: nullable(scalar),
});

export const shareholder = record({
  id: nullable(id),
  name: nullable(scalar),
  percentage: nullable(scalar),
  quantity: nullable(scalar),
  share_price: nullable(scalar),
  share_type: nullable(scalar),
  share_value: nullable(scalar),
  currency: nullable(scalar),
  status: nullable(scalar),
  total_value: nullable(scalar),
});

export const envelope = <T extends z.ZodType>(item: T) =>
  record({
    data: listIfSent(item),
    total_pages: nullable(scalar),
    total_results: nullable(scalar),
    source: nullable(source),
  });

export const officerSearchResult = record({
  id: nullable(id),
  company_id: nullable(id),
  company_name: nullable(scalar),
  registration_number: nullable(scalar),
});

export const shareholderSearchItem = record({ name: nullable(scalar), company: nullable(record({})) });

/** `children` may be very deep, so it is checked one level at a time while it is walked. */
const groupNode = record({
  id: nullable(id),
  name: nullable(scalar),
  country: nullable(scalar),
  registration_number: nullable(scalar),
  selected: nullable(scalar),
  children: nullable(list(z.unknown())),
});

export const groupEnvelope = record({ data: listIfSent(groupNode), source: nullable(source) });

/** Only the shell: the export reads the values one by one and exactly. */
export const filedFinancials = record({
  years: nullable(list(scalar)),
  groups: nullable(
    list(
      record({ id: nullable(scalar), name: nullable(text), order: nullable(number), list: nullable(list(record({}))) }),
    ),
  ),
  source: nullable(source),
});

/** The lists have no envelope, so it is unknown whether they are complete (V1-26). */
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

/** Null means "not returned" and is accepted too. */
export const isMemberOfRecord = (member: string, first: string): boolean =>
  first === 'n' ? MEMBERS.has(member) : MEMBERS.get(member) === first;

const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['lite', '{'],
  ['officers', '['],
  ['shareholders', '['],
  ['group_structures_full', '['],
  ['financial', '{'],
]);

/** A field that is text in one form and a group in another. */
function scalarOr<T extends z.ZodType>(schema: T) {
  return z.union([scalar, schema]);
}
