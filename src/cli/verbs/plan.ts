import { GoOnError } from '../../app/next-step.js';
import { plan } from '../../app/plan.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { type ProviderArgs, sandboxOption } from '../provider-flags.js';
import { type ReadingArgs, readReadingFlags } from '../reading-flags.js';
import { withCommand } from '../spend.js';
import { jobOptions } from '../spending-flags.js';
import { asksColumns } from '../terminal/ask-columns.js';
import { placeFlags } from '../terminal/commands.js';
import { planInWords, planToJson } from '../terminal/plan-words.js';
import type { Verb } from '../verb.js';

interface PlanArgs extends ProviderArgs, ReadingArgs {
  readonly input: string;
  readonly pipeline: string;
  readonly portfolio: string | undefined;
  readonly limit: number | undefined;
  readonly fresh: boolean;
}

export const planVerb: Verb<PlanArgs> = {
  command: 'plan <input>',
  describe: 'Tell what a run would do and cost; nothing is spent, and nothing is written',
  builder: (yargs) =>
    yargs
      .positional('input', {
        type: 'string',
        demandOption: true,
        describe: 'A CSV or xlsx, gzipped or not; - for standard input',
      })
      .options(jobOptions)
      .option('sandbox', sandboxOption)
      .option('fresh', { type: 'boolean', default: false, describe: 'As if nothing were owned' })
      .example('$0 plan companies.csv', 'which rows are damaged, what is owned, what it costs')
      .epilogue(
        'Where a pipeline uses v2, its /metrics is read once, for 0 units, to show what is left there; nothing else is sent, and with --sandbox nothing at all: then, and where it does not answer, what it said last is shown with its age. An unfinished run of the same input is planned as it would go on.',
      ),
  async run(args, io) {
    const { input, pipeline, portfolio, limit, fresh, sandbox, dataDir, json } = args;
    const how = { reading: readReadingFlags(args), askColumns: asksColumns(io) };
    const view = await plan({ input, pipeline, portfolio, limit, fresh, sandbox, dataDir, ...how }, aroundOf(io)).catch(
      (error: unknown) => {
        throw error instanceof GoOnError ? withCommand(error, args) : error;
      },
    );
    io.stdout(json ? `${JSON.stringify(planToJson(view))}\n` : planInWords(view, placeFlags({ dataDir }), io.columns));
    return ExitCode.ok;
  },
};
