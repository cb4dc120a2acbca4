import { retry } from '../../app/retry.js';
import { aroundOf } from '../around.js';
import { sandboxOption } from '../provider-flags.js';
import { agreesToGoOn, spend } from '../spend.js';
import { type SpendingArgs, spendingOptions } from '../spending-flags.js';
import type { Verb } from '../verb.js';

interface RetryArgs extends SpendingArgs {
  readonly run: string | undefined;
}

export const retryVerb: Verb<RetryArgs> = {
  command: 'retry [run]',
  describe: 'Try the failed rows of a run again, and only those; what they have bought is not paid for again',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest with failed rows)' })
      .option('sandbox', sandboxOption)
      .options(spendingOptions)
      .example('$0 retry', 'the newest run with failed rows')
      .epilogue(
        'Exit codes and budgets as for run; 4 also where rows are left that had not failed: `kybatch resume` goes on with them.',
      ),
  run: (args, io) =>
    spend(
      {
        work: (options) => retry({ ...options, run: args.run, agree: agreesToGoOn(args, io) }, aroundOf(io)),
        nothing: ({ run }) => `Run ${run} has no failed rows: nothing was spent now.`,
      },
      args,
      io,
    ),
};
