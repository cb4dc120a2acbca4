import type { z } from 'zod';
import { readAnswer } from '../../api/answer.js';
import { companyId, digitsId, type Id, idText, nonEmpty, readable } from '../../api/schema.js';
import { candidatesIn, candidate as v1Candidate, v1Operations } from '../../api/v1/operations.js';
import { isPlainObject, candidate as v2Candidate } from '../../api/v2/fields.js';
import { insightsHit, lookupHit } from '../../api/v2/operations/companies.js';
import { reportHit } from '../../api/v2/operations/credit-report.js';
import { v2Operations } from '../../api/v2/operations.js';
import type { CandidateFacts } from '../../domain/candidate-grade.js';
import { anyText, stringifyExact } from '../../util/exact-json.js';
import { totalOf, wholeCount } from '../../util/list-page.js';

/** The result of a search. An unreadable item is no candidate, but it is counted. */
export interface SearchResult {
  readonly candidates: readonly CandidateFacts[];
  readonly unreadable: number;
  readonly unseen?: number;
  /** The list was absent, which does not mean that it is empty. */
  readonly notReturned?: true;
}

/** The candidates of a v1 search, which may be a list or inside an object (V1-17). */
export function readV1Candidates(body: Buffer): SearchResult {
  const answer = readAnswer(v1Operations.searchKyb, body);
  if (Array.isArray(answer)) return found(answer, v1Candidate, companyId, toFacts);
  const items = candidatesIn(answer) ?? [];
  const unseen = unseenBeside(items, answer as Readonly<Record<string, unknown>>);
  return { ...found(items, v1Candidate, companyId, toFacts), ...(unseen === 0 ? {} : { unseen }) };
}

/** How many items at least are on further pages, by the counts of an envelope (V2-12). 0: none, or not stated. */
function unseenBeside(items: readonly unknown[], envelope: Readonly<Record<string, unknown>>): number {
  const total = totalOf(envelope) ?? wholeCount(envelope.total) ?? 0;
  const furtherPages = (wholeCount(envelope.total_pages) ?? wholeCount(envelope.pages) ?? 1) - 1;
  const goesOn = Object.entries(envelope).some(
    ([name, value]) => /^(?:has_?)?(?:more|next)/i.test(name) && isSaid(value),
  );
  return Math.max(total - items.length, furtherPages, goesOn ? 1 : 0);
}

const isSaid = (value: unknown): boolean => value !== null && value !== false && value !== '';

export const readV2Candidates = (body: Buffer): SearchResult =>
  found(readAnswer(v2Operations.kybSearch, body), v2Candidate, digitsId, toFacts);

/** Report hits have no country, only the search has one. Their VAT numbers are a list (V2-7). */
export const readReportHits = (body: Buffer, country: string): SearchResult =>
  found(readAnswer(v2Operations.creditReportSearch, body), reportHit, nonEmpty, (item) => {
    const [first, ...further] = vatNumbersOf(item.vat_number);
    const place = { country_code: country, state: null, jurisdiction: null };
    const facts = toFacts({ ...item, vat_number: first, ...place });
    // Fields of a hit that are not read here are kept too.
    const { country_code, state, jurisdiction } = item as Readonly<Record<string, unknown>>;
    const others = further.length === 0 ? {} : { vat_number: item.vat_number };
    const extra = extraOf(item, { ...others, country_code, state, jurisdiction });
    return { ...facts, extra, ...(further.length === 0 ? {} : { further_vat_numbers: further }) };
  });

/** At most five on a page (V2-10), and more are only counted. Hits have neither VAT number nor state. */
export function readLookupHits(body: Buffer): SearchResult {
  const answer = readAnswer(v2Operations.companiesLookup, body);
  const { data } = answer;
  const items = data ?? [];
  const unseen = unseenBeside(items, answer);
  // Null does not mean "no hits" (V1-22), unless the count is 0.
  const notReturned = data == null && wholeCount(answer.total_results) !== 0;
  return { ...found(items, lookupHit, companyId, toFacts), unseen, ...(notReturned ? { notReturned } : {}) };
}

export const readInsightsHits = (body: Buffer): SearchResult =>
  found(readAnswer(v2Operations.insightsSearch, body), insightsHit, companyId, toFacts);

/** Each is compared with the row. The rest count as unreadable. */
const MOST_CANDIDATES = 1_000;

function found<T extends z.ZodType>(
  items: readonly unknown[],
  item: T,
  askedBy: z.ZodType,
  toCandidate: (item: z.output<T>) => CandidateFacts,
): SearchResult {
  // A candidate whose ID cannot be used in a request is dropped.
  const good = readable(items.slice(0, MOST_CANDIDATES), item)
    .map(toCandidate)
    .filter(({ id }) => id.length <= LONGEST_FIELD && askedBy.safeParse(id).success);
  return { candidates: good, unreadable: items.length - good.length };
}

const vatNumbersOf = (value: unknown): readonly string[] =>
  [...new Set((Array.isArray(value) ? value : [value]).map(textOrNull))].filter(
    (number): number is string => number !== null && number.trim() !== '',
  );

const toFacts = (item: Readonly<Record<string, unknown>>): CandidateFacts => ({
  id: idText(item.id as Id),
  name: textOrNull(item.name),
  registration_number: textOrNull(item.registration_number),
  vat_number: textOrNull(item.vat_number),
  country_code: textOrNull(item.country_code),
  state: textOrNull(item.state),
  jurisdiction: textOrNull(item.jurisdiction),
  ...cityIn(item),
  extra: extraOf(item),
});

/** In an address, or beside the name. It has no column, so it stays among the other fields, too. */
function cityIn({ address, address_city }: Readonly<Record<string, unknown>>): Pick<CandidateFacts, 'city'> {
  const city = textOrNull(address_city ?? (isPlainObject(address) ? address.city : null));
  return city === null ? {} : { city };
}

/** Returned fields without a column, as they came. Null means "not returned". */
function extraOf(item: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}): string | null {
  const others = Object.entries(item).filter(([key]) => !COLUMNS.has(key));
  const rest = [...others, ...Object.entries(more)].filter(([, value]) => value !== undefined && value !== null);
  return rest.length === 0 ? null : stringifyExact(Object.fromEntries(rest));
}

const COLUMNS: ReadonlySet<string> = new Set([
  'id',
  'name',
  'registration_number',
  'vat_number',
  'country_code',
  'state',
  'jurisdiction',
]);

/** No rule reads more of a name or a number. The stored answer keeps the rest. */
const LONGEST_FIELD = 2_000;

function textOrNull(value: unknown): string | null {
  return value === undefined || value === null || value === '' ? null : anyText(value).slice(0, LONGEST_FIELD);
}
