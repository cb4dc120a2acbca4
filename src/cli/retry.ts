import { UsageError } from '../domain/errors.js';
import { exportOptions } from './export-at-end.js';
import { type GoOn, type GoOnArgs, goOn } from './go-on.js';
import { sandboxOption } from './provider.js';
import { spendingOptions } from './spending.js';
import { count } from './text.js';
import type { Verb } from './verb.js';

export const retryVerb: Verb<GoOnArgs> = {
  command: 'retry [run]',
  describe: 'Try the failed rows of a run again, and only those; what they have bought is not paid for again',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest with failed rows)' })
      .option('sandbox', sandboxOption)
      .options(spendingOptions)
      .options(exportOptions)
      .example('$0 retry', 'the newest run with failed rows')
      .epilogue('Exit codes as for run.'),
  run: (args, io) => goOn(args, retry, io),
};

const retry: GoOn = {
  fits: async (run, ledger) => run.state !== 'reading' && (await ledger.progress(run.id)).byOutcome.failed > 0,
  none: new UsageError('no run has failed rows', '`kybatch runs` lists all of them.'),
  async rows(run, ledger) {
    const { byOutcome } = await ledger.progress(run.id);
    // Only the failed rows are paid for: those still to do would move along.
    if (byOutcome.failed > 0 && byOutcome.pending > 0)
      throw new UsageError(
        `run ${run.id} is unfinished: ${count(byOutcome.pending, 'row')} still to do`,
        `Finish it first: kybatch resume ${run.id}`,
      );
    return { count: byOutcome.failed, nothing: `Run ${run.id} has no failed rows: nothing was spent now.` };
  },
  async release(run, ledger) {
    await ledger.releaseFailed(run.id);
    await ledger.reopenRun(run.id);
  },
};
