import { message } from '../../util/message-parts.js';
import { type Command, sandboxOption } from '../command.js';
import { type SpendingArgs, spendingOptions } from '../run-flags.js';
import { confirmContinue, spend } from '../spend.js';
import { appEnvironment } from '../terminal/io.js';

interface ContinueArgs extends SpendingArgs {
  readonly run: string | undefined;
  readonly failed: boolean;
}

export const resumeCommand: Command<ContinueArgs> = {
  command: 'resume [run]',
  describe: 'Continue an unfinished run, or try its failed rows again',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest unfinished one)' })
      .option('failed', {
        type: 'boolean',
        default: false,
        describe: 'Only the failed rows (default run: the newest with failed rows)',
      })
      .option('sandbox', sandboxOption)
      .options(spendingOptions),
  run: (args, io) =>
    spend(
      {
        work: async (options) => {
          const { resume, retry } = await import('../../app/run/continue-run.js');
          const asked = { ...options, run: args.run, agree: confirmContinue(args, io) };
          return await (args.failed ? retry : resume)(asked, appEnvironment(io));
        },
        nothing: ({ run }) =>
          args.failed
            ? message('NO_FAILED_ROWS', `Run ${run} has no failed rows: nothing was spent now.`)
            : message('RUN_FINISHED', `Run ${run} is finished: nothing was spent now.`, 'done'),
      },
      args,
      io,
    ),
};
