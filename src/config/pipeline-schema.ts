import { z } from 'zod';
import { v1Operations } from '../api/v1/operations.js';
import { type V2OperationName, v2Operations } from '../api/v2/operations.js';
import { defaultMatchPolicy } from '../domain/decide.js';
import { parseDuration } from './duration.js';
import { amount, choice, duration, integer, NO_KEYS, section, text, uniqueList, yesOrNo } from './fields.js';

/** What a row can be taken through after it was resolved and confirmed, in the order of the journey. */
export const STAGE_NAMES = ['record', 'financials', 'credit-report'] as const;
export type StageName = (typeof STAGE_NAMES)[number];

/** What a search can ask by. */
export const SEARCH_KEYS = ['registration_number', 'vat_number', 'name'] as const;
export type SearchKey = (typeof SEARCH_KEYS)[number];

export type OperationName = keyof typeof v1Operations | V2OperationName;

const v2Names = Object.keys(v2Operations) as [V2OperationName, ...V2OperationName[]];
const operationNames = [...Object.keys(v1Operations), ...v2Names] as [OperationName, ...OperationName[]];

/** How long an answer is good for where the file says nothing. What is not listed is asked anew every time. */
export const DEFAULT_FRESHNESS = {
  searchKyb: '30d',
  kybSearch: '30d',
  creditReportSearch: '30d',
  fullKyb: '90d',
  financial: '90d',
  creditReportGenerate: '365d',
  creditReportFetch: '365d',
} as const satisfies Partial<Record<OperationName, string>>;

/**
 * Operations that tell how things stand at this moment, or change them. An owned "not ready yet" would make a report
 * wait for ever, and an owned history would let it be generated twice (V2-6).
 */
const ALWAYS_ASKED: readonly string[] = operationNames.filter((name) =>
  /^(?:metrics|watch|creditReportStatus$|creditReportHistory$)/.test(name),
);

const freshness = z
  .partialRecord(z.enum(operationNames), duration({ most: 'forever' }), {
    error: (issue) => (issue.code === 'invalid_type' ? NO_KEYS : undefined),
  })
  .superRefine((entries, context) => {
    for (const [name, value] of Object.entries(entries)) {
      if (!ALWAYS_ASKED.includes(name) || parseDuration(String(value)) === 0) continue;
      context.addIssue({ code: 'custom', path: [name], message: 'must be 0: its answer holds for the moment only' });
    }
  });

const notBelow = (lower: string, upper: string) => (value: Readonly<Record<string, unknown>>) =>
  parseDuration(String(value[upper])) >= parseDuration(String(value[lower]));

const headers = (field: string) => uniqueList(text()).optional().describe(`Headers that mean ${field}`);

