import type { ReleasedRun } from '../../app/released-runs.js';
import { withdrawBatch, withdrawDecision } from '../../app/review.js';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { readNumber } from '../number-flag.js';
import { placeFlags } from '../terminal/commands.js';
import { printResultAndWords } from '../terminal/print-result.js';
import { nextCommands, nextInWords, rowsOf } from '../terminal/review-words.js';
import { count } from '../terminal/text.js';
import type { CommonArgs, Verb } from '../verb.js';

interface WithdrawArgs extends CommonArgs {
  readonly by: string | undefined;
  readonly id: number | undefined;
  readonly batch: string | undefined;
}

export const withdrawVerb: Verb<WithdrawArgs> = {
  command: 'withdraw [id]',
  describe: 'Take a decision back, or all that one rule has decided; rows that rest on it are decided again',
  builder: (yargs) =>
    yargs
      .positional('id', {
        type: 'string',
        describe: 'As `kybatch review decisions` shows it',
        coerce: (given: unknown) => (given === undefined ? undefined : readNumber('the number of the decision', given)),
      })
      .option('batch', {
        type: 'string',
        requiresArg: true,
        describe: 'All that `review confirm` or `review reject` has decided at once, as R-0a1b2c3d',
      })
      .option('by', { type: 'string', requiresArg: true, describe: 'Who takes it back (default: $USER)' }),
  async run(args, io) {
    const { dataDir, id, batch, by } = args;
    if ((id === undefined) === (batch === undefined))
      throw new UsageError(
        id === undefined ? 'which decision is not said' : 'either a decision or --batch is taken back, not both',
        `\`kybatch review decisions${placeFlags(args)}\` lists them with their numbers and batches.`,
      );
    if (batch !== undefined) {
      const { decisions: taken, released } = await withdrawBatch({ dataDir, batch, by }, aroundOf(io));
      const toJson = () => ({ batch, withdrawn: taken, ...restedOn(released, args) });
      const words = `${count(taken.length, 'decision')} of batch ${batch} withdrawn; ${count(rowsOf(released), 'row')} rested on them.\n`;
      printResultAndWords(io, args, toJson, `${words}${nextInWords(released, args)}`);
      return ExitCode.ok;
    }
    if (id === undefined) return ExitCode.usage;
    const { released } = await withdrawDecision({ dataDir, id, by }, aroundOf(io));
    const words = `Decision ${id} is withdrawn; ${count(rowsOf(released), 'row')} rested on it.\n`;
    const toJson = () => ({ withdrawn: id, ...restedOn(released, args) });
    printResultAndWords(io, args, toJson, `${words}${nextInWords(released, args)}`);
    return ExitCode.ok;
  },
};

const restedOn = (released: readonly ReleasedRun[], args: CommonArgs) => ({
  rows: rowsOf(released),
  next: nextCommands(released, args),
});
