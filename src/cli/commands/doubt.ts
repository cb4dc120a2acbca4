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
import { type CommonArgs, register, type Verb } from '../command.js';
import { appEnvironment, confirmAction, type Io, printResultAndWords } from '../terminal/io.js';
import { nextCommands } from '../terminal/review-words.js';
import { givenFlags, type Place, placeFlags, suggestCommand } from '../terminal/suggestions.js';
import { count, inUtc, iso, moment, sentFor, withCommas, withPlace } from '../terminal/text.js';

type DoubtfulCall = DoubtsView['calls'][number];
type ChargeVerdict = SettleDoubtsOptions['verdict'];

/** One line a call: number, time, what was asked, for whom, and what happened. */
const doubtInWords = (call: DoubtfulCall): string =>
  printable(
    [
      `call ${call.id}`,
      moment(call.startedAt),
      `${call.api} ${call.operation}`,
      STAKES[call.meter] ?? 'a call that may cost',
      sentFor(call),
      companyOf(call),
      whyInWords(call),
      againInWords(call),
      call.charge === 'unknown' ? '' : `booked as ${call.charge}`,
      call.note ?? '',
    ]
      .filter((part) => part !== '')
      .join(' · '),
  );

const STAKES: Readonly<Record<string, string>> = { unit: '1 unit', report: '1 credit report' };

function companyOf({ fields, subjectId }: DoubtfulCall): string {
  const { name, country, registration_number: number } = fields ?? {};
  return [name, country, number, subjectId === null ? undefined : `ID ${subjectId}`].filter(Boolean).join(', ');
}

function whyInWords({ errorCode, httpStatus, charge }: DoubtfulCall): string {
  if (errorCode === 'PROCESS_DIED') return 'the process died before the answer was written down';
  if (httpStatus === null) return `no answer came back (${errorCode})`;
  return `answered ${httpStatus} ${errorCode}${charge === 'unknown' ? ', and nothing says whether that is free' : ''}`;
}

function againInWords({ sentAgain, meter }: DoubtfulCall): string {
  switch (sentAgain) {
    case 'person':
      return 'not sent again before you say so';
    case 'next_start':
      return meter === 'report'
        ? 'the next start looks for it in the history, and generates it again only where it is not there'
        : 'the next start sends it again by itself';
    case 'retry':
      return 'its row has failed: `kybatch retry` sends it again';
    case 'by_hand':
      return 'sent again only by hand';
    case 'nothing':
      return '';
  }
}

/** How many are listed, and what is known of them; then what a person can say. */
function doubtsInWords(calls: readonly DoubtfulCall[], place: string): Message {
  const unknown = calls.filter(({ charge }) => charge === 'unknown').length;
  const inVain = calls.filter(({ charge, holds }) => charge === 'charged' && holds).length;
  const settled = calls.length - unknown - inVain;
  const parts = [
    ...(unknown === 0 ? [] : [`${withCommas(unknown)} whose charge nobody knows`]),
    ...(inVain === 0 ? [] : [`${withCommas(inVain)} charged, and never answered`]),
    ...(settled === 0 ? [] : [`${withCommas(settled)} settled`]),
  ];
  const head = `${count(calls.length, 'call')}${parts.length === 1 && unknown > 0 ? ' whose charge nobody knows' : `: ${parts.join(', ')}`}.`;
  const them = unknown + inVain === 1 ? 'it' : 'them';
  const books = `The provider's own list of charges settles ${them}: \`kybatch doubt charged CALL${place}\` or \`kybatch doubt free CALL${place}\`; `;
  const resend = `\`kybatch doubt resend CALL${place}\` lets ${them} be sent again all the same.`;
  return message(
    'CHARGES_UNKNOWN',
    `${head}${unknown + inVain === 0 ? '' : ` ${unknown === 0 ? '' : books}${resend}`}`,
  );
}

const doubtToJson = (call: DoubtfulCall) => ({
  call: call.id,
  api: call.api,
  environment: call.environment,
  operation: call.operation,
  meter: call.meter,
  run: call.runId,
  row: call.row,
  line: call.line,
  input: call.fields,
  subject_id: call.subjectId,
  started_at: iso(call.startedAt),
  error_code: call.errorCode,
  http_status: call.httpStatus,
  request_id: call.requestId,
  charge: call.charge,
  holds_row: call.sentAgain === 'person',
  sent_again_by: call.sentAgain,
  note: call.note,
});

