import { UsageError } from '../domain/errors.js';
import type { Ledger, RunRecord } from '../ledger/ledger.js';
import { didYouMean } from '../util/suggest.js';

/** The run that is named, or the newest that fits. */
export async function findRun(
  id: string | undefined,
  ledger: Ledger,
  fits: (run: RunRecord) => boolean = () => true,
): Promise<RunRecord | undefined> {
  if (id === undefined) return (await ledger.runs()).find(fits);
  const run = await ledger.findRun(id);
  if (run !== undefined) return run;
  const known = (await ledger.runs()).map((other) => other.id);
  throw new UsageError(`there is no run ${id}.${didYouMean(id, known)}`, '`kybatch runs` lists them.');
}
