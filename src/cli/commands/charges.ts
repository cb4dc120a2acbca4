import type {
  ChargeProposal,
  Consent,
  Contradiction,
  RecordChargesOptions,
  RecordedChargesView,
  UnknownChargesView,
} from '../../app/review/unknown-charges.js';
import { ExitCode } from '../../domain/errors.js';
import { isUnknownCharge, KEY_CHECK } from '../../domain/outcomes.js';
import { printable } from '../../review/words.js';
import { type Message, message } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, inUtc, iso, listed, rowInWords, shortRun, withCommas } from '../../util/words.js';
import { type ArgsOf, type CommonArgs, register, switchFlag, textFlag } from '../command.js';
import { appEnvironment, confirmAction, type Io, printResultAndWords } from '../terminal/io.js';
import { nextCommands } from '../terminal/review-words.js';
import { givenFlags, type Place, suggestCommand } from '../terminal/suggestions.js';
import { block, marked, shortCommand, textTable, view } from '../terminal/view.js';

type UnknownCall = UnknownChargesView['calls'][number];
type ChargeVerdict = RecordChargesOptions['verdict'];

/** A line for each call. The company gets what the other columns leave. */
function callTable(calls: readonly UnknownCall[]): readonly string[] {
  const isOneRun = new Set(calls.map(({ runId }) => runId)).size === 1;
  const rowOf = ({ runId, row, stage }: UnknownCall) =>
    runId === null || row === null ? outsideRun(stage) : `${isOneRun ? '' : `${shortRun(runId)} `}${row}`;
  const [call = '', ...ids] = toTheRight(['call', ...calls.map(({ id }) => String(id))]);
  const [row = '', ...rows] = toTheRight(['row', ...calls.map(rowOf)]);
  const lines = calls.map((one, index) => [
    `  ${ids[index]}`,
    rows[index] ?? '',
    printable(companyOf(one)),
    one.operation,
    resultInWords(one),
  ]);
  return textTable([`  ${call}`, row, 'company', 'asked for', 'what came back'], lines, 'company')
    .trimEnd()
    .split('\n');
}

const outsideRun = (stage: string | null): string => (stage === KEY_CHECK ? 'key check' : 'manual');

const toTheRight = (cells: readonly string[]): readonly string[] => {
  const width = Math.max(...cells.map(({ length }) => length));
  return cells.map((cell) => cell.padStart(width));
};

const companyOf = ({ fields, subjectId }: UnknownCall): string =>
  fields?.name ?? fields?.registration_number ?? (subjectId === null ? '' : `ID ${subjectId}`);

function resultInWords({ errorCode, httpStatus, charge }: UnknownCall): string {
  const code = errorCode === `HTTP_${httpStatus}` ? `HTTP ${httpStatus}` : `${httpStatus} ${errorCode}`;
  const came =
    errorCode === 'PROCESS_DIED'
      ? 'not recorded'
      : httpStatus === null
        ? 'no answer'
        : httpStatus < 300
          ? 'unreadable'
          : code;
  return isUnknownCharge({ charge }) ? came : `${came}, ${charge}`;
}

