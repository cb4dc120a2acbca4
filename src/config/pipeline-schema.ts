import { z } from 'zod';
import { allOperations } from '../api/all-operations.js';
import { type V2OperationName, v2Operations } from '../api/v2/operations.js';
import { IMPORTANT_CHANGES } from '../domain/change.js';
import { defaultMatchPolicy } from '../domain/decide.js';
import { parseDuration } from '../domain/duration.js';
import {
  amount,
  choice,
  duration,
  filledText,
  integerWithin,
  NO_KEYS,
  notBelow,
  percentage,
  section,
  uniqueList,
  yesOrNo,
} from '../domain/options.js';
import { SHAREABLE_SPACES } from '../domain/provider.js';
import { readers } from '../readers/list.js';
import { changeNames } from '../readers/row-identity.js';
import type { Table } from '../readers/table.js';
import { FALLBACKS } from '../stages/identity/fallback-steps.js';
import { stages } from '../stages/list.js';
import { notifySection } from './notify-schema.js';

/** The keys of a search. */
const SEARCH_KEYS = ['registration_number', 'vat_number', 'name'] as const;
export type SearchKey = (typeof SEARCH_KEYS)[number];

const stageNames = stages.map(({ name }) => name) as [string, ...string[]];
const operationNames = allOperations.map(({ name }) => name) as [string, ...string[]];
const v2Names = Object.keys(v2Operations) as [V2OperationName, ...V2OperationName[]];

/** The default freshness of each operation, without those that are never reused. */
export const DEFAULT_FRESHNESS: Readonly<Record<string, string>> = Object.fromEntries(
  allOperations.flatMap(({ name, keep }) => (keep === 'never' ? [] : [[name, `${keep.days}d`]])),
);

/** Also the default of runs older than this key. */
export const DEFAULT_PATIENCE = '2m';

/** A reused "not ready yet" would make a report wait forever, and a reused history could generate it twice (V2-6). */
const freshness = z
  .partialRecord(z.enum(operationNames), duration({ most: 'forever' }), {
    error: (issue) => (issue.code === 'invalid_type' ? NO_KEYS : undefined),
  })
  .superRefine((entries, context) => {
    for (const [name, value] of Object.entries(entries)) {
      if (Object.hasOwn(DEFAULT_FRESHNESS, name) || parseDuration(String(value)) === 0) continue;
      context.addIssue({ code: 'custom', path: [name], message: 'must be 0: its answer holds for the moment only' });
    }
  });

/** The options of each stage, under its key. */
const stageOptions = Object.fromEntries(
  stages.flatMap(({ options }) => (options === undefined ? [] : [[options.key, options.schema]])),
) as Readonly<Record<string, z.ZodType>>;
const known: ReadonlySet<string> = new Set(
  changeNames([...new Set(readers.flatMap(({ tables }): readonly Table[] => tables))]),
);

const changeName = filledText().refine(
  (name) => known.has(name),
  'must be a table whose lines come and go, such as officers, or a column as in companies.status (docs/reference/tables)',
);

const SHARED = `must be true, false, or a list of two or more of ${SHAREABLE_SPACES.join(', ')}`;

const headers = (field: string) => uniqueList(filledText()).optional().describe(`Headers that mean ${field}`);

