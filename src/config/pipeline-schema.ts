import { z } from 'zod';
import { allOperations } from '../api/all-operations.js';
import { type V2OperationName, v2Operations } from '../api/v2/operations.js';
import { IMPORTANT_CHANGES } from '../domain/change.js';
import { parseDuration } from '../domain/freshness.js';
import { defaultMatchPolicy } from '../domain/match-decision.js';
import {
  amount,
  choice,
  duration,
  filledText,
  integerWithin,
  keysExpected,
  notBelow,
  percentage,
  section,
  uniqueList,
  yesOrNo,
} from '../domain/options.js';
import type { Prices } from '../domain/prices.js';
import { SHAREABLE_SPACES } from '../domain/provider.js';
import { isSafeUrl } from '../domain/urls.js';
import { readers } from '../readers/list.js';
import { changeNames } from '../readers/row-identity.js';
import type { Table } from '../readers/table.js';
import { FALLBACKS } from '../stages/identity/searches.js';
import { stages } from '../stages/list.js';
import { plainDecimal } from '../util/exact-json.js';
import { Secret } from '../util/secret.js';

/** Credit reports have a price of their own, and free calls have none. */
const pricedNames = Object.values(v2Operations)
  .filter(({ meter }) => meter === 'not_told')
  .map(({ name }) => name) as [string, ...string[]];

const DECIMAL = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,9})?$/;
const PRICE = 'must be 0 or more, with at most 9 decimals, such as 0.35';
const CURRENCY = 'must be three capital letters such as EUR';

const textOf = (price: string | number): string =>
  typeof price === 'string' ? price : (plainDecimal(String(price)) ?? '');

const price = () => z.union([z.number(), z.string()], PRICE).refine((value) => DECIMAL.test(textOf(value)), PRICE);

export const pricesSection = section({
  currency: z
    .string(CURRENCY)
    .regex(/^[A-Z]{3}$/, CURRENCY)
    .describe('The currency of all prices, as an ISO code'),
  unit: price().optional().describe('The price of a v1 unit'),
  credit_report: price().optional().describe('The price of a credit report'),
  operations: z
    .partialRecord(z.enum(pricedNames), price(), keysExpected)
    .prefault({})
    .describe('v2 operation → the price of a call. Credit reports have their own key'),
});

export const toPrices = ({ currency, unit, credit_report, operations }: z.output<typeof pricesSection>): Prices => ({
  currency,
  ...(unit === undefined ? {} : { unit: textOf(unit) }),
  ...(credit_report === undefined ? {} : { creditReport: textOf(credit_report) }),
  operations: Object.fromEntries(Object.entries(operations).map(([name, value]) => [name, textOf(value ?? 0)])),
});

const NOTIFY_REASONS = ['failed', 'important_change', 'invalid', 'members_left', 'questions', 'stopped'] as const;
export type NotifyReason = (typeof NOTIFY_REASONS)[number];

export interface Notify {
  readonly on: readonly NotifyReason[];
  readonly to: NotifyTarget;
}

export type NotifyTarget =
  | { readonly kind: 'command'; readonly argv: readonly [string, ...string[]] }
  /** The part after the host is often a password, so it is never shown. */
  | { readonly kind: 'webhook'; readonly origin: string; readonly rest: Secret };

const URL_FORM = 'must be an https address, or http on a loopback address, without user name and password';
const ONE_OF_TWO = 'must name `command` or `webhook`, and not both';

