import type { Proposal } from '../../app/run/run.js';
import { count, moment } from '../../util/words.js';
import { register, sandboxOption } from '../command.js';
import {
  inputPositional,
  jobOptions,
  readReadingFlags,
  rebuyFlag,
  type SpendingArgs,
  spendingOptions,
} from '../run-flags.js';
import { confirmSpending, spend } from '../spend.js';
import { appEnvironment, type Io } from '../terminal/io.js';
import { asksColumns, type JobArgs, jobOfFlags, proposedInWords } from '../terminal/plan-words.js';
import { findingsInWords, spendQuestion } from '../terminal/run-words.js';
import { marked } from '../terminal/view.js';

export const runCommand = register({
  command: 'run <input>',
  describe: 'Look up the companies in a file, buy their data, write the results',
  builder: (yargs) =>
    yargs
      .positional('input', inputPositional)
      .options(jobOptions)
      .option('sandbox', sandboxOption)
      .option('rebuy', rebuyFlag('Buy everything again, even what is up to date'))
      .options(spendingOptions),
  run: (args, io) =>
    spend(
      {
        work: async (options) => {
          const { run } = await import('../../app/run/run.js');
          const { input, pipeline, portfolio, limit, rebuy } = args;
          const agree = io.ask === undefined ? undefined : (proposal: Proposal) => ask(proposal, args, io);
          const how = { reading: readReadingFlags(args), askColumns: asksColumns(io) };
          return await run(
            { ...options, input, pipeline, portfolio, limit, fresh: rebuy, agree, ...how },
            appEnvironment(io),
          );
        },
        nothing: ({ nextDueAt, watchAsked }) =>
          marked(
            'NOTHING_DUE',
            'done',
            `Nothing to do: everything is up to date. ${spentNothing(watchAsked)}`,
            nextDueAt !== null && `  The next update is due on ${moment(nextDueAt)}. --rebuy buys everything now.`,
          ),
        again: { kind: 'run', ...jobOfFlags(args) },
      },
      args,
      io,
    ),
});

/** `kybatch usage` shows what the calls about the watch cost. */
const spentNothing = (watchAsked: number): string =>
  watchAsked === 0
    ? 'Nothing was spent.'
    : `Nothing was bought. The watch was asked about ${count(watchAsked, 'company', 'companies')}.`;

/** On a terminal kybatch shows the plan and spends nothing before the user agrees. */
const ask = (proposal: Proposal, args: SpendingArgs & JobArgs, io: Io): Promise<boolean> =>
  confirmSpending(
    [...proposedInWords(proposal, args), ...findingsInWords(proposal.findings)],
    `\n${spendQuestion(proposal)}`,
    args,
    io,
  );
