import { GUARDS } from '../app/guards.js';
import type { SpendingOptions } from '../app/spending.js';
import { numberFlag } from './number-flag.js';
import type { ProviderArgs } from './provider-flags.js';
import { INPUT, readingOptions } from './reading-flags.js';
import { formatOption, includeContactsOption, outOption, readTableFlags } from './table-flags.js';

/** The flags of every command that may spend. */
export interface SpendingArgs extends ProviderArgs {
  readonly yes: boolean;
  readonly budget: number | undefined;
  readonly maxReports?: number | undefined;
  readonly concurrency: number | undefined;
  readonly export: boolean | undefined;
  readonly out: string | undefined;
  readonly format: string | undefined;
  readonly includeContacts?: boolean | undefined;
  readonly accept?: string | readonly string[] | undefined;
}

/** Headings of the help: `run` has more flags than can be read at once. */
const SPENDING = { group: 'Spending:' } as const;
const OUTPUT = { group: 'Output:' } as const;

export const spendingOptions = {
  yes: { ...SPENDING, type: 'boolean', default: false, describe: 'Spend without asking' },
  budget: { ...SPENDING, ...numberFlag('--budget', 'v1 units this start may spend') },
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
  budget: args.budget,
  maxReports: args.maxReports,
  concurrency: args.concurrency,
  export: args.export,
  out: args.out,
  formats: args.format === undefined ? undefined : readTableFlags(args).formats,
  includeContacts: args.includeContacts,
  accept: args.accept === undefined ? undefined : [args.accept].flat().flatMap((names) => names.split(',')),
});