/** The pipeline file. Every key except `stages` is optional. */
export const pipelineFile = section({
  description: filledText().optional().describe('What this pipeline is for, in a sentence'),
  stages: uniqueList(choice(stageNames)).describe(
    'What to buy for each confirmed company. Resolve and confirm always come first; the order here does not matter',
  ),
  search: section({
    attempts: integerWithin(1, 5)
      .default(2)
      .describe(
        'Searches that may be bought per row and API, 1 to 5; each v1 search costs a unit, also when it finds nothing (V1-1). What is owned is looked at beyond it',
      ),
    order: uniqueList(choice(SEARCH_KEYS))
      .default([...SEARCH_KEYS])
      .describe('What to search by, first to last; what is not listed is not searched by'),
    further_spellings: yesOrNo()
      .default(true)
      .describe('Try further spellings of the number when nothing else has found the company; each counts as a search'),
    fallback: z
      .array(choice(FALLBACKS), 'must be a list')
      .refine((steps) => new Set(steps).size === steps.length, 'must not name anything twice')
      .default([])
      .describe(
        'Who is asked, first to last, where the searches find nobody: `lookup` (LEI, website, LinkedIn address, phone, number, VAT number or name, the first that the row has), `website`, `linkedin`, `registry`, `autocomplete`. Each is one call of v2 whose price is not told, and one search more for the number it names; a hint, never a match (docs/matching.md)',
      ),
  })
    .prefault({})
    .describe('How companies are looked up'),
  match: section({
    name_agreement: integerWithin(85, 100)
      .default(defaultMatchPolicy.nameAgreement)
      .describe(
        'From which similarity, 85 to 100, two names are held to agree; names support a number, alone they never confirm',
      ),
    confirm_on_vat: yesOrNo()
      .default(defaultMatchPolicy.confirmOnVat)
      .describe('Confirm a row without registration number when VAT number and name agree with exactly one candidate'),
    confirm_repaired: yesOrNo()
      .default(defaultMatchPolicy.confirmRepaired)
      .describe('Confirm a registration number that agrees after a repair; `false` asks a person each time'),
    confirm_number_alone: choice(['always', 'with_checksum', 'never'])
      .default(defaultMatchPolicy.confirmNumberAlone)
      .describe(
        'A number with neither name nor VAT number to hold against it, where one digit off is another company: `always` confirms it, `with_checksum` only where the check digit rules a slip out, `never` asks a person (docs/matching.md)',
      ),
  })
    .prefault({})
    .describe('When a candidate is confirmed without asking a person'),
  confirm: section({
    legal_form: choice(['review', 'note'])
      .default(defaultMatchPolicy.legalForm)
      .describe(
        'The number agrees, and the legal forms of both names are known and different (`X SA`, `X SCI`): `review` asks a person, `note` confirms and says so in the reason',
      ),
  })
    .prefault({})
    .describe('What is asked about although the number agrees'),
  review: section({
    second_person: yesOrNo()
      .default(false)
      .describe(
        'A confirmation by a person counts only when another person, by another name, has confirmed the same candidate; what was decided in this list before stays, and what one person has confirmed to another list is the first of two. It holds for the whole list from the next `kybatch run` of it on',
      ),
  })
    .prefault({})
    .describe('How people answer what only they can'),
  freshness: freshness
    .prefault({})
    .describe('Operation → how long an answer we own is used again for nothing; what is not listed keeps its default'),
  limits: section({
    units: amount()
      .default(null)
      .describe('v1 units that one attempt may spend, `null` for no limit. `--max-units` overrides it'),
    credit_reports: amount()
      .default(null)
      .describe('Credit reports that one attempt may buy, `null` for no limit. `--max-reports` overrides it'),
  })
    .prefault({})
    .describe('What one attempt may spend. Then the run stops with exit code 4 and can be resumed'),
  concurrency: integerWithin(1, 256)
    .default(16)
    .describe(
      'Calls at once at the most to each API, 1 to 256; a run starts lower and grows while the provider keeps up (V1-19)',
    ),
  lost_answers: choice(['resend', 'hold'])
    .default('resend')
    .describe(
      'A request whose answer was lost may have been charged (V1-5). `resend` sends it again, `hold` keeps the row until a person decides',
    ),
  lost_answer_tries: integerWithin(1, 10)
    .default(3)
    .describe(
      'How often such a request may be sent again, 1 to 10, before a person must look; how many calls for one credit report may fail or be lost, in all starts together (V2-17); and in how many starts another request may bring failures which may cost, or what cannot be read (X-1)',
    ),
  provenance: yesOrNo().default(false).describe('Ask for the sources of the data; one mode for the whole run (V1-25)'),
  ids_shared: z
    .union([z.boolean(), z.array(choice(SHAREABLE_SPACES)).min(2, SHARED).meta({ uniqueItems: true })], SHARED)
    .refine((said) => typeof said === 'boolean' || new Set(said).size === said.length, SHARED)
    .default(false)
    .describe(
      'ID spaces that your provider told you are one, such as `[v1, v2, companies]`: a company that is confirmed in one of them needs no search in the others. `true` is `[v1, v2]`. The documents do not say so of any two: ask first (V2-4, V2-18)',
    ),
  ...stageOptions,
  permissions: z
    .record(filledText(), uniqueList(choice(v2Names)), {
      error: (issue) => (issue.code === 'invalid_type' ? NO_KEYS : undefined),
    })
    .prefault({})
    .describe(
      'v2 permission codename, as /metrics names it → the v2 operations that draw on it; the provider does not publish this (V2-3)',
    ),
  columns: section({
    name: headers('the company name'),
    country: headers('the country or location'),
    registration_number: headers('the registration number'),
    vat_number: headers('the VAT or tax number'),
    ticker: headers('the ticker'),
    city: headers('the city'),
    state: headers('the state or province'),
    id: headers('your own key'),
    lei: headers('the legal entity identifier, which `search.fallback` follows'),
    website: headers('the website, which `search.fallback` follows'),
    linkedin: headers('the LinkedIn address of the company, which `search.fallback` follows'),
    phone: headers('the phone number, which `search.fallback` follows'),
    email: headers('the e-mail address, which `search.fallback` follows'),
  })
    .prefault({})
    .describe(
      'Headers of your files beyond the known ones, a list for each field; they win over those, and case, spaces and punctuation do not matter',
    ),
  retry: section({
    attempts: integerWithin(1, 10)
      .default(5)
      .describe('How often a call is sent at the most, 1 to 10, the first time included'),
    base: duration({ most: '1h' }).default('500ms').describe('Wait before the second attempt; it doubles each time'),
    cap: duration({ most: '1h' }).default('30s').describe('The longest wait between two attempts'),
  })
    .refine(notBelow('base', 'cap'), { path: ['cap'], error: 'must not be shorter than retry.base' })
    .prefault({})
    .describe('What happens when the network or the provider stumbles'),
  breaker: section({
    failures: integerWithin(5, 1000)
      .default(20)
      .describe(
        'Failures in a row, 5 to 1000, after which an operation of the provider is held to be down. Generating a credit report is after three that may have cost one, of more than one company',
      ),
  })
    .prefault({})
    .describe('When the provider is held to be down'),
  guards: section({
    failing_alike: percentage()
      .default(null)
      .describe(
        'Per cent of the rows of a start that may fail with one and the same code: beyond it, from 20 rows on, the run stops with exit code 6 and can be resumed; `null` for no such guard',
      ),
    rows_lost: percentage()
      .default(null)
      .describe(
        'Per cent of its usable rows that an input may have lost since it was last run: beyond it, and where none of its members is left, the input is refused with exit code 2, before anything is spent or written; `null` for no such guard',
      ),
  })
    .prefault({})
    .describe('What an unattended run is kept from when its feed is broken'),
  changes: section({
    important: z
      .array(changeName, 'must be a list')
      .refine((names) => new Set(names).size === names.length, 'must not name anything twice')
      .default([...IMPORTANT_CHANGES])
      .describe(
        'What `kybatch changes` shows first, and the table `changes` marks: `officers` is one who came or went, `companies.status` a status that is another one (docs/portfolio.md)',
      ),
  })
    .prefault({})
    .describe('What matters of what changes'),
  watch: section({
    fields: uniqueList(filledText())
      .nullable()
      .default(null)
      .describe(
        'Fields that `kybatch watch sync` has the provider watch, such as name or company_status; `null` for those that the account has set',
      ),
    refresh: uniqueList(choice(stageNames))
      .nullable()
      .default(null)
      .describe(
        'Stages, of those above, that are bought again although fresh where the watch says that a company has changed; `null` for none',
      ),
    every: duration({ most: '90d' })
      .default(0)
      .describe(
        'A start does not ask about a company that was asked about less than this ago, unless a callback has named it; `0` asks about all, every time',
      ),
  })
    .prefault({})
    .describe(
      "The provider's watch (docs/portfolio.md). Where either key is given a start first reads what has changed, one call a watched company; where that fails it says so, and goes on",
    ),
  tables: choice(['when_finished', 'at_every_stop'])
    .default('at_every_stop')
    .describe(
      'When an attempt writes the tables: at every stop (a limit, the allowance, an outage, an interrupt), or only when all that was due is done; `--no-export` does not write them',
    ),
  patience: duration({ most: '7d' })
    .default(DEFAULT_PATIENCE)
    .describe(
      'How long a provider that is down is waited for; then the run stops with exit code 6, to be resumed later. `0` stops it at once',
    ),
  deadline: duration({ least: '30s', most: '10m' })
    .default('35s')
    .describe(
      'How long a call may take, body included, 30s at least: the provider itself gives up after 25s (V1-6); generating a report has five minutes at least',
    ),
  metrics: section({
    file: filledText().describe(
      'Where the figures go, in the text format of Prometheus, at the end of a start and every minute while it works; a path is taken from the working directory',
    ),
  })
    .optional()
    .describe('Figures for a monitor'),
  notify: notifySection
    .optional()
    .describe(
      'Who is told, with a JSON summary, when a start has ended: `command` or `webhook`, and not both. That it cannot be told is a warning, and fails nothing (docs/operations.md)',
    ),
});

