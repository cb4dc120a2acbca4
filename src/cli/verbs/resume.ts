import { resume } from '../../app/resume.js';
import { aroundOf } from '../around.js';
import { sandboxOption } from '../provider-flags.js';
import { agreesToGoOn, spend } from '../spend.js';
import { type SpendingArgs, spendingOptions } from '../spending-flags.js';
import type { Verb } from '../verb.js';

interface ResumeArgs extends SpendingArgs {
  readonly run: string | undefined;
}

export const resumeVerb: Verb<ResumeArgs> = {
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
        work: (options) => resume({ ...options, run: args.run, agree: agreesToGoOn(args, io) }, aroundOf(io)),
        nothing: ({ run }) => `Run ${run} is finished: nothing was spent now.`,
      },
      args,
      io,
    ),
};
