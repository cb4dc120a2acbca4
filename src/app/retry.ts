import { UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { type GoOn, type GoOnOptions, goOn } from './go-on.js';
import { GoOnError } from './next-step.js';
import type { RunEndView } from './run-end.js';
import { here, type Surroundings } from './surroundings.js';

/** Tries the failed rows of a run again, and only those; what they have bought is not paid for again. */
export const retry = (options: GoOnOptions = {}, around: Surroundings = here()): Promise<RunEndView> =>
  goOn(failedRows, options, around);

const failedRows: GoOn = {
  fits: async (run, runs) => run.state !== 'reading' && (await runs.progress(run.id)).byOutcome.failed > 0,
  none: () => new UsageError('no run has failed rows', '`kybatch runs` lists all of them.'),
  outcome: 'failed',
  keepParked: true,
  async rows({ id }, runs) {
    const { byOutcome, parked } = await runs.progress(id);
    const { failed } = byOutcome;
    // Only the failed rows are paid for: those still to do would move along. Parked ones do not.
    const free = byOutcome.pending - parked;
    if (failed > 0 && free > 0) {
      const left = `${free} ${free === 1 ? 'row' : 'rows'}`;
      const message = `run ${id} is unfinished: ${left} still to do before failed rows are tried again`;
      throw new GoOnError(message, { kind: 'resume', run: id }, { code: 'USAGE', exit: ExitCode.usage });
    }
    return failed;
  },
  release: ({ id }, runs) => runs.releaseFailed(id),
};