type UnderWay = DoubtsView['underWay'][number];

/** Calls that nobody can settle yet, which, and from when on it will be known. */
export function underWayInWords(calls: readonly UnderWay[]): readonly Message[] {
  if (calls.length === 0) return [];
  const until = Math.max(...calls.map(({ leaseUntil }) => leaseUntil));
  const one = calls.length === 1;
  const lines = [
    `${count(calls.length, 'call')} of a process that is at work, or may be, ${one ? 'is' : 'are'} not settled yet:`,
    ...calls
      .slice(0, SHOWN_UNDER_WAY)
      .map(
        (call) => `  call ${call.id}: ${call.api} ${call.operation}, ${sentFor(call)}, since ${second(call.startedAt)}`,
      ),
    ...(calls.length > SHOWN_UNDER_WAY ? [`  … and ${calls.length - SHOWN_UNDER_WAY} more (--json lists all)`] : []),
    `${one ? 'It is' : 'Each is'} known when it is answered; where the process has died, from ${second(until)} on, or with the next start.`,
  ];
  return [message('CALLS_UNDER_WAY', lines.join('\n'))];
}

const SHOWN_UNDER_WAY = 20;

/** 2026-01-05 09:00:07 UTC */
const second = (at: number): string => inUtc(at, 19);

const underWayToJson = ({ id, api, operation, runId, row, line, startedAt, leaseUntil }: UnderWay) => ({
  call: id,
  api,
  operation,
  run: runId,
  row,
  line,
  started_at: iso(startedAt),
  known_by: iso(leaseUntil),
});

/** The provider's own count says otherwise: before it is asked for, and after. */
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
  );

const contradictionToJson = ({ calls, from, to, known, otherUnknown, missing }: Contradiction) => ({
  calls,
  remaining_before: from,
  remaining_after: to,
  known_units: known,
  missing_units: missing,
  other_calls_in_doubt: otherUnknown,
});

const rowsOfCalls = (calls: number) => (calls === 1 ? 'its row' : 'their rows');

const isSettled = ({ sentAgain }: DoubtfulCall): boolean => sentAgain === 'nothing';

/** "7 calls were answered since, or their rows are settled" */
const settledSince = (calls: number): string =>
  `${count(calls, 'call')} ${calls === 1 ? 'was' : 'were'} answered since, or ${rowsOfCalls(calls)} ${calls === 1 ? 'is' : 'are'} settled`;

/** What a verdict will do, before it is asked for. */
function verdictInWords(verdict: ChargeVerdict, calls: readonly DoubtfulCall[]): string {
  if (verdict !== 'resend')
    return `Book ${count(calls.length, 'call')} as ${verdict}, and let ${rowsOfCalls(calls.length)} go on?`;
  const settled = calls.filter(isSettled).length;
  const again = calls.length - settled;
  const others =
    settled === 0 ? '' : `${settledSince(settled)}: nothing sends ${settled === 1 ? 'it' : 'them'} again. `;
  return again === 0
    ? `${others}Let ${settled === 1 ? 'it' : 'them'} go all the same?`
    : `${others}Let ${count(again, 'call')} be sent again? Each may be charged a second time; credit reports are looked for first.`;
}

const bookedInWords = (verdict: ChargeVerdict, calls: number): Message =>
  message(
    'CHARGES_BOOKED',
    `${count(calls, 'call')} ${calls === 1 ? 'is' : 'are'} booked as ${verdict}. A wrong word is taken back by another: the last one stands, and every one is kept.`,
  );

