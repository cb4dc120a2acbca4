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
  describe: 'Continue an unfinished run, or try its failed rows again; nothing is bought twice',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest unfinished one)' })
      .option('failed', {
        type: 'boolean',
        default: false,
        describe: 'Only the failed rows (default run: the newest with failed rows)',
      })
      .option('sandbox', sandboxOption)
      .options(spendingOptions)
      .example('$0 resume', 'after an interrupt, a crash, or when the allowance has come back')
      .example('$0 resume --max-units 800', 'up to 800 more units')
      .example('$0 resume --failed', 'the failed rows of the newest run that has some')
      .epilogue(
        'Exit codes as for run. Limits bound this attempt: what was spent before does not count, and what an earlier attempt was given does not hold. Without them those of the pipeline do. With --failed the exit code is also 4 if other rows are left: `kybatch resume` continues them.',
      ),
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
