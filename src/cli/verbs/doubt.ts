import {
  type Consent,
  type DoubtProposal,
  listDoubts,
  type SettleDoubtsOptions,
  settleDoubts,
} from '../../app/doubt.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { agreedTo } from '../terminal/agreed.js';
import { placeFlags } from '../terminal/commands.js';
import {
  contradictionInWords,
  contradictionToJson,
  doubtInWords,
  doubtsInWords,
  doubtToJson,
  settledInWords,
  underWayInWords,
  underWayToJson,
  verdictInWords,
} from '../terminal/doubt-words.js';
import type { Io } from '../terminal/io.js';
import { printResultAndWords } from '../terminal/print-result.js';
import { nextCommands } from '../terminal/review-words.js';
import { count, withPlace } from '../terminal/text.js';
import { type CommonArgs, register, type Verb } from '../verb.js';

type Verdict = SettleDoubtsOptions['verdict'];

interface ListArgs extends CommonArgs {
  readonly which?: readonly (string | number)[] | undefined;
}

interface ShowArgs extends ListArgs {
  readonly settled?: boolean | undefined;
}

interface SettleArgs extends ListArgs {
  readonly reason: string | undefined;
  readonly by: string | undefined;
  readonly yes: boolean;
}

const whichPositional = {
  type: 'string',
  array: true,
  describe: 'Numbers of calls, or runs (default: all)',
} as const;

const wordsOf = ({ which }: ListArgs): readonly string[] => (which ?? []).map(String);

const listVerb: Verb<ShowArgs> = {
  command: 'list [which..]',
  describe: 'Show the calls: when, what was asked, for which row, and why the charge is not known',
  builder: (yargs) =>
    yargs
      .positional('which', whichPositional)
      .option('settled', { type: 'boolean', describe: 'Those that were settled, too, with every word about them' }),
  run: list,
};

async function list(args: ShowArgs, io: Io): Promise<ExitCode> {
  const { dataDir, settled } = args;
  const { calls, underWay, released } = await listDoubts({ dataDir, settled, which: wordsOf(args) }, aroundOf(io));
  const place = placeFlags(args);
  const next = nextCommands(released, args);
  const listed = () => ({ calls: calls.map(doubtToJson), under_way: underWay.map(underWayToJson), next });
  const nothing = underWay.length === 0 ? 'Every charge is known.\n' : '';
  const words = [
    ...(args.json ? [] : calls.map((call) => `${doubtInWords(call)}\n`)),
    calls.length > 0 ? doubtsInWords(calls, place) : nothing,
    underWayInWords(underWay),
    ...next.map((command) => `No call holds its rows any more; go on with: ${command}\n`),
  ];
  printResultAndWords(io, args, listed, withPlace(words.join(''), place));
  return ExitCode.ok;
}

const settleVerb = (verdict: Verdict, describe: string): Verb<SettleArgs> => ({
  command: `${verdict} [which..]`,
  describe,
  builder: (yargs) =>
    yargs
      .positional('which', whichPositional)
      .option('reason', { alias: 'note', type: 'string', requiresArg: true, describe: 'Why; kept with each call' })
      .option('by', { type: 'string', requiresArg: true, describe: 'Who says so (default: $USER)' })
      .option('yes', { type: 'boolean', default: false, describe: 'Do it without asking' }),
  async run(args, io) {
    const { dataDir, reason, by } = args;
    const agree = (proposal: DoubtProposal) => agreed(verdict, proposal, args, io);
    const view = await settleDoubts({ dataDir, which: wordsOf(args), verdict, reason, by, agree }, aroundOf(io));
    if (view.outcome === 'not_agreed') return ExitCode.interrupted;
    const { calls, contradictions, released } = view;
    const settled = () => ({
      verdict,
      calls: calls.map(({ id }) => id),
      next: nextCommands(released, args),
      contradictions: contradictions.map(contradictionToJson),
    });
    const words = view.outcome === 'settled' ? settledInWords(verdict, view, args) : 'Every charge is known.\n';
    printResultAndWords(io, args, settled, words);
    return ExitCode.ok;
  },
});

async function agreed(
  verdict: Verdict,
  { calls, contradictions }: DoubtProposal,
  { yes, reason }: SettleArgs,
  io: Io,
): Promise<Consent> {
  if (!yes && io.ask !== undefined) {
    for (const call of calls.slice(0, SHOWN)) io.alert(`${doubtInWords(call)}\n`);
    if (calls.length > SHOWN) io.alert(`… and ${calls.length - SHOWN} more\n`);
  }
  for (const contradiction of contradictions) io.alert(contradictionInWords(contradiction, verdict));
  const what = `this would be about ${count(calls.length, 'call')}`;
  const consent = { what, question: verdictInWords(verdict, calls), nothing: 'Nothing was changed.' };
  if (!(await agreedTo(consent, yes, io))) return { agreed: false };
  if (reason !== undefined) return { agreed: true };
  if (!yes) return { agreed: true, reason: await io.ask?.('Why? It is kept with the calls: ') };
  io.stderr('No reason was given; `--note TEXT` keeps one with the calls, for whoever checks the books.\n');
  return { agreed: true };
}

const SHOWN = 20;

export const doubtVerb: Verb<ListArgs> = {
  command: 'doubt',
  describe: 'Calls whose charge nobody knows: settle them, or let their rows go on',
  subcommands: [
    register(listVerb),
    register(settleVerb('resend', 'Let the same be sent again by the next start; the charge stays unknown')),
    register(settleVerb('charged', 'The provider has charged for them: book it, and let their rows go on')),
    register(settleVerb('free', 'The provider has not charged for them: book it, and let their rows go on')),
  ],
  builder: (yargs) =>
    yargs
      .demandCommand(0)
      .example('$0 doubt', 'list them')
      .example('$0 doubt charged 4711 --note "on the invoice"', 'one call, by its number')
      .example('$0 doubt free 4711 --note "credited"', 'the same call once more: the last word stands')
      .example('$0 doubt list --settled', 'also those that were settled, with every word about them')
      .example('$0 doubt resend 2026-01-31-a1b2c3 --yes', 'all of a run, unattended')
      .epilogue(
        'Nothing is sent here: the next `kybatch resume` or `kybatch run` does. A credit report is never generated again without a look in the history. Exit code: 0 done, 2 usage, 75 in use, 130 not agreed to.',
      ),
  run: list,
};