const notifySection = section({
  command: z
    .tuple([filledText()], z.string('must be a text'), 'must be a list: the program and its arguments')
    .optional()
    .describe(
      'A program and its arguments, as a list. It gets the summary on its standard input, and an environment without the keys. No shell runs it',
    ),
  webhook: z
    .string(URL_FORM)
    .refine(isWebhook, URL_FORM)
    .optional()
    .describe(
      'An address to which the summary is sent by POST: https, or http on a loopback address. kybatch follows no redirects',
    ),
  on: uniqueList(choice(NOTIFY_REASONS))
    .default([...NOTIFY_REASONS])
    .describe(
      'The reasons for a notification. `failed`: rows failed, or an error ended the attempt. `important_change`: an important change was found. `invalid`: new or changed rows are invalid. `members_left`: rows have left the list. `questions`: there are new review questions. `stopped`: a limit, the allowance, the provider or an interrupt ended the attempt',
    ),
}).refine(({ command, webhook }) => (command === undefined) !== (webhook === undefined), { error: ONE_OF_TWO });

function isWebhook(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return isSafeUrl(url) && url.username === '' && url.password === '';
}

export function toNotify({ command, webhook, on }: z.output<typeof notifySection>): Notify {
  if (command !== undefined) return { on, to: { kind: 'command', argv: command } };
  const { origin, pathname, search } = new URL(webhook ?? '');
  return { on, to: { kind: 'webhook', origin, rest: new Secret(pathname + search) } };
}

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
  .partialRecord(z.enum(operationNames), duration({ most: 'forever' }), keysExpected)
  .superRefine((entries, context) => {
    for (const [name, value] of Object.entries(entries)) {
      if (Object.hasOwn(DEFAULT_FRESHNESS, name) || parseDuration(String(value)) === 0) continue;
      context.addIssue({ code: 'custom', path: [name], message: 'must be 0: its answer is valid for the moment only' });
    }
  });

const stageOptions = Object.fromEntries(
  stages.flatMap(({ options }) => (options === undefined ? [] : [[options.key, options.schema]])),
) as Readonly<Record<string, z.ZodType>>;
const known: ReadonlySet<string> = new Set(
  changeNames([...new Set(readers.flatMap(({ tables }): readonly Table[] => tables))]),
);

const changeName = filledText().refine(
  (name) => known.has(name),
  'must be a table of lists, such as officers, or a column as in companies.status (docs/reference/tables)',
);

const SHARED = `must be true, false, or a list of two or more of ${SHAREABLE_SPACES.join(', ')}`;

const headers = (field: string) => uniqueList(filledText()).optional().describe(`Headers that mean ${field}`);

