import { message } from '../../util/message-parts.js';
import { type Command, sandboxOption } from '../command.js';
import { type SpendingArgs, spendingOptions } from '../run-flags.js';
import { confirmContinue, spend } from '../spend.js';
import { appEnvironment } from '../terminal/io.js';

interface ContinueArgs extends SpendingArgs {
  readonly run: string | undefined;
}

export const resumeCommand: Command<ContinueArgs> = {
  command: 'resume [run]',
  describe: 'Go on with an unfinished run; what was bought is not paid for again',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest unfinished one)' })
      .option('sandbox', sandboxOption)
      .options(spendingOptions)
      .example('$0 resume', 'after an interrupt, a crash, or when the allowance has come back')
      .example('$0 resume --budget 800', 'up to 800 more units')
      .epilogue(
        'Exit codes as for run. Budgets bound this start: what was spent before does not count, and what an earlier start was given does not hold. Without them those of the pipeline do.',
      ),
  run: (args, io) =>
    spend(
      {
        work: async (options) => {
          const { resume } = await import('../../app/run/continue-run.js');
          return await resume({ ...options, run: args.run, agree: confirmContinue(args, io) }, appEnvironment(io));
        },
        nothing: ({ run }) => message('RUN_FINISHED', `Run ${run} is finished: nothing was spent now.`, 'done'),
      },
      args,
      io,
    ),
};

export const retryCommand: Command<ContinueArgs> = {
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
        work: async (options) => {
          const { retry } = await import('../../app/run/continue-run.js');
          return await retry({ ...options, run: args.run, agree: confirmContinue(args, io) }, appEnvironment(io));
        },
        nothing: ({ run }) => message('NO_FAILED_ROWS', `Run ${run} has no failed rows: nothing was spent now.`),
      },
      args,
      io,
    ),
};