/** The pipeline file as a person writes it. Every key but `stages` may be left out. */
export const pipelineFile = section({
  description: text().optional().describe('What this pipeline is for, in a sentence'),
  stages: uniqueList(choice(STAGE_NAMES)).describe(
    'What to buy for each confirmed company. Resolve and confirm always come first; the order here does not matter',
  ),
  search: section({
    attempts: integer(1, 5)
      .default(2)
      .describe('Searches allowed per row and API; each v1 search costs a unit, also when it finds nothing'),
    order: uniqueList(choice(SEARCH_KEYS))
      .default([...SEARCH_KEYS])
      .describe('What to search by, first to last; what is not listed is not searched by'),
    further_spellings: yesOrNo()
      .default(true)
      .describe('Try further spellings of the number when nothing else has found the company; each counts as a search'),
  })
    .prefault({})
    .describe('How companies are looked up'),
  match: section({
    name_agreement: integer(85, 100)
      .default(defaultMatchPolicy.nameAgreement)
      .describe('From which similarity (of 100) two names are held to agree'),
    confirm_on_vat: yesOrNo()
      .default(defaultMatchPolicy.confirmOnVat)
      .describe('Confirm a row without registration number when the VAT number and the name agree with one candidate'),
    confirm_repaired: yesOrNo()
      .default(defaultMatchPolicy.confirmRepaired)
      .describe('Confirm a registration number that agrees after a repair; false asks a person each time'),
    confirm_number_alone: choice(['always', 'with_checksum', 'never'])
      .default(defaultMatchPolicy.confirmNumberAlone)
      .describe('Confirm on the number alone where a row has neither name nor VAT number that could be compared'),
  })
    .prefault({})
    .describe('When a candidate is confirmed without asking a person'),
  freshness: freshness
    .prefault({})
    .describe('Operation → how long an answer we own is used again for nothing; what is not listed keeps its default'),
  budget: section({
    units: amount().default(null).describe('v1 units a run may spend at the most; null: no limit'),
    credit_reports: amount().default(null).describe('Credit reports a run may generate at the most; null: no limit'),
  })
    .prefault({})
    .describe('What a run may spend; when it is spent the run stops and can be resumed'),
  concurrency: integer(1, 256).default(16).describe('Calls at once at the most; a run starts lower and grows'),
  in_doubt: choice(['resend', 'park'])
    .default('resend')
    .describe('A request whose answer was lost may have been charged: send it again, or park the row for a person'),
  in_doubt_cap: integer(1, 10)
    .default(3)
    .describe('How often such a request may be sent again before a person must look'),
  provenance: yesOrNo().default(false).describe('Ask for the sources of the data; one mode for the whole run (V1-25)'),
  ids_shared: yesOrNo()
    .default(false)
    .describe('Your provider told you that v1 and v2 use the same company IDs: v2 needs no search of its own (V2-4)'),
  report: section({
    reuse_expired: yesOrNo()
      .default(false)
      .describe('Take a report from the history although it is marked expired, rather than generate a new one'),
    first_poll: duration({ least: '1ms', most: '1h' })
      .default('5s')
      .describe('How long after generating to ask for the first time'),
    poll_at_most: duration({ least: '1ms', most: '1h' })
      .default('30s')
      .describe('The waits between two asks grow up to this'),
    give_up_after: duration({ least: '1s', most: '7d' })
      .default('30m')
      .describe('When to stop waiting; generating may take three minutes, so stay well above (V2-6)'),
    format: choice(['json']).default('json').describe('Form of the report; JSON is the only one that can be exported'),
  })
    .refine(notBelow('first_poll', 'poll_at_most'), {
      path: ['poll_at_most'],
      error: 'must not be shorter than report.first_poll',
    })
    .prefault({})
    .describe('How credit reports are waited for'),
  permissions: z
    .record(text(), uniqueList(choice(v2Names)), {
      error: (issue) => (issue.code === 'invalid_type' ? NO_KEYS : undefined),
    })
    .prefault({})
    .describe('v2 permission codename, as /metrics names it → the v2 operations that draw on it (V2-3)'),
  columns: section({
    name: headers('the company name'),
    country: headers('the country or location'),
    registration_number: headers('the registration number'),
    vat_number: headers('the VAT or tax number'),
    ticker: headers('the ticker'),
    city: headers('the city'),
    state: headers('the state or province'),
    id: headers('your own key'),
  })
    .prefault({})
    .describe('Headers of your files beyond the known ones; they win over those'),
  retry: section({
    attempts: integer(1, 10).default(5).describe('How often a call is sent at the most, the first time included'),
    base: duration({ most: '1h' }).default('500ms').describe('Wait before the second attempt; it doubles each time'),
    cap: duration({ most: '1h' }).default('30s').describe('The longest wait between two attempts'),
  })
    .refine(notBelow('base', 'cap'), { path: ['cap'], error: 'must not be shorter than retry.base' })
    .prefault({})
    .describe('What happens when the network or the provider stumbles'),
  breaker: section({
    failures: integer(5, 1000).default(20).describe('Failures in a row after which the run stops, to be resumed later'),
  })
    .prefault({})
    .describe('When the provider is held to be down'),
  deadline: duration({ least: '30s', most: '10m' })
    .default('35s')
    .describe('How long a call may take, body included; the provider itself gives up after 25s (V1-6)'),
});

export type PipelineFile = z.output<typeof pipelineFile>;