/** Rows on hold first. Beside them, calls that no row waits for are only counted, unless the user asks for them. */
function callsInWords(
  { calls, repeated, rowsOnHold, isHeld }: UnknownChargesView,
  args: ShowArgs,
  flags: string,
): readonly Message[] {
  const which = whichOf(args);
  const all = args.all === true || which.length > 0;
  const held = calls.filter(({ sentAgain }) => sentAgain === 'person');
  const free = calls.filter((call) => !held.includes(call) && isUnknownCharge(call));
  const recorded = calls.filter((call) => !held.includes(call) && !isUnknownCharge(call));
  const [toDecide, next, rest] = (['person', 'next_run', 'nothing'] as const).map((who) =>
    free.filter(({ waitsFor }) => waitsFor === who),
  ) as [UnknownCall[], UnknownCall[], UnknownCall[]];
  const shown = [...held, ...toDecide, ...(all || held.length === 0 ? [...next, ...rest] : []), ...recorded];
  const ownRows = new Set(held.map(({ runId, row }) => `${runId} ${row}`)).size;
  const rows = ownRows === 0 ? 0 : Math.max(ownRows, rowsOnHold);
  const more = rows > 0 && !all ? ' (--all)' : '';
  const [header, ...lines] = callTable(shown);
  const unknown = ({ length }: readonly UnknownCall[], ending: string) =>
    length > 0 && `${count(length, 'call has', 'calls have')} an unknown charge${ending}`;
  return view(
    block(
      'CHARGES_UNKNOWN',
      rows > 0 && `${count(rows, 'row is', 'rows are')} on hold: ${heldByInWords(held)}`,
      rows > ownRows && `${count(rows - ownRows, 'of them waits', 'of them wait')} for a call of another row`,
      unknown(toDecide, `. You decide about ${pronoun(toDecide.length)}: ${callNumbers(toDecide)}`),
      unknown(
        next,
        `: the ${isHeld ? 'running' : 'next'} run sends ${repeated === next.length ? pronoun(repeated) : count(repeated, 'request')} again (may cost again)${next.some(({ meter }) => meter === 'report') ? ', a report only if the history lacks it' : ''}${more}`,
      ),
      unknown(rest, `, and no row waits for ${pronoun(rest.length)}${more}`),
      recorded.length > 0 && `The charge of ${count(recorded.length, 'call')} is recorded:`,
      '',
      header,
    ),
    shown.map((call, index) =>
      block(
        'CHARGE_UNKNOWN',
        lines[index],
        call.note !== null &&
          call.note !== shown[index - 1]?.note &&
          `        ${printable(call.note).replace(ISO_TIME, '$1 $2 UTC')}`,
      ),
    ),
    isHeld
      ? block('CHARGES_LATER', '\nA process is using the ledger. Record charges when it has ended.')
      : commandsInWords(shown, calls, which, flags),
  );
}

function heldByInWords(held: readonly UnknownCall[]): string {
  const unknown = held.filter(isUnknownCharge).length;
  const charged = held.length - unknown;
  const doubt = unknown > 0 && `kybatch does not know whether ${count(unknown, 'call was', 'calls were')} charged`;
  return listed([doubt, charged > 0 && `${count(charged, 'call was', 'calls were')} charged without an answer`], '. ');
}

function callNumbers(calls: readonly UnknownCall[]): string {
  const more = calls.length > SHOWN ? ` and ${withCommas(calls.length - SHOWN)} more` : '';
  const ids = calls.slice(0, SHOWN).map(({ id }) => id);
  return `${calls.length === 1 ? 'call' : 'calls'} ${ids.join(', ')}${more}`;
}

/** The commands name every call of the table. For a long table they select its calls as the list was asked for. */
function commandsInWords(
  shown: readonly UnknownCall[],
  all: readonly UnknownCall[],
  which: readonly string[],
  flags: string,
): Message | false {
  // Without numbers, a command would also change charges that are known.
  const isLong = shown.length > SHOWN && all.every(isUnknownCharge);
  const calls = isLong ? all : shown;
  const unknown = calls.filter(isUnknownCharge);
  const again = calls.filter((call) =>
    isUnknownCharge(call) ? call.sentAgain !== 'nothing' : call.sentAgain === 'person',
  );
  const were = unknown.length === 1 ? 'it was' : 'they were';
  const commands = [
    ['charged', unknown, `${were} charged`],
    ['free', unknown, `${were} not charged`],
    ['resend', again, 'ask again (may cost again)'],
  ] as const;
  const lines = commands
    .filter(([, those]) => those.length > 0)
    .map(([verdict, those, words]) => {
      const names = isLong ? which : those.map(({ id }) => id);
      return [`  ${['kybatch charges', verdict, ...names].join(' ')}${flags}`, `# ${words}`] as const;
    });
  // No room is left for a comment beside the command.
  const isWide = lines.some(([command]) => command.length > 45);
  return (
    lines.length > 0 &&
    block(
      'CHARGES_NEXT',
      `\nLook up the ${calls.length === 1 ? 'call' : 'calls'} in the provider's usage list, then:`,
      isWide ? lines.map(([command, words]) => `  ${words}\n${command}`) : textTable([], lines).trimEnd(),
    )
  );
}

