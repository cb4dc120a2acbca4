import type { ReadingOptions } from '../app/run/plan.js';
import type { SpendingOptions } from '../app/run/spending.js';
import { GUARDS } from '../domain/outcomes.js';
import {
  formatOption,
  includeContactsOption,
  numberFlag,
  outOption,
  type ProviderArgs,
  readTableFlags,
} from './command.js';

/** The flags of every command that may spend. */
export interface SpendingArgs extends ProviderArgs {
  readonly yes: boolean;
  readonly maxUnits?: number | undefined;
  readonly maxReports?: number | undefined;
  readonly concurrency: number | undefined;
  readonly export: boolean | undefined;
  readonly out: string | undefined;
  readonly format: string | undefined;
  readonly includeContacts?: boolean | undefined;
  readonly accept?: string | readonly string[] | undefined;
}

/** Headings of the help, because `run` has many flags. */
const WANTED = { group: 'What to buy' } as const;
const SPENDING = { group: 'Limits' } as const;
const OUTPUT = { group: 'Results' } as const;

export const spendingOptions = {
  yes: { ...SPENDING, type: 'boolean', default: false, describe: 'Do not ask before spending' },
  'max-units': { ...SPENDING, ...numberFlag('--max-units', 'At most N v1 units in this attempt') },
  'max-reports': { ...SPENDING, ...numberFlag('--max-reports', 'At most N credit reports in this attempt') },
  accept: {
    ...SPENDING,
    type: 'string',
    array: true,
    nargs: 1,
    requiresArg: true,
    describe: `Pass a guard once: ${Object.keys(GUARDS).join(', ')}`,
  },
  concurrency: { ...SPENDING, ...numberFlag('--concurrency', 'At most N calls at once to each API') },
  export: {
    ...OUTPUT,
    type: 'boolean',
    describe: 'Write the tables at every stop (default). --no-export: never',
  },
  out: { ...OUTPUT, ...outOption },
  format: { ...OUTPUT, ...formatOption },
  'include-contacts': { ...OUTPUT, ...includeContactsOption, describe: "Include people's e-mail and phone" },
} as const;

/** The heading of the help for flags about the input. */
const INPUT = { group: 'Reading the file' } as const;

/** The flags that say how the input is read. */
const readingOptions = {
  map: {
    ...INPUT,
    type: 'string',
    // One word each, else yargs would read the input file as one more of them.
    array: true,
    nargs: 1,
    requiresArg: true,
    describe: 'Which column is what: --map name="Company name"',
  },
  country: {
    ...INPUT,
    type: 'string',
    requiresArg: true,
    describe: 'Country of rows that have none',
  },
  encoding: { ...INPUT, type: 'string', requiresArg: true, describe: 'Encoding of the text (default: detected)' },
  delimiter: { ...INPUT, type: 'string', requiresArg: true, describe: 'Character between cells (default: detected)' },
  'header-line': {
    ...INPUT,
    ...numberFlag('--header-line', 'Line with the headers, 0 for none (default: detected)'),
  },
  sheet: { ...INPUT, type: 'string', requiresArg: true, describe: 'Worksheet, by name or number' },
} as const;

const PIPELINES = ['analyst (default)', 'nightly', 'backfill', 'onboarding', 'credit', 'sales'] as const;

/** The flags of every command that reads an input. */
export const jobOptions = {
  pipeline: {
    ...WANTED,
    type: 'string',
    default: 'analyst',
    requiresArg: true,
    describe: `${PIPELINES.join(', ')}, or your own file`,
  },
  portfolio: {
    ...INPUT,
    type: 'string',
    requiresArg: true,
    describe: 'Name of this list (default: path of the file)',
  },
  limit: { ...INPUT, ...numberFlag('--limit', 'Only the first N rows') },
  ...readingOptions,
} as const;

export const readSpendingFlags = (args: SpendingArgs): SpendingOptions => ({
  dataDir: args.dataDir,
  sandbox: args.sandbox,
  yes: args.yes,
  budget: args.maxUnits,
  maxReports: args.maxReports,
  concurrency: args.concurrency,
  export: args.export,
  out: args.out,
  formats: args.format === undefined ? undefined : readTableFlags(args).formats,
  includeContacts: args.includeContacts,
  accept: args.accept === undefined ? undefined : [args.accept].flat().flatMap((names) => names.split(',')),
});

/** The flags that say how the input is read. */
export interface ReadingArgs {
  readonly map?: string | readonly string[] | undefined;
  readonly country?: string | undefined;
  readonly encoding?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly headerLine?: number | undefined;
  readonly sheet?: string | undefined;
}

/** Undefined if no flag is given. */
export function readReadingFlags(args: ReadingArgs): ReadingOptions | undefined {
  const { map, country, encoding, delimiter, headerLine, sheet } = args;
  const flags = { map: map === undefined ? undefined : [map].flat(), country, encoding, delimiter, headerLine, sheet };
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
