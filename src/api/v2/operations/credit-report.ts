// v2 operations for credit reports.

import { z } from 'zod';
import type { ExactJson } from '../../../util/exact-json.js';
import { namedByKey } from '../../operation.js';
import {
  anyCandidate,
  digitsId,
  id,
  isoCountry,
  list,
  looseObject,
  nonEmpty,
  nullOrAbsent,
  scalar,
  text,
} from '../../schema.js';
import {
  envelopePages,
  isPlainObject,
  opaque,
  page,
  pagesEnvelope,
  per_page,
  registration_number,
  v2,
  v2List,
  v2State,
  vat_number,
} from '../fields.js';

const country = isoCountry.describe('ISO 3166-1 alpha-2');
const report = { report_id: digitsId.describe('Report ID from the generated record or the history') };
const generate = {
  source_id: nonEmpty.describe('ID from creditReportSearch'),
  country,
  /**
   * The parameter's name is not published, and a routes file may rename it. Its default is not published either, so it
   * is always sent (V2-21).
   */
  format: z.enum(['json', 'html']).default('json').describe('Format of the report'),
};

/** The document allows about three minutes to generate a report: an earlier timeout would lose a paid answer. */
const GENERATING_MS = 300_000;

export const reportHit = looseObject({
  id,
  name: nullOrAbsent(scalar),
  registration_number: nullOrAbsent(scalar),
  vat_number: nullOrAbsent(z.union([scalar, list(scalar)])),
  status: nullOrAbsent(scalar),
  address: nullOrAbsent(
    looseObject({ post_code: nullOrAbsent(scalar), city: nullOrAbsent(scalar), street: nullOrAbsent(scalar) }),
  ),
});

const generated = looseObject({
  id,
  name: nullOrAbsent(text),
  source_id: nullOrAbsent(id),
  expired: nullOrAbsent(z.boolean()),
  // "Timestamp": the document does not show whether it is text or a number.
  date_created: nullOrAbsent(scalar),
  status: nullOrAbsent(scalar),
  registration_number: nullOrAbsent(text),
});

export const historyItem = looseObject({
  id,
  name: nullOrAbsent(text),
  source_id: nullOrAbsent(id),
  url: nullOrAbsent(text),
  expired: nullOrAbsent(z.boolean()),
  status: nullOrAbsent(scalar),
  date_created: nullOrAbsent(scalar),
});

const creditRisk = looseObject({
  pod: nullOrAbsent(scalar),
  commonValue: nullOrAbsent(scalar),
  commonDescription: nullOrAbsent(text),
  creditLimit: nullOrAbsent(looseObject({ value: nullOrAbsent(scalar), currency: nullOrAbsent(text) })),
});

/** Sections beyond the summary are kept unread (V2-7). An HTML report is a text. */
const reportBody = z.union([
  looseObject({
    summary: nullOrAbsent(
      looseObject({
        number_of_employees: nullOrAbsent(scalar),
        overall_credit_risk: nullOrAbsent(creditRisk),
        what_we_like_about_this_company: nullOrAbsent(list(scalar)),
      }),
    ),
    company_profile: nullOrAbsent(opaque),
  }),
  text,
]);

/** A section is an object or a list. The names of most are not published. */
const isSection = (member: string, first: string) =>
  first === 'n' ? member === 'summary' || member === 'company_profile' : '{['.includes(first) && member !== 'error';

const generating = {
  ...v2,
  meter: 'report',
  keep: { days: 365 },
  subject: { space: 'credit', param: 'source_id' },
  params: z.strictObject(generate),
  deadlineMs: GENERATING_MS,
} as const;

const reading = {
  ...v2,
  meter: 'free',
  subject: { space: 'report', param: 'report_id' },
  params: z.strictObject(report),
} as const;

export const creditReport = namedByKey({
  creditReportSearch: {
    ...v2List,
    summary: 'Companies that a credit report can be generated for',
    params: z.strictObject({
      country,
      company: nonEmpty.optional().describe('Company name'),
      registration_number,
      vat_number,
      province: nonEmpty.optional().describe('Province, from the nomenclatures'),
      registered_city: nonEmpty.optional().describe('City of the registered address'),
      post_code: nonEmpty.optional().describe('Postal code of the registered address'),
    }),
    body: list(anyCandidate),
    itemIds: { id: 'credit' },
  },
  creditReportGenerate: {
    ...generating,
    summary: 'Generate a credit report. The answer has its ID. Look in the history first',
    body: generated,
  },
  creditReportStatus: {
    ...reading,
    keep: 'never',
    summary: 'Whether a report can be fetched',
    // The wrapping of the answer is not published (V2-19): see `isReportReady`.
    body: z.unknown(),
  },
  creditReportFetch: {
    ...reading,
    keep: { days: 365 },
    summary: 'A finished credit report',
    body: reportBody,
    knownBy: isSection,
    htmlBody: true,
  },
  creditReportCombined: {
    ...generating,
    summary: 'Generate and fetch in one call, for one-off lookups. It gives no ID to resume from',
    body: reportBody,
    knownBy: isSection,
    htmlBody: true,
  },
  creditReportHistory: {
    ...v2State,
    meter: 'free',
    summary: 'Reports generated before, paged. Fetching one again is free',
    params: z.strictObject({ search: nonEmpty.optional().describe('Text to search for'), page, per_page }),
    body: pagesEnvelope(historyItem),
    itemIds: { id: 'report', source_id: 'credit' },
    pages: envelopePages,
  },
});

export const REPORT_FINISHED = 'finish';

/**
 * The document shows `true` as the answer, but not how it is wrapped (V2-19). Accepted are a bare `true`, a `status` of
 * true or `finish`, or an object whose only boolean is true. Anything else means "not yet".
 */
export function isReportReady(answer: ExactJson): boolean {
  if (!isPlainObject(answer)) return answer === true;
  if (Object.hasOwn(answer, 'status')) return answer.status === true || answer.status === REPORT_FINISHED;
  // `expired` has another meaning.
  const said = Object.entries(answer).filter(([name, value]) => typeof value === 'boolean' && name !== 'expired');
  return said.length === 1 && said[0]?.[1] === true;
}