const ISO_TIME = /(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[\d:.]*Z/g;

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
  waitsFor: call.waitsFor,
  note: call.note,
});

type UnderWay = UnknownChargesView['underWay'][number];

/** Calls of a process that may still be running. Their charges are not known yet. */
export function underWayInWords(calls: readonly UnderWay[]): readonly Message[] {
  if (calls.length === 0) return [];
  const until = Math.max(...calls.map(({ leaseUntil }) => leaseUntil));
  const isOne = calls.length === 1;
  return [
    block(
      'CALLS_UNDER_WAY',
      `${count(calls.length, 'call')} of a running process ${isOne ? 'has' : 'have'} no result yet:`,
      calls
        .slice(0, SHOWN)
        .map((call) => `  call ${call.id}: ${call.operation}, ${sentFor(call)}, since ${second(call.startedAt)}`),
      calls.length > SHOWN && `  … and ${calls.length - SHOWN} more (--json lists all)`,
      `If the process died, kybatch knows at ${second(until)}, or when you resume.`,
    ),
  ];
}

/** "run 2026-01-05-ab12cd, row 3 (line 4)": the cause of a call. */
const sentFor = ({ runId, stage, row, line }: UnderWay): string =>
  runId === null ? outsideRun(stage) : `run ${runId}${row === null ? '' : `, ${rowInWords(row, line)}`}`;

const SHOWN = 20;

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
  marked(
    'COUNT_DISAGREES',
    'attention',
    `The provider's counter contradicts "${verdict}" for ${calls.length === 1 ? 'call' : 'calls'} ${calls.join(', ')}:`,
    `  Its remaining units fell from ${withCommas(from)} to ${withCommas(to)}, and ${withCommas(known)} of them ${known === 1 ? 'is' : 'are'} known.`,
    `  That leaves ${count(missing, 'unit')} for ${count(calls.length + otherUnknown, 'call')} with unknown charge${verdict === 'free' ? ', or for other users of the account' : ''}.`,
  );

