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
const SPENDING = { group: 'Spending:' } as const;
const OUTPUT = { group: 'Output:' } as const;

export const spendingOptions = {
  yes: { ...SPENDING, type: 'boolean', default: false, describe: 'Spend without asking' },
  'max-units': { ...SPENDING, ...numberFlag('--max-units', 'v1 units this start may spend') },
  'max-reports': { ...SPENDING, ...numberFlag('--max-reports', 'Credit reports this start may buy') },
  accept: {
    ...SPENDING,
    type: 'string',
    array: true,
    nargs: 1,
    requiresArg: true,
    describe: `Let this start pass a guard: ${Object.keys(GUARDS).join(', ')}; as often as needed`,
  },
  concurrency: { ...SPENDING, ...numberFlag('--concurrency', 'Calls at once at the most to each API') },
  export: {
    ...OUTPUT,
    type: 'boolean',
    describe: 'Write the tables at every stop, as it does by default; --no-export leaves it to `kybatch export`',
  },
  out: { ...OUTPUT, ...outOption },
  format: { ...OUTPUT, ...formatOption },
  'include-contacts': { ...OUTPUT, ...includeContactsOption, describe: 'Tables with e-mail and phone of people, too' },
} as const;

/** The heading of the help for flags about the input. */
const INPUT = { group: 'Input:' } as const;

/** The flags that say how the input is read. */
const readingOptions = {
  map: {
    ...INPUT,
    type: 'string',
    // One word each, else yargs would read the input file as one more of them.
    array: true,
    nargs: 1,
    requiresArg: true,
    describe: 'FIELD=HEADER: which column is what (name="Company name"), as often as needed; FIELD= for none',
  },
  country: {
    ...INPUT,
    type: 'string',
    requiresArg: true,
    describe: 'The country of rows that name none: a code or a name',
  },
  encoding: { ...INPUT, type: 'string', requiresArg: true, describe: 'How its text is encoded (default: found)' },
  delimiter: { ...INPUT, type: 'string', requiresArg: true, describe: 'What stands between cells (default: found)' },
  'header-line': {
    ...INPUT,
    ...numberFlag('--header-line', 'The line that names the columns; 0 for none (default: found)'),
  },
  sheet: { ...INPUT, type: 'string', requiresArg: true, describe: 'The worksheet of a workbook, by name or number' },
} as const;

/** The flags of every command that reads an input. */
export const jobOptions = {
  pipeline: {
    ...INPUT,
    type: 'string',
    default: 'analyst',
    requiresArg: true,
    describe: 'A name (analyst, backfill, credit, nightly, onboarding, sales) or a file',
  },
  portfolio: {
    ...INPUT,
    type: 'string',
    requiresArg: true,
    describe: 'The name of the portfolio that the input is the list of (default: the path of the input)',
  },
  limit: { ...INPUT, ...numberFlag('--limit', 'Only the first rows of the input') },
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
