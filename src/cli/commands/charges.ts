import type {
  Consent,
  Contradiction,
  DoubtProposal,
  DoubtsView,
  SettleDoubtsOptions,
  SettledDoubtsView,
} from '../../app/review/unknown-charges.js';
import { ExitCode } from '../../domain/errors.js';
import { printable } from '../../review/words.js';
import { type Message, mapTexts, message } from '../../util/message-parts.js';
import { type Command, type CommonArgs, register } from '../command.js';
import { appEnvironment, confirmAction, type Io, printResultAndWords } from '../terminal/io.js';
import { nextCommands } from '../terminal/review-words.js';
import { givenFlags, type Place, placeFlags, suggestCommand } from '../terminal/suggestions.js';
import { count, inUtc, iso, moment, sentFor, withCommas, withPlace } from '../terminal/text.js';
import { block, listed, pick, view } from '../terminal/view.js';

type UnknownCall = DoubtsView['calls'][number];
type ChargeVerdict = SettleDoubtsOptions['verdict'];

const callInWords = (call: UnknownCall): string => {
  const { name, country, registration_number: number } = call.fields ?? {};
  return printable(
    listed(
      [
        `call ${call.id}`,
        moment(call.startedAt),
        `${call.api} ${call.operation}`,
        STAKES[call.meter] ?? 'a call that may cost',
        sentFor(call),
        listed([name, country, number, call.subjectId !== null && `ID ${call.subjectId}`]),
        errorInWords(call),
        sentAgainInWords(call),
        call.charge !== 'unknown' && `booked as ${call.charge}`,
        call.note,
      ],
      ' · ',
    ),
  );
};

const STAKES: Readonly<Record<string, string>> = { unit: '1 unit', report: '1 credit report' };

function errorInWords({ errorCode, httpStatus, charge }: UnknownCall): string {
  if (errorCode === 'PROCESS_DIED') return 'the process died before the answer was written down';
  if (httpStatus === null) return `no answer came back (${errorCode})`;
  return `answered ${httpStatus} ${errorCode}${charge === 'unknown' ? ', and nothing says whether that is free' : ''}`;
}

function sentAgainInWords({ sentAgain, meter }: UnknownCall): string {
  switch (sentAgain) {
    case 'person':
      return 'not sent again before you say so';
    case 'next_start':
      return meter === 'report'
        ? 'the next start looks for it in the history, and generates it again only where it is not there'
        : 'the next start sends it again by itself';
    case 'retry':
      return 'its row has failed: `kybatch resume --failed` sends it again';
    case 'by_hand':
      return 'sent again only by hand';
    case 'nothing':
      return '';
  }
}

/** The sum of the calls, and the commands that record their charges. */
function callsInWords(calls: readonly UnknownCall[], place: string): Message {
  const unknown = calls.filter(({ charge }) => charge === 'unknown').length;
  const unanswered = calls.filter(({ charge, holds }) => charge === 'charged' && holds).length;
  const recorded = calls.length - unknown - unanswered;
  const parts = listed([
    unknown > 0 && `${withCommas(unknown)} whose charge nobody knows`,
    unanswered > 0 && `${withCommas(unanswered)} charged, and never answered`,
    recorded > 0 && `${withCommas(recorded)} settled`,
  ]);
  const them = pronoun(unknown + unanswered);
  return message(
    'CHARGES_UNKNOWN',
    listed(
      [
        `${count(calls.length, 'call')}${unknown === calls.length ? ' whose charge nobody knows' : `: ${parts}`}.`,
        unknown > 0 &&
          `The provider's own list of charges settles ${them}: \`kybatch charges charged CALL${place}\` or \`kybatch charges free CALL${place}\`;`,
        unknown + unanswered > 0 && `\`kybatch charges resend CALL${place}\` lets ${them} be sent again all the same.`,
      ],
      ' ',
    ),
    unknown > 0 ? 'attention' : undefined,
  );
}

const pronoun = (calls: number): string => (calls === 1 ? 'it' : 'them');

const callJson = (call: UnknownCall) => ({
  call: call.id,
  ...pick(call, 'api', 'environment', 'operation', 'meter'),
  run: call.runId,
  ...pick(call, 'row', 'line'),
  input: call.fields,
  ...pick(call, 'subjectId', 'startedAt', 'errorCode', 'httpStatus', 'requestId', 'charge'),
  holdsRow: call.sentAgain === 'person',
  sentAgainBy: call.sentAgain,
  note: call.note,
});

type UnderWay = DoubtsView['underWay'][number];

