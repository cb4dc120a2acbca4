import { shortRun } from '../../util/words.js';
import { register, sandboxOption, switchFlag } from '../command.js';
import { spendingOptions } from '../run-flags.js';
import { confirmContinue, spend } from '../spend.js';
import { appEnvironment } from '../terminal/io.js';
import { marked } from '../terminal/view.js';

export const resumeCommand = register({
  command: 'resume [run]',
  describe: 'Continue an unfinished run, or try its failed rows again',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest unfinished one)' })
      .option('failed', switchFlag('Only the failed rows (default run: the newest with failed rows)'))
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
            ? marked('NO_FAILED_ROWS', 'done', `Run ${shortRun(run)} has no failed rows. Nothing was spent.`)
            : marked('RUN_FINISHED', 'done', `Run ${shortRun(run)} is finished already. Nothing was spent.`),
        again: { kind: args.failed ? 'retry' : 'resume', run: args.run ?? '' },
      },
      args,
      io,
    ),
});
