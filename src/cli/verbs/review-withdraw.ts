import { type RestingView, withdrawBatch, withdrawDecision } from '../../app/review.js';
import { UsageError } from '../../domain/errors.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { readNumber } from '../number-flag.js';
import { placeFlags } from '../terminal/commands.js';
import { printResultAndWords } from '../terminal/print-result.js';
import { nextCommands, nextInWords } from '../terminal/review-words.js';
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
      const { decisions: taken, ...resting } = await withdrawBatch({ dataDir, batch, by }, aroundOf(io));
      const toJson = () => ({ batch, withdrawn: taken, ...restedOn(resting, args) });
      const words = `${count(taken.length, 'decision')} of batch ${batch} withdrawn; ${count(resting.rows, 'row')} rested on them.\n`;
      printResultAndWords(io, args, toJson, `${words}${restedInWords(resting, args)}`);
      return ExitCode.ok;
    }
    if (id === undefined) return ExitCode.usage;
    const resting = await withdrawDecision({ dataDir, id, by }, aroundOf(io));
    const words = `Decision ${id} is withdrawn; ${count(resting.rows, 'row')} rested on it.\n`;
    const toJson = () => ({ withdrawn: id, ...restedOn(resting, args) });
    printResultAndWords(io, args, toJson, `${words}${restedInWords(resting, args)}`);
    return ExitCode.ok;
  },
};

const restedOn = ({ rows, asking, released }: RestingView, args: CommonArgs) => ({
  rows,
  asking,
  next: nextCommands(released, args),
});

/** What waits for a person does not go on by itself. */
const restedInWords = ({ asking, released }: RestingView, args: CommonArgs): string =>
  `${asking === 0 ? '' : `${count(asking, 'row')} ${asking === 1 ? 'waits' : 'wait'} for an answer again: kybatch review list${placeFlags(args)}\n`}${nextInWords(released, args)}`;