/** Calls of a process that may still be running. Their charges are not known yet. */
export function underWayInWords(calls: readonly UnderWay[]): readonly Message[] {
  if (calls.length === 0) return [];
  const until = Math.max(...calls.map(({ leaseUntil }) => leaseUntil));
  const isOne = calls.length === 1;
  return [
    block(
      'CALLS_UNDER_WAY',
      `${count(calls.length, 'call')} of a process that is at work, or may be, ${isOne ? 'is' : 'are'} not settled yet:`,
      calls
        .slice(0, SHOWN)
        .map(
          (call) =>
            `  call ${call.id}: ${call.api} ${call.operation}, ${sentFor(call)}, since ${second(call.startedAt)}`,
        ),
      calls.length > SHOWN && `  … and ${calls.length - SHOWN} more (--json lists all)`,
      `${isOne ? 'It is' : 'Each is'} known when it is answered; where the process has died, from ${second(until)} on, or with the next start.`,
    ),
  ];
}

const SHOWN = 20;

/** 2026-01-05 09:00:07 UTC */
const second = (at: number): string => inUtc(at, 19);

const underWayJson = (call: UnderWay) => ({
  call: call.id,
  ...pick(call, 'api', 'operation'),
  run: call.runId,
  ...pick(call, 'row', 'line', 'startedAt'),
  knownBy: iso(call.leaseUntil),
});

/** The provider's count disagrees with the verdict. */
const contradictionInWords = (
  { calls, from, to, known, otherUnknown, missing }: Contradiction,
  verdict: ChargeVerdict,
): Message =>
  message(
    'COUNT_DISAGREES',
    `Warning: the provider's own count speaks against ${verdict} for ${calls.length === 1 ? 'call' : 'calls'} ${calls.join(', ')}: ` +
      `between the answers before and after, its remaining units fell from ${withCommas(from)} to ${withCommas(to)}, and ${withCommas(known)} of ` +
      `them ${known === 1 ? 'is' : 'are'} known to belong to other calls. That leaves ${count(missing, 'unit')} for ${count(calls.length + otherUnknown, 'call')} in doubt` +
      `${verdict === 'free' ? ' (or for others who share the account)' : ''}.`,
    'attention',
  );

const contradictionJson = ({ calls, from, to, known, otherUnknown, missing }: Contradiction) => ({
  calls,
  remainingBefore: from,
  remainingAfter: to,
  knownUnits: known,
  missingUnits: missing,
  otherCallsInDoubt: otherUnknown,
});

const rowsOfCalls = (calls: number) => (calls === 1 ? 'its row' : 'their rows');

/** Nothing sends these calls again. */
const finishedCalls = (calls: readonly UnknownCall[]): number =>
  calls.filter(({ sentAgain }) => sentAgain === 'nothing').length;

/** "7 calls were answered since, or their rows are settled" */
const finishedInWords = (calls: number): string =>
  `${count(calls, 'call was', 'calls were')} answered since, or ${rowsOfCalls(calls)} ${calls === 1 ? 'is' : 'are'} settled`;

/** The question before a verdict is recorded. */
function verdictQuestion(verdict: ChargeVerdict, calls: readonly UnknownCall[]): string {
  if (verdict !== 'resend')
    return `Book ${count(calls.length, 'call')} as ${verdict}, and let ${rowsOfCalls(calls.length)} go on?`;
  const finished = finishedCalls(calls);
  const again = calls.length - finished;
  return listed(
    [
      finished > 0 && `${finishedInWords(finished)}: nothing sends ${pronoun(finished)} again.`,
      again === 0
        ? `Let ${pronoun(finished)} go all the same?`
        : `Let ${count(again, 'call')} be sent again? Each may be charged a second time; credit reports are looked for first.`,
    ],
    ' ',
  );
}

/** Each call is in one group, by what sends it again. */
function resentInWords({ calls, released, failed }: SettledDoubtsView, args: Place): readonly Message[] {
  const finished = finishedCalls(calls);
  const again = calls.length - finished;
  return view(
    again > 0 &&
      message(
        'CALLS_SENT_AGAIN',
        `${count(again, 'call')} may be sent again; what was charged for ${pronoun(again)} stays unknown.`,
      ),
    resumeInWords(released, args),
    failed.map(({ run, sandbox, given }) => {
      const { command } = suggestCommand({ kind: 'retry', run }, { ...args, sandbox, ...givenFlags(given) });
      return message('RETRY_NEXT', `Rows of run ${run} have failed; try them again with: ${command}`);
    }),
    calls.some(({ sentAgain }) => sentAgain === 'by_hand') &&
      message('CALL_AGAIN_NEXT', 'What was asked by hand is sent by the same `kybatch call`.'),
    finished > 0 &&
      message(
        'CALLS_SETTLED_SINCE',
        `${finishedInWords(finished)}: no start sends ${pronoun(finished)} again, and what was charged for ${pronoun(finished)} stays unknown. \`kybatch run INPUT --rebuy${placeFlags(args)}\` asks for everything anew.`,
      ),
  );
}

const resumeInWords = (released: SettledDoubtsView['released'], args: Place): readonly Message[] =>
  nextCommands(released, args).map((command) => message('RESUME_NEXT', `Go on with: ${command}`));

