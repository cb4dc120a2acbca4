import { UsageError } from '../domain/errors.js';
import { type GoOn, type GoOnOptions, goOn } from './go-on.js';
import type { RunEndView } from './run-end.js';
import { here, type Surroundings } from './surroundings.js';

/** Tries the failed rows of a run again, and only those; what they have bought is not paid for again. */
export const retry = (options: GoOnOptions = {}, around: Surroundings = here()): Promise<RunEndView> =>
  goOn(failedRows, options, around);

const failedRows: GoOn = {
  fits: async (run, runs) => run.state !== 'reading' && (await runs.wanted('failed', run.id)) > 0,
  none: () => new UsageError('no run has failed rows', '`kybatch runs` lists all of them.'),
  outcome: 'failed',
  // Rows that wait, are parked or just still to do are left to `resume`: they stand in nobody's way.
  rows: ({ id }, runs) => runs.wanted('failed', id),
  release: ({ id }, runs) => runs.releaseFailed(id),
};
