import { UsageError } from '../domain/errors.js';
import { type GoOn, type GoOnOptions, goOn } from './go-on.js';
import type { RunEndView } from './run-end.js';
import { here, type Surroundings } from './surroundings.js';

/** Goes on with an unfinished run; what was bought is not paid for again. */
export const resume = (options: GoOnOptions = {}, around: Surroundings = here()): Promise<RunEndView> =>
  goOn(pendingRows, options, around);

const pendingRows: GoOn = {
  fits: async (run) => run.state === 'open',
  none: () => new UsageError('there is no unfinished run', '`kybatch runs` lists all of them.'),
  outcome: 'pending',
  rows: async (run, runs) => (await runs.progress(run.id)).byOutcome.pending,
  release: async () => undefined,
};