const recordedInWords = (verdict: ChargeVerdict, settled: SettledDoubtsView, { dataDir }: Place): readonly Message[] =>
  verdict === 'resend'
    ? resentInWords(settled, { dataDir })
    : view(
        message(
          'CHARGES_BOOKED',
          `${count(settled.calls.length, 'call is', 'calls are')} booked as ${verdict}. A wrong word is taken back by another: the last one stands, and every one is kept.`,
          'done',
        ),
        resumeInWords(settled.released, { dataDir }),
      );

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

const whichOf = ({ which }: ListArgs): readonly string[] => (which ?? []).map(String);

const listCommand: Command<ShowArgs> = {
  command: 'list [which..]',
  describe: 'List the calls',
  builder: (yargs) =>
    yargs
      .positional('which', whichPositional)
      .option('settled', { type: 'boolean', describe: 'Also the recorded ones, with every entry' }),
  run: list,
};

async function list(args: ShowArgs, io: Io): Promise<ExitCode> {
  const { dataDir, settled } = args;
  const { listUnknownCharges } = await import('../../app/review/unknown-charges.js');
  const { calls, underWay, released } = await listUnknownCharges(
    { dataDir, settled, which: whichOf(args) },
    appEnvironment(io),
  );
  const place = placeFlags(args);
  const next = nextCommands(released, args);
  const messages = view(
    !args.json && calls.map((call) => message('CHARGE_UNKNOWN', callInWords(call))),
    calls.length > 0 && callsInWords(calls, place),
    calls.length + underWay.length === 0 && EVERY_CHARGE_KNOWN,
    underWayInWords(underWay),
    next.map((command) => message('RESUME_NEXT', `No call holds its rows any more; go on with: ${command}`)),
  );
  printResultAndWords(
    io,
    args,
    () => ({ calls: calls.map(callJson), underWay: underWay.map(underWayJson), next }),
    mapTexts(messages, (text) => withPlace(text, place)),
  );
  return ExitCode.ok;
}

const EVERY_CHARGE_KNOWN = message('EVERY_CHARGE_KNOWN', 'Every charge is known.', 'done');

const settleCommand = (verdict: ChargeVerdict, describe: string): Command<SettleArgs> => ({
  command: `${verdict} [which..]`,
  describe,
  builder: (yargs) =>
    yargs
      .positional('which', whichPositional)
      .option('reason', { alias: 'note', type: 'string', requiresArg: true, describe: 'Why. Kept with each call' })
      .option('by', { type: 'string', requiresArg: true, describe: 'Who says so (default: $USER)' })
      .option('yes', { type: 'boolean', default: false, describe: 'Do it without asking' }),
  async run(args, io) {
    const { dataDir, reason, by } = args;
    const agree = (proposal: DoubtProposal) => agreed(verdict, proposal, args, io);
    const { recordCharges } = await import('../../app/review/unknown-charges.js');
    const options = { dataDir, which: whichOf(args), verdict, reason, by, agree };
    const settled = await recordCharges(options, appEnvironment(io));
    if (settled.outcome === 'not_agreed') return ExitCode.interrupted;
    printResultAndWords(
      io,
      args,
      () => ({
        verdict,
        calls: settled.calls.map(({ id }) => id),
        next: nextCommands(settled.released, args),
        contradictions: settled.contradictions.map(contradictionJson),
      }),
      settled.outcome === 'settled' ? recordedInWords(verdict, settled, args) : EVERY_CHARGE_KNOWN,
    );
    return ExitCode.ok;
  },
});

async function agreed(
  verdict: ChargeVerdict,
  { calls, contradictions }: DoubtProposal,
  { yes, reason }: SettleArgs,
  io: Io,
): Promise<Consent> {
  if (!yes && io.ask !== undefined) {
    const more = calls.length > SHOWN && `… and ${calls.length - SHOWN} more`;
    io.say(block('CHARGES_UNKNOWN', calls.slice(0, SHOWN).map(callInWords), more), 'alert');
  }
  io.say(
    contradictions.map((contradiction) => contradictionInWords(contradiction, verdict)),
    'alert',
  );
  const consent = {
    what: `this would be about ${count(calls.length, 'call')}`,
    question: verdictQuestion(verdict, calls),
    nothing: message('NOT_AGREED', 'Nothing was changed.'),
  };
  if (!(await confirmAction(consent, yes, io))) return { agreed: false };
  if (reason !== undefined) return { agreed: true };
  if (!yes) return { agreed: true, reason: await io.ask?.('Why? It is kept with the calls: ') };
  io.say(
    message(
      'REASON_MISSING',
      'No reason was given; `--note TEXT` keeps one with the calls, for whoever checks the books.',
    ),
  );
  return { agreed: true };
}

export const chargesCommand: Command<ListArgs> = {
  command: 'charges',
  describe: 'List calls with unknown charge, and record what they cost',
  subcommands: [
    register(listCommand),
    register(settleCommand('resend', 'Send them again in the next attempt (may cost again)')),
    register(settleCommand('charged', 'Record that they were charged, and release their rows')),
    register(settleCommand('free', 'Record that they were not charged, and release their rows')),
  ],
  builder: (yargs) => yargs.demandCommand(0),
  run: list,
};
