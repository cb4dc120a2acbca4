import { ContinueError } from '../../app/run/next-step.js';
import type { PlanView } from '../../app/run/plan.js';
import { pick } from '../../util/view-json.js';
import { register, sandboxOption } from '../command.js';
import { inputPositional, jobOptions, readReadingFlags, rebuyFlag } from '../run-flags.js';
import { withCommand } from '../spend.js';
import { appEnvironment, printResult } from '../terminal/io.js';
import { asksColumns, type JobArgs, jobOfFlags, planInWords, planJson } from '../terminal/plan-words.js';
import { type CommandArgs, scopeFlags, suggestCommand } from '../terminal/suggestions.js';

type PlanArgs = CommandArgs & JobArgs;

export const planCommand = register({
  command: 'plan <input>',
  describe: 'Show what a run would do and cost',
  builder: (yargs) =>
    yargs
      .positional('input', inputPositional)
      .options(jobOptions)
      .option('sandbox', sandboxOption)
      .option('rebuy', rebuyFlag('As if nothing were stored')),
  async run(args, io) {
    const { input, pipeline, portfolio, limit, rebuy, sandbox, dataDir } = args;
    const how = { reading: readReadingFlags(args), askColumns: asksColumns(io) };
    const { plan } = await import('../../app/run/plan.js');
    const planned = await plan(
      { input, pipeline, portfolio, limit, fresh: rebuy, sandbox, dataDir, ...how },
      appEnvironment(io),
    ).catch((error: unknown) => {
      throw error instanceof ContinueError ? withCommand(error, args) : error;
    });
    printResult(io, planJson(planned), planInWords(planned, nextCommands(planned, args), io.columns));
  },
});

const STDIN = '/dev/stdin';

/** The commands after the plan: run it, and answer the open questions. */
const nextCommands = (plan: PlanView, args: PlanArgs): readonly string[] => [
  ...runCommands(plan, args),
  ...(plan.needsReview > 0 ? [`kybatch review list${scopeFlags(pick(args, 'portfolio'))}`] : []),
];

/** The command that runs the plan, and the same with limits that do not pause it, never above the pipeline's. */
function runCommands(plan: PlanView, args: PlanArgs): readonly string[] {
  // Piped input can be read once.
  if (plan.valid === 0 || plan.refusedBy !== null || args.input === STDIN) return [];
  const { units, creditReportsAtMost: reports } = plan;
  if (plan.toSearch + plan.toBuy + reports === 0) return [];
  if (args.country === undefined && lackCountries(plan)) {
    const { command } = suggestCommand({ kind: 'plan', ...jobOfFlags({ ...args, country: 'CC' }) }, args);
    return [command, 'CC is the country of the rows without one, for example DE.'];
  }
  const limits = {
    ...(units.atMost > 0 ? { maxUnits: Math.min(units.atMost, plan.limits.units ?? units.atMost) } : {}),
    ...(reports > 0 ? { maxReports: Math.min(reports, plan.limits.creditReports ?? reports) } : {}),
  };
  const commands = [args, { ...args, ...limits }].map(
    (flags) => suggestCommand({ kind: 'run', ...jobOfFlags(args) }, flags).command,
  );
  return [...new Set(commands)];
}

/** Most rows have no country. A run without them is hardly meant. */
const lackCountries = ({ invalidReasons, rows }: PlanView): boolean =>
  invalidReasons.some(({ code, rows: alike }) => code === 'NO_COUNTRY' && alike * 2 >= rows);