/** The provider's counter shows a call only when the provider is done with it. */
const recentInWords = (until: number): Message =>
  marked(
    'CALLS_RECENT',
    'attention',
    `The provider may still charge for these calls, until ${second(until)} (30 s after a call).`,
    '  Its counter may not show them yet. Look at the usage list again then.',
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

const finishedInWords = (calls: number): string =>
  `${count(calls, 'call was', 'calls were')} answered later, or ${rowsOfCalls(calls)} finished without ${pronoun(calls)}`;

function verdictQuestion(verdict: ChargeVerdict, calls: readonly UnknownCall[]): string {
  if (verdict !== 'resend')
    return `Record ${count(calls.length, 'call')} as ${verdict}, and continue ${rowsOfCalls(calls.length)}?`;
  const finished = finishedCalls(calls);
  const again = calls.length - finished;
  return listed(
    [
      finished > 0 && `${finishedInWords(finished)}. kybatch does not send ${pronoun(finished)} again.`,
      again === 0
        ? `Mark ${pronoun(finished)} as done?`
        : `Send ${count(again, 'call')} again? Each may be charged twice. (Credit reports are looked up first.)`,
    ],
    ' ',
  );
}

/** Each call is in one group, by what sends it again. */
function resentInWords({ calls, released, failed }: RecordedChargesView, args: Place): readonly Message[] {
  const finished = finishedCalls(calls);
  const again = calls.length - finished;
  return view(
    again > 0 &&
      message(
        'CALLS_SENT_AGAIN',
        `${count(again, 'call')} may be sent again. What is recorded about the first charge stays.`,
      ),
    resumeInWords(released, args),
    failed.map(({ run, sandbox, given }) => {
      const step = suggestCommand({ kind: 'retry', run }, { ...args, sandbox, ...givenFlags(given) });
      return message('RETRY_NEXT', `Try the failed rows of run ${shortRun(run)} again: ${shortCommand(step.command)}`);
    }),
    calls.some(({ sentAgain }) => sentAgain === 'by_hand') &&
      message('CALL_AGAIN_NEXT', 'To send a manual call again, repeat its `kybatch call`.'),
    finished > 0 &&
      message(
        'CALLS_SETTLED_SINCE',
        `${finishedInWords(finished)}. kybatch does not send ${pronoun(finished)} again. The charge stays unknown.`,
      ),
  );
}

const resumeInWords = (released: RecordedChargesView['released'], args: Place): readonly Message[] =>
  nextCommands(released, args).map((command) => message('RESUME_NEXT', `Continue: ${shortCommand(command)}`));

const recordedInWords = (
  verdict: ChargeVerdict,
  settled: RecordedChargesView,
  { dataDir }: Place,
  flags: string,
): readonly Message[] =>
  verdict === 'resend'
    ? resentInWords(settled, { dataDir })
    : view(
        message('CHARGES_BOOKED', `✓ ${count(settled.calls.length, 'call')} recorded as ${verdict}.`, 'done'),
        message('CHARGES_CORRECT', `To correct one: ${correctingCommand(verdict, settled.calls)}${flags}`),
        holdingInWords(settled.holding),
        resumeInWords(settled.released, { dataDir }),
      );

/** Only a call that is named is recorded again. */
const correctingCommand = (verdict: ChargeVerdict, [first]: readonly UnknownCall[]): string =>
  `kybatch charges ${verdict === 'free' ? 'charged' : 'free'} ${first?.id ?? ''}`;

/** Rows whose calls were not among the recorded ones. */
function holdingInWords(calls: readonly UnknownCall[]): Message | false {
  const rows = new Set(calls.map(({ runId, row }) => `${runId} ${row}`)).size;
  const why = calls.some(isUnknownCharge)
    ? 'List their calls: kybatch charges'
    : 'Their calls were charged without an answer.\nOnly this releases them, and it may cost again: kybatch charges resend';
  return rows > 0 && block('ROWS_ON_HOLD', `${count(rows, 'row stays', 'rows stay')} on hold. ${why}`);
}

/** Pasted into a job, a command without --yes is refused. */
const yesFlag = ({ ask }: Io): string => (ask === undefined ? ' --yes' : '');

const whichPositional = {
  type: 'string',
  array: true,
  describe: 'Numbers of calls, or runs (default: all)',
} as const;

const allOption = { type: 'boolean', describe: 'While rows are on hold: also the other calls', global: false } as const;

const whichOf = ({ which }: { readonly which?: readonly (string | number)[] | undefined }): readonly string[] =>
  (which ?? []).map(String);

const listOptions = {
  all: allOption,
  settled: { type: 'boolean', describe: 'Also the recorded ones, with every entry' },
} as const;

type ShowArgs = Pick<CommonArgs, 'dataDir'> & Partial<ArgsOf<typeof listOptions>> & Parameters<typeof whichOf>[0];

const listCommand = register({
  command: 'list [which..]',
  describe: 'List the calls',
  builder: (yargs) => yargs.positional('which', whichPositional).options(listOptions),
  run: list,
});

async function list(args: ShowArgs, io: Io): Promise<ExitCode> {
  const { dataDir, settled } = args;
  const { listUnknownCharges } = await import('../../app/review/unknown-charges.js');
  const found = await listUnknownCharges({ dataDir, settled, which: whichOf(args) }, appEnvironment(io));
  const { calls, underWay, released } = found;
  const next = nextCommands(released, args);
  const messages = view(
    calls.length > 0 && callsInWords(found, args, yesFlag(io)),
    calls.length + underWay.length === 0 && nothingFoundInWords(found.elsewhere, 'list'),
    underWayInWords(underWay),
    next.map((command) => message('RESUME_NEXT', `No row is on hold any more. Continue: ${shortCommand(command)}`)),
  );
  printResultAndWords(
    io,
    {
      rowsOnHold: found.rowsOnHold,
      calls: calls.map(callJson),
      underWay: underWay.map(underWayJson),
      elsewhere: elsewhereJson(found.elsewhere),
      next,
    },
    messages.filter(({ code }) => !io.json || code !== 'CHARGE_UNKNOWN'),
  );
  return ExitCode.ok;
}

/** A selection without listed calls names the runs that have some. */
const nothingFoundInWords = (
  elsewhere: UnknownChargesView['elsewhere'],
  verb: ChargeVerdict | 'list',
): readonly Message[] =>
  elsewhere.length === 0
    ? view(
        message(
          'EVERY_CHARGE_KNOWN',
          `Every charge is known.${verb === 'list' ? '' : ' Nothing was changed.'}`,
          'done',
        ),
        verb !== 'list' &&
          message('CHARGES_CORRECT', 'To correct one, name its number: kybatch charges list --settled'),
      )
    : [
        block(
          'CHARGES_ELSEWHERE',
          'Every charge of the selected runs is known. `kybatch charges` lists:',
          elsewhere.map(({ run, calls }) =>
            run === null
              ? `  ${count(calls, 'call')} outside a run: kybatch charges`
              : `  ${count(calls, 'call')} of run ${shortRun(run)}: kybatch charges ${verb} ${shortRun(run)}`,
          ),
        ),
      ];

const elsewhereJson = (elsewhere: UnknownChargesView['elsewhere']) => (elsewhere.length === 0 ? undefined : elsewhere);

const settleCommand = (verdict: ChargeVerdict, describe: string) =>
  register({
    command: `${verdict} [which..]`,
    describe,
    builder: (yargs) =>
      yargs
        .positional('which', whichPositional)
        .option('reason', { alias: 'note', ...textFlag('Reason, stored with each call') })
        .option('by', textFlag('Person who records it (default: $USER)'))
        .option('yes', switchFlag('Record without asking')),
    async run(args, io) {
      const { dataDir, reason, by } = args;
      const agree = (proposal: ChargeProposal) => agreed(verdict, proposal, args, io);
      const { recordCharges } = await import('../../app/review/unknown-charges.js');
      const options = { dataDir, which: whichOf(args), verdict, reason, by, agree };
      const settled = await recordCharges(options, appEnvironment(io));
      if (settled.outcome === 'not_agreed') return ExitCode.interrupted;
      printResultAndWords(
        io,
        {
          verdict,
          calls: settled.calls.map(({ id }) => id),
          next: nextCommands(settled.released, args),
          contradictions: settled.contradictions.map(contradictionJson),
          mayBeChargedUntil: settled.mayBeChargedUntil === null ? undefined : iso(settled.mayBeChargedUntil),
          elsewhere: elsewhereJson(settled.elsewhere),
        },
        settled.outcome === 'settled'
          ? recordedInWords(verdict, settled, args, yesFlag(io))
          : nothingFoundInWords(settled.elsewhere, verdict),
      );
    },
  });

async function agreed(
  verdict: ChargeVerdict,
  { calls, contradictions, mayBeChargedUntil }: ChargeProposal,
  { yes, reason }: { readonly yes: boolean; readonly reason: string | undefined },
  io: Io,
): Promise<Consent> {
  if (!yes && io.ask !== undefined) {
    const more = calls.length > SHOWN && `  … and ${calls.length - SHOWN} more`;
    io.say(block('CHARGES_UNKNOWN', callTable(calls.slice(0, SHOWN)), more), 'alert');
  }
  io.say(
    contradictions.map((contradiction) => contradictionInWords(contradiction, verdict)),
    'alert',
  );
  if (verdict === 'free' && mayBeChargedUntil !== null) io.say(recentInWords(mayBeChargedUntil), 'alert');
  const consent = {
    what: `this would change ${count(calls.length, 'call')}`,
    question: verdictQuestion(verdict, calls),
    nothing: message('NOT_AGREED', 'Nothing was changed.'),
  };
  if (!(await confirmAction(consent, yes, io))) return { agreed: false };
  if (reason !== undefined) return { agreed: true };
  if (!yes) return { agreed: true, reason: await io.ask?.('Reason (stored with the calls): ') };
  io.say(message('REASON_MISSING', 'No reason was given. `--note TEXT` stores one with the calls.'));
  return { agreed: true };
}

export const chargesCommand = register({
  command: 'charges',
  describe: 'List calls with unknown charge, and record what they cost',
  subcommands: [
    listCommand,
    settleCommand('resend', 'Send them again in the next attempt (may cost again)'),
    settleCommand('charged', 'Record that they were charged, and release their rows'),
    settleCommand('free', 'Record that they were not charged, and release their rows'),
  ],
  builder: (yargs) => yargs.demandCommand(0).option('all', allOption),
  run: list,
});