/** Each call in one group: what is sent again, by what; and what nothing has to send. */
function resentInWords({ calls, released, failed }: SettledDoubtsView, args: Place): readonly Message[] {
  const settled = calls.filter(isSettled).length;
  const again = calls.length - settled;
  const byHand = calls.filter(({ sentAgain }) => sentAgain === 'by_hand').length;
  return [
    ...(again === 0
      ? []
      : [
          message(
            'CALLS_SENT_AGAIN',
            `${count(again, 'call')} may be sent again; what was charged for ${again === 1 ? 'it' : 'them'} stays unknown.`,
          ),
        ]),
    ...goOnInWords(released, args),
    ...failed.map(({ run, sandbox, given }) => {
      const { command } = suggestCommand({ kind: 'retry', run }, { ...args, sandbox, ...givenFlags(given) });
      return message('RETRY_NEXT', `Rows of run ${run} have failed; try them again with: ${command}`);
    }),
    ...(byHand === 0 ? [] : [message('CALL_AGAIN_NEXT', 'What was asked by hand is sent by the same `kybatch call`.')]),
    ...(settled === 0
      ? []
      : [
          message(
            'CALLS_SETTLED_SINCE',
            `${settledSince(settled)}: no start sends ${settled === 1 ? 'it' : 'them'} again, and what was charged for ${settled === 1 ? 'it' : 'them'} stays unknown. \`kybatch run INPUT --fresh${placeFlags(args)}\` asks for everything anew.`,
          ),
        ]),
  ];
}

const goOnInWords = (released: SettledDoubtsView['released'], args: Place): readonly Message[] =>
  nextCommands(released, args).map((command) => message('RESUME_NEXT', `Go on with: ${command}`));

function settledInWords(verdict: ChargeVerdict, view: SettledDoubtsView, { dataDir }: Place): readonly Message[] {
  return verdict === 'resend'
    ? resentInWords(view, { dataDir })
    : [bookedInWords(verdict, view.calls.length), ...goOnInWords(view.released, { dataDir })];
}

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
  const { listUnknownCharges } = await import('../../app/review/unknown-charges.js');
  const { calls, underWay, released } = await listUnknownCharges(
    { dataDir, settled, which: wordsOf(args) },
    appEnvironment(io),
  );
  const place = placeFlags(args);
  const next = nextCommands(released, args);
  const listed = () => ({ calls: calls.map(doubtToJson), under_way: underWay.map(underWayToJson), next });
  const messages = [
    ...(args.json ? [] : calls.map((call) => message('CHARGE_UNKNOWN', doubtInWords(call)))),
    ...(calls.length > 0 ? [doubtsInWords(calls, place)] : []),
    ...(calls.length + underWay.length === 0 ? [EVERY_CHARGE_KNOWN] : []),
    ...underWayInWords(underWay),
    ...next.map((command) => message('RESUME_NEXT', `No call holds its rows any more; go on with: ${command}`)),
  ];
  printResultAndWords(
    io,
    args,
    listed,
    mapTexts(messages, (text) => withPlace(text, place)),
  );
  return ExitCode.ok;
}

const EVERY_CHARGE_KNOWN = message('EVERY_CHARGE_KNOWN', 'Every charge is known.');

const settleVerb = (verdict: ChargeVerdict, describe: string): Verb<SettleArgs> => ({
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
    const { recordCharges } = await import('../../app/review/unknown-charges.js');
    const view = await recordCharges({ dataDir, which: wordsOf(args), verdict, reason, by, agree }, appEnvironment(io));
    if (view.outcome === 'not_agreed') return ExitCode.interrupted;
    const { calls, contradictions, released } = view;
    const settled = () => ({
      verdict,
      calls: calls.map(({ id }) => id),
      next: nextCommands(released, args),
      contradictions: contradictions.map(contradictionToJson),
    });
    const messages = view.outcome === 'settled' ? settledInWords(verdict, view, args) : EVERY_CHARGE_KNOWN;
    printResultAndWords(io, args, settled, messages);
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
    const shown = calls.slice(0, SHOWN).map(doubtInWords);
    const more = calls.length > SHOWN ? [`… and ${calls.length - SHOWN} more`] : [];
    io.say(message('CHARGES_UNKNOWN', [...shown, ...more].join('\n')), 'alert');
  }
  io.say(
    contradictions.map((contradiction) => contradictionInWords(contradiction, verdict)),
    'alert',
  );
  const what = `this would be about ${count(calls.length, 'call')}`;
  const consent = {
    what,
    question: verdictInWords(verdict, calls),
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