export type PipelineFile = z.output<typeof pipelineFile>;

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly description?: string;
  readonly default?: unknown;
  readonly propertyNames?: { readonly enum?: readonly string[] };
}

/** The pipeline file as a JSON schema, for editors. */
export function pipelineJsonSchema(): Readonly<Record<string, unknown>> & SchemaNode {
  const schema = z.toJSONSchema(pipelineFile, { io: 'input', target: 'draft-7' });
  return { ...schema, title: 'kybatch pipeline' } as Readonly<Record<string, unknown>> & SchemaNode;
}

/** Every key of the file by its dotted path, including sections. */
export function pipelineKeys(): ReadonlyMap<string, SchemaNode> {
  return new Map(keysBelow(pipelineJsonSchema(), ''));
}

function keysBelow(node: SchemaNode, prefix: string): [string, SchemaNode][] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]): [string, SchemaNode][] => [
    [`${prefix}${key}`, child],
    ...keysBelow(child, `${prefix}${key}.`),
  ]);
}

/** Keys of earlier versions, with their names of today. */
const RENAMED: Readonly<Record<string, string>> = {
  budget: 'limits',
  in_doubt: 'lost_answers',
  in_doubt_cap: 'lost_answer_tries',
};

/** The content of a pipeline file with the keys of today, and the old keys that it used. */
export function withCurrentKeys(content: unknown): { readonly content: unknown; readonly old: readonly string[] } {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return { content, old: [] };
  // A file with both names keeps the old one, which is then an unknown key.
  const old = Object.keys(content).filter((key) => {
    const current = Object.hasOwn(RENAMED, key) ? RENAMED[key] : undefined;
    return current !== undefined && !Object.hasOwn(content, current);
  });
  const renamed = Object.entries(content).map(([key, value]) =>
    old.includes(key) ? [RENAMED[key], key === 'in_doubt' && value === 'park' ? 'hold' : value] : [key, value],
  );
  return {
    content: Object.fromEntries(renamed),
    old: old.map((key) => `${key} is ${RENAMED[key]} now`),
  };
}
