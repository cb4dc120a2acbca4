import { KybatchError } from '../domain/errors.js';
import { ColumnsUnclearError } from '../input/columns-unclear.js';
import type { AskColumns, ColumnChoice, ColumnDoubt, InputOptions, ReadingOptions } from '../input/types.js';
import { hasCurrentLedger } from '../ledger/open-ledger.js';
import { GoOnError, type GoOnStep } from './next-step.js';
import { providersKey } from './portfolio.js';
import { type ProviderOptions, providerNames } from './provider.js';
import { DeclinedError } from './spending.js';
import { ledgerOf, type Surroundings, withLedger } from './surroundings.js';

export type { ColumnChoice, ColumnDoubt, DecidedBy, ReadColumn, ReadingOptions } from '../input/types.js';

/** How the file of a job is read, as far as somebody says it. */
export interface HowToRead {
  readonly reading?: ReadingOptions | undefined;
  /** Asked which of several columns is meant; null: none of them; undefined: no answer. Without it such a file is refused. */
  readonly askColumns?: ((doubt: ColumnDoubt) => Promise<ColumnChoice | null | undefined>) | undefined;
}

/** What is said now, and what was agreed to for this list before. */
export async function howToRead(
  list: string,
  { reading, askColumns: ask, ...options }: HowToRead & ProviderOptions,
  around: Surroundings,
): Promise<Pick<InputOptions, keyof ReadingOptions | 'agreed' | 'askColumns'>> {
  const askColumns: AskColumns | undefined =
    ask &&
    (async (doubt) => {
      const choice = await ask(doubt);
      if (choice === undefined) throw new DeclinedError();
      return choice;
    });
  return { ...reading, agreed: await agreedBefore(list, options, around), askColumns };
}

/** A ledger that cannot be read is told about by whoever needs it. */
async function agreedBefore(list: string, options: ProviderOptions, around: Surroundings) {
  try {
    if (!(await hasCurrentLedger(ledgerOf(options, around)))) return undefined;
    const providers = providersKey(providerNames(options, around));
    const quietly = { ...around, onNote: undefined };
    return await withLedger('read', options, quietly, async ({ portfolios }) => {
      const known = await portfolios.find(list, providers);
      return known?.agreed ? { ...known.agreed, columns: known.columns } : undefined;
    });
  } catch (error) {
    if (error instanceof KybatchError) return undefined;
    throw error;
  }
}

type Again = Extract<GoOnStep, { readonly kind: 'run' | 'plan' }>;

/** Refuses a file with what reads it, each way that is as likely, where nobody can tell which column is what. */
export async function orSayHowToRead<T>(again: Again, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ColumnsUnclearError)) throw error;
    const { message, code, hint, exit, ways, noHeader } = error;
    const readAs = (flags: readonly string[]): Again => {
      const settled = new Set(flags.map(fieldIn));
      const kept = (again.reading?.map ?? []).filter((flag) => !settled.has(fieldIn(flag)));
      const headerLine = noHeader === undefined ? {} : { headerLine: 0 };
      return { ...again, reading: { ...again.reading, ...headerLine, map: [...kept, ...flags] } };
    };
    const [first, ...others] = ways;
    throw new GoOnError(message, readAs(first), { code, hint, exit, cause: error, others: others.map(readAs) });
  }
}

const fieldIn = (flag: string): string => flag.slice(0, flag.indexOf('='));
