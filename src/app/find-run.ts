import { UsageError } from '../domain/errors.js';
import type { RunRecord, RunStore } from '../ledger/runs.js';
import { didYouMean } from '../util/suggest.js';

/** The run that is named, or the newest that fits. */
export async function findRun(
  id: string | undefined,
  runs: RunStore,
  fits: (run: RunRecord) => boolean = () => true,
): Promise<RunRecord | undefined> {
  if (id === undefined) return (await runs.all()).find(fits);
  const run = await runs.find(id);
  if (run !== undefined) return run;
  const known = (await runs.all()).map((other) => other.id);
  throw new UsageError(`there is no run ${id}.${didYouMean(id, known)}`, '`kybatch runs` lists them.');
}
