import type { ReadingOptions } from '../app/run/plan.js';
import type { SpendingOptions } from '../app/run/spending.js';
import { GUARDS } from '../domain/outcomes.js';
import {
  type ArgsOf,
  FORMATS,
  formatOption,
  includeContactsOption,
  numberFlag,
  outOption,
  readFormats,
  switchFlag,
  textFlag,
} from './command.js';

const WANTED = { group: 'What to buy' } as const;
const SPENDING = { group: 'Limits' } as const;
const OUTPUT = { group: 'Results' } as const;
const INPUT = { group: 'Reading the file' } as const;

/** A flag that may be given several times. One word each, else yargs would read the input file as one more of them. */
const SEVERAL = { array: true, nargs: 1 } as const;

export const spendingOptions = {
  yes: { ...SPENDING, ...switchFlag('Do not ask before spending') },
  'max-units': { ...SPENDING, ...numberFlag('--max-units', 'At most N v1 units in this attempt') },
  'max-reports': { ...SPENDING, ...numberFlag('--max-reports', 'At most N credit reports in this attempt') },
  accept: { ...SPENDING, ...SEVERAL, ...textFlag(`Pass a guard once: ${Object.keys(GUARDS).join(', ')}`) },
  concurrency: { ...SPENDING, ...numberFlag('--concurrency', 'At most N calls at once to each API') },
  export: { ...OUTPUT, type: 'boolean', describe: 'Write the tables at every stop (default). --no-export: never' },
  out: { ...OUTPUT, ...outOption },
  format: { ...OUTPUT, ...formatOption },
  'include-contacts': { ...OUTPUT, ...includeContactsOption },
} as const;

export type SpendingArgs = ArgsOf<typeof spendingOptions> & { readonly sandbox: boolean };

const readingOptions = {
  map: { ...INPUT, ...SEVERAL, ...textFlag('Which column is what: --map name="Company name"') },
  country: { ...INPUT, ...textFlag('Country of rows that have none') },
  encoding: { ...INPUT, ...textFlag('Encoding of the text (default: detected)') },
  delimiter: { ...INPUT, ...textFlag('Character between cells (default: detected)') },
  'header-line': { ...INPUT, ...numberFlag('--header-line', 'Line with the headers, 0 for none (default: detected)') },
  sheet: { ...INPUT, ...textFlag('Worksheet, by name or number') },
} as const;

export type ReadingArgs = Partial<ArgsOf<typeof readingOptions>>;

const PIPELINES = ['analyst (default)', 'nightly', 'backfill', 'onboarding', 'credit', 'sales'] as const;

export const inputPositional = {
  type: 'string',
  demandOption: true,
  describe: '.xlsx or .csv, either gzipped, or - for stdin',
} as const;

export const rebuyFlag = (describe: string) => ({ ...WANTED, ...switchFlag(describe) });

export const jobOptions = {
  pipeline: { ...WANTED, ...textFlag(`${PIPELINES.join(', ')}, or your own file`), default: 'analyst' },
  portfolio: { ...INPUT, ...textFlag('Name of this list (default: path of the file)') },
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
  formats: args.format === undefined ? undefined : readFormats(args.format, FORMATS),
  includeContacts: args.includeContacts,
  accept: args.accept?.flatMap((names) => names.split(',')),
});

/** Undefined if no flag is given. */
export function readReadingFlags(args: ReadingArgs): ReadingOptions | undefined {
  const { map, country, encoding, delimiter, headerLine, sheet } = args;
  const given = Object.entries({ map, country, encoding, delimiter, headerLine, sheet }).filter(
    ([, value]) => value !== undefined,
  );
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
