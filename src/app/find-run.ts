import { UsageError } from '../domain/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RunRecord } from '../ledger/runs.js';
import { firstFew } from '../util/first-few.js';
import { didYouMean } from '../util/suggest.js';

type Runs = Pick<Ledger, 'runs' | 'reading'>;

/** The run that is named, or the newest. */
export async function findRun(id: string | undefined, ledger: Runs): Promise<RunRecord | undefined> {
  return id === undefined ? await newestRun(ledger) : await namedRun(id, ledger);
}

/** By its ID, or by a part of it that no other run has: its beginning, its end, or the beginning of what is behind the day. */
export async function namedRun(id: string, { runs }: Pick<Ledger, 'runs'>): Promise<RunRecord> {
  const run = await runs.find(id);
  if (run !== undefined) return run;
  const known = await runs.all();
  const fitting = id === '' ? [] : known.filter((other) => isPartOf(other.id, id));
  const [only, ...others] = fitting;
  if (only !== undefined && others.length === 0) return only;
  const ids = (of: readonly RunRecord[]) => of.map((other) => other.id);
  if (only !== undefined)
    throw new UsageError(
      `${id} fits ${fitting.length} runs: ${firstFew(ids(fitting), (one) => one, 'runs').join(', ')}`,
      'Write as much of the ID as is its own.',
    );
  throw new UsageError(`there is no run ${id}.${didYouMean(id, ids(known))}`, '`kybatch runs` lists them.');
}

const isPartOf = (id: string, part: string): boolean =>
  id.startsWith(part) || id.endsWith(part) || id.slice(id.lastIndexOf('-') + 1).startsWith(part);

/** The newest that fits. One whose every start was refused, a mistyped base URL maybe, stands in no other's way. */
export async function newestRun(
  { runs, reading }: Runs,
  fits: (run: RunRecord) => Promise<boolean> = async () => true,
): Promise<RunRecord | undefined> {
  let refused: RunRecord | undefined;
  for (const run of await runs.all()) {
    if (!(await fits(run))) continue;
    if (run.state !== 'open' || (await reading.lastStart(run.id)) !== undefined) return run;
    refused ??= run;
  }
  return refused;
}

export const noRunYet = () =>
  new UsageError(
    'there is no run yet',
    '`kybatch run <input.csv>` makes one. For a try, `kybatch sandbox sample` writes an input, and `kybatch run sample.csv --sandbox` runs it.',
  );
