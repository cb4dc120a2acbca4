import type { Pipeline } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import type { Io } from './io.js';
import type { ProviderArgs } from './provider.js';
import { shellWord } from './text.js';

/** The flags of every command that may spend. */
export interface SpendingArgs extends ProviderArgs {
  readonly yes: boolean;
  readonly budget: number | undefined;
  readonly concurrency: number | undefined;
}

export const spendingOptions = {
  yes: { type: 'boolean', default: false, describe: 'Spend without asking' },
  budget: { type: 'number', requiresArg: true, describe: 'v1 units this run may spend, all told' },
  concurrency: { type: 'number', requiresArg: true, describe: 'Calls at once at the most' },
} as const;

/** The budget and speed that hold: a flag before what the pipeline says. */
export const spendingLimits = (args: SpendingArgs, pipeline: Pipeline) => ({
  budgetUnits: wholeNumber('--budget', args.budget, 0) ?? pipeline.budget.units,
  concurrency: wholeNumber('--concurrency', args.concurrency, 1) ?? pipeline.concurrency,
  unitsPerRowAtMost: pipeline.stages.includes('record') ? pipeline.search.attempts + 1 : 0,
});

/** Without a terminal nobody can be asked. The sandbox costs nothing. */
export function mustAgreeToSpend(args: SpendingArgs, io: Io): void {
  if (args.yes || args.budget !== undefined || args.sandbox || io.ask !== undefined) return;
  throw new UsageError(
    'run spends money, and there is no terminal to ask on',
    'Add --yes, or --budget UNITS to set a limit. `kybatch plan` shows what it would cost.',
  );
}

/** True if spending was agreed to by a flag or is agreed to now. */
export async function agrees(question: string, args: SpendingArgs, io: Io): Promise<boolean> {
  if (args.yes || args.sandbox || io.ask === undefined) return true;
  const answer = await io.ask(`${question} [y/N] `);
  if (/^\s*y(?:es)?\s*$/i.test(answer ?? '')) return true;
  io.stderr('Nothing was spent.\n');
  return false;
}

/** Where the ledger is, for commands that spend nothing. */
export const placeFlags = ({ dataDir }: Pick<SpendingArgs, 'dataDir'>): string =>
  dataDir === undefined ? '' : ` --data-dir ${shellWord(dataDir)}`;

/** What to add to `kybatch resume RUN`, so that it goes on in the same way. */
export function againFlags(args: SpendingArgs): (budget?: number) => string {
  return (budget = args.budget) =>
    [
      ...(args.sandbox ? ['--sandbox'] : []),
      ...(args.dataDir === undefined ? [] : ['--data-dir', shellWord(args.dataDir)]),
      ...(budget === undefined ? [] : ['--budget', String(budget)]),
      ...(args.concurrency === undefined ? [] : ['--concurrency', String(args.concurrency)]),
      ...(args.yes ? ['--yes'] : []),
    ]
      .map((word) => ` ${word}`)
      .join('');
}

export function wholeNumber(flag: string, value: number | undefined, least: number): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new UsageError(`${flag} must be a whole number from ${least}, got ${value}`);
}