/** The pipeline file. Every key except `stages` is optional. */
export const pipelineFile = section({
  description: filledText().optional().describe('What this pipeline is for, in a sentence'),
  stages: uniqueList(choice(stageNames)).describe('The stages to buy for each confirmed company, in any order'),
  search: section({
    attempts: integerWithin(1, 5)
      .default(2)
      .describe(
        'Searches that may be bought for each row and API, 1 to 5. A v1 search costs a unit even if it finds nothing. Stored searches do not count',
      ),
    order: uniqueList(choice(SEARCH_KEYS))
      .default([...SEARCH_KEYS])
      .describe('The fields to search by, first to last. kybatch does not search by other fields'),
    further_spellings: yesOrNo()
      .default(true)
      .describe('Try other spellings of the number if nothing else finds the company. Each counts as a search'),
    fallback: z
      .array(choice(FALLBACKS), 'must be a list')
      .refine((steps) => new Set(steps).size === steps.length, 'must not name anything twice')
      .default([])
      .describe(
        'Other v2 modules to ask, first to last, if the searches find no company. Each costs one v2 call, and one more search for the number that it names. The answer is a hint, never a match. `lookup` uses LEI, website, LinkedIn address, phone, number, VAT number or name, the first that the row has',
      ),
  })
    .prefault({})
    .describe('How companies are looked up'),
  match: section({
    name_agreement: integerWithin(85, 100)
      .default(defaultMatchPolicy.nameAgreement)
      .describe(
        'The similarity, 85 to 100, from which two names agree. A name supports a number. It never confirms alone',
      ),
    confirm_on_vat: yesOrNo()
      .default(defaultMatchPolicy.confirmOnVat)
      .describe('Confirm a row without registration number if VAT number and name agree with exactly one candidate'),
    confirm_repaired: yesOrNo()
      .default(defaultMatchPolicy.confirmRepaired)
      .describe('Confirm a registration number that agrees after a repair. `false` asks a person each time'),
    confirm_number_alone: choice(['always', 'with_checksum', 'never'])
      .default(defaultMatchPolicy.confirmNumberAlone)
      .describe(
        'For a number without a name or VAT number to compare. `always` confirms it. `with_checksum` confirms it if its check digit excludes a typing error. `never` asks a person',
      ),
  })
    .prefault({})
    .describe('When a candidate is confirmed without asking a person'),
  confirm: section({
    legal_form: choice(['review', 'note'])
      .default(defaultMatchPolicy.legalForm)
      .describe(
        'For equal numbers with different legal forms, such as `X SA` and `X SCI`. `review` asks a person. `note` confirms, and notes it in the reason',
      ),
  })
    .prefault({})
    .describe('Questions although the number agrees'),
  review: section({
    second_person: yesOrNo()
      .default(false)
      .describe(
        'A confirmation counts only if a second person confirms the same candidate under another name. Earlier decisions of this list stay valid. A decision from another list counts as the first of two. It holds from the next `kybatch run`',
      ),
  })
    .prefault({})
    .describe('How people answer review questions'),
  freshness: freshness
    .prefault({})
    .describe('Operation → how long a stored answer is reused. Other operations keep their default'),
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
  prices: pricesSection
    .optional()
    .describe(
      'The prices of your contract. If they are set, `plan`, `run`, `status`, `usage` and `summary.json` also show money. Pipelines without this key use `KYBATCH_PRICES`',
    ),
  concurrency: integerWithin(1, 256)
    .default(16)
    .describe('The most calls at once to each API, 1 to 256. A run starts lower and grows while the provider keeps up'),
  lost_answers: choice(['resend', 'hold'])
    .default('resend')
    .describe(
      'A request whose answer was lost may have been charged. `resend` sends it again, `hold` keeps the row until a person decides',
    ),
  lost_answer_tries: integerWithin(1, 10)
    .default(3)
    .describe(
      'How many lost or unreadable answers one request may have, 1 to 10, before a person decides. For a credit report, failed calls count too. For other requests, it also limits the attempts with failed calls',
    ),
  provenance: yesOrNo().default(false).describe('Request the sources of the data, for the whole run'),
  ids_shared: z
    .union([z.boolean(), z.array(choice(SHAREABLE_SPACES)).min(2, SHARED).meta({ uniqueItems: true })], SHARED)
    .refine((said) => typeof said === 'boolean' || new Set(said).size === said.length, SHARED)
    .default(false)
    .describe(
      'ID spaces that share their IDs, such as `[v1, v2, companies]`. A company that is confirmed in one of them needs no search in the others. `true` means `[v1, v2]`. Ask your account manager first',
    ),
  ...stageOptions,
  permissions: z
    .record(filledText(), uniqueList(choice(v2Names)), keysExpected)
    .prefault({})
    .describe(
      'v2 permission, as `kybatch doctor` shows it → the v2 operations that use it. The provider does not publish this',
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
      'Further headers of your files, a list for each field. They have priority. Case, spaces and punctuation do not matter',
    ),
  retry: section({
    attempts: integerWithin(1, 10).default(5).describe('How often a call is sent, 1 to 10, including the first time'),
    base: duration({ most: '1h' }).default('500ms').describe('The wait before the second try. It doubles each time'),
    cap: duration({ most: '1h' }).default('30s').describe('The longest wait between two tries'),
  })
    .refine(notBelow('base', 'cap'), { path: ['cap'], error: 'must not be shorter than retry.base' })
    .prefault({})
    .describe('Repeated calls after an error of the network or the provider'),
  breaker: section({
    failures: integerWithin(5, 1000)
      .default(20)
      .describe(
        'Failures in a row, 5 to 1000, after which an operation is considered down. For credit reports it is three failures of more than one company',
      ),
  })
    .prefault({})
    .describe('When the provider is considered down'),
  guards: section({
    failing_alike: percentage()
      .default(null)
      .describe(
        'Per cent of the rows that may fail with the same code, or whose new credit report may be of another company. With more, from 20 rows on, the run stops with exit code 6. `null` for no guard',
      ),
    rows_lost: percentage()
      .default(null)
      .describe(
        'Per cent of its valid rows that a list may lose between two runs. With more, or if no known row is left, kybatch refuses the list with exit code 2. `null` for no guard',
      ),
  })
    .prefault({})
    .describe('When an unattended run stops because its list or the provider is broken'),
  changes: section({
    important: z
      .array(changeName, 'must be a list')
      .refine((names) => new Set(names).size === names.length, 'must not name anything twice')
      .default([...IMPORTANT_CHANGES])
      .describe(
        'Changes that `kybatch changes` shows first, and that the table `changes` marks. `officers` means an officer who came or left, `companies.status` another status',
      ),
  })
    .prefault({})
    .describe('Which changes are important'),
  watch: section({
    fields: uniqueList(filledText())
      .nullable()
      .default(null)
      .describe(
        'Fields that the provider watches after `kybatch watch sync`, such as name or company_status. `null` for the fields that the account has set',
      ),
    refresh: uniqueList(choice(stageNames))
      .nullable()
      .default(null)
      .describe('Stages to buy again if the watch reports a change, even if their answers are fresh. `null` for none'),
    every: duration({ most: '90d' })
      .default(0)
      .describe(
        'The shortest time between two calls about a company, unless a callback names it. `0` asks about every company each time',
      ),
  })
    .prefault({})
    .describe(
      "The provider's watch. With one of the keys, an attempt first reads the changes, one call for each watched company. If that fails, it warns and continues",
    ),
  tables: choice(['when_finished', 'at_every_stop'])
    .default('at_every_stop')
    .describe(
      'When an attempt writes the tables: at every stop (limit, allowance, outage, interrupt), or only when everything due is done. `--no-export` never writes them',
    ),
  export: section({
    keep: integerWithin(1, 1000)
      .nullable()
      .default(null)
      .describe(
        'How many folders of tables of a portfolio stay in `exports`, with the newest. `null` keeps all. A folder stays in any case if you named it with `--out`, edited its workbook or put files there',
      ),
    parts_above: integerWithin(1, 1_000_000_000)
      .nullable()
      .default(null)
      .describe(
        'If the list has more companies, each table of bought data is a folder of parts. Parts without changes are linked from the export before. `null`: every table is one file. `nightly` has 20000',
      ),
  })
    .prefault({})
    .describe('Tables of earlier runs, and large tables'),
  patience: duration({ most: '7d' })
    .default(DEFAULT_PATIENCE)
    .describe(
      'How long a run waits while the provider is down. Then it stops with exit code 6 and can be resumed. `0` stops it at once',
    ),
  deadline: duration({ least: '30s', most: '10m' })
    .default('35s')
    .describe('How long a call may take, at least 30s. Generating a credit report has at least five minutes'),
  metrics: section({
    file: filledText().describe(
      'The file for figures in the text format of Prometheus. kybatch writes it every minute and at the end of an attempt',
    ),
  })
    .optional()
    .describe('Figures for a monitor'),
  notify: notifySection
    .optional()
    .describe(
      'A JSON summary at the end of an attempt, to a command or a webhook. If it cannot be sent, kybatch warns',
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
export function withCurrentKeys(content: unknown): CurrentKeys {
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    return { content, old: [], writtenAs: (key) => key };
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
    writtenAs: (key) => old.find((name) => RENAMED[name] === key) ?? key,
  };
}

interface CurrentKeys {
  readonly content: unknown;
  readonly old: readonly string[];
  readonly writtenAs: (key: PropertyKey) => PropertyKey;
}
