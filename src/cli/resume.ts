import { UsageError } from '../domain/errors.js';
import { exportOptions } from './export-at-end.js';
import { type GoOn, type GoOnArgs, goOn } from './go-on.js';
import { sandboxOption } from './provider.js';
import { spendingOptions } from './spending.js';
import type { Verb } from './verb.js';

export const resumeVerb: Verb<GoOnArgs> = {
  command: 'resume [run]',
  describe: 'Go on with an unfinished run; what was bought is not paid for again',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest unfinished one)' })
      .option('sandbox', sandboxOption)
      .options(spendingOptions)
      .options(exportOptions)
      .example('$0 resume', 'after an interrupt, a crash, or when the allowance has come back')
      .example('$0 resume --budget 800', 'with a higher budget: all told, what was spent before included')
      .epilogue('Exit codes as for run. The budget the run was started with holds until another is given.'),
  run: (args, io) => goOn(args, resume, io),
};

const resume: GoOn = {
  fits: async (run) => run.state === 'open',
  none: new UsageError('there is no unfinished run', '`kybatch runs` lists all of them.'),
  async rows(run, ledger) {
    const { byOutcome } = await ledger.progress(run.id);
    return { count: byOutcome.pending, nothing: `Run ${run.id} is finished: nothing was spent now.` };
  },
  release: async () => {},
};
