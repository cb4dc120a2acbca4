import type { Contradiction, DoubtsView, SettleDoubtsOptions, SettledDoubtsView } from '../../app/doubt.js';
import { printable } from '../../review/words.js';
import { givenFlags, type Place, placeFlags, suggestCommand } from './commands.js';
import { iso } from './iso.js';
import { nextCommands } from './review-words.js';
import { count, inUtc, moment, rowInWords, withCommas } from './text.js';

type DoubtfulCall = DoubtsView['calls'][number];
type Verdict = SettleDoubtsOptions['verdict'];

/** One line a call: number, time, what was asked, for whom, and what happened. */
export const doubtInWords = (call: DoubtfulCall): string =>
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

/** "run 2026-01-05-ab12cd, row 3, line 4" */
export const sentFor = ({ runId, row, line }: Pick<DoubtfulCall, 'runId' | 'row' | 'line'>): string =>
  runId === null ? 'by hand' : `run ${runId}${row === null ? '' : `, ${rowInWords(row, line)}`}`;

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
export function doubtsInWords(calls: readonly DoubtfulCall[], place: string): string {
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
  return `${head}${unknown + inVain === 0 ? '' : ` ${unknown === 0 ? '' : books}${resend}`}\n`;
}

export const doubtToJson = (call: DoubtfulCall) => ({
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
export function underWayInWords(calls: readonly UnderWay[]): string {
  if (calls.length === 0) return '';
  const until = Math.max(...calls.map(({ leaseUntil }) => leaseUntil));
  const one = calls.length === 1;
  return [
    `${count(calls.length, 'call')} of a process that is at work, or may be, ${one ? 'is' : 'are'} not settled yet:`,
    ...calls
      .slice(0, SHOWN_UNDER_WAY)
      .map(
        (call) => `  call ${call.id}: ${call.api} ${call.operation}, ${sentFor(call)}, since ${second(call.startedAt)}`,
      ),
    ...(calls.length > SHOWN_UNDER_WAY ? [`  … and ${calls.length - SHOWN_UNDER_WAY} more (--json lists all)`] : []),
    `${one ? 'It is' : 'Each is'} known when it is answered; where the process has died, from ${second(until)} on, or with the next start.`,
  ]
    .map((line) => `${line}\n`)
    .join('');
}

const SHOWN_UNDER_WAY = 20;

/** 2026-01-05 09:00:07 UTC */
const second = (at: number): string => inUtc(at, 19);

export const underWayToJson = ({ id, api, operation, runId, row, line, startedAt, leaseUntil }: UnderWay) => ({
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
export const contradictionInWords = (
  { calls, from, to, known, otherUnknown, missing }: Contradiction,
  verdict: Verdict,
): string =>
  `Warning: the provider's own count speaks against ${verdict} for ${calls.length === 1 ? 'call' : 'calls'} ${calls.join(', ')}: ` +
  `between the answers before and after, its remaining units fell from ${withCommas(from)} to ${withCommas(to)}, and ${withCommas(known)} of ` +
  `them ${known === 1 ? 'is' : 'are'} known to belong to other calls. That leaves ${count(missing, 'unit')} for ${count(calls.length + otherUnknown, 'call')} in doubt` +
  `${verdict === 'free' ? ' (or for others who share the account)' : ''}.\n`;

export const contradictionToJson = ({ calls, from, to, known, otherUnknown, missing }: Contradiction) => ({
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
export function verdictInWords(verdict: Verdict, calls: readonly DoubtfulCall[]): string {
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

const bookedInWords = (verdict: Verdict, calls: number): string =>
  `${count(calls, 'call')} ${calls === 1 ? 'is' : 'are'} booked as ${verdict}. A wrong word is taken back by another: the last one stands, and every one is kept.`;

/** Each call in one group: what is sent again, by what; and what nothing has to send. */
function resentInWords({ calls, released, failed }: SettledDoubtsView, args: Place): readonly string[] {
  const settled = calls.filter(isSettled).length;
  const again = calls.length - settled;
  const byHand = calls.filter(({ sentAgain }) => sentAgain === 'by_hand').length;
  return [
    ...(again === 0
      ? []
      : [
          `${count(again, 'call')} may be sent again; what was charged for ${again === 1 ? 'it' : 'them'} stays unknown.`,
        ]),
    ...goOnInWords(released, args),
    ...failed.map(({ run, sandbox, given }) => {
      const { command } = suggestCommand({ kind: 'retry', run }, { ...args, sandbox, ...givenFlags(given) });
      return `Rows of run ${run} have failed; try them again with: ${command}`;
    }),
    ...(byHand === 0 ? [] : ['What was asked by hand is sent by the same `kybatch call`.']),
    ...(settled === 0
      ? []
      : [
          `${settledSince(settled)}: no start sends ${settled === 1 ? 'it' : 'them'} again, and what was charged for ${settled === 1 ? 'it' : 'them'} stays unknown. \`kybatch run INPUT --fresh${placeFlags(args)}\` asks for everything anew.`,
        ]),
  ];
}

const goOnInWords = (released: SettledDoubtsView['released'], args: Place): readonly string[] =>
  nextCommands(released, args).map((command) => `Go on with: ${command}`);

export function settledInWords(verdict: Verdict, view: SettledDoubtsView, { dataDir }: Place): string {
  const lines =
    verdict === 'resend'
      ? resentInWords(view, { dataDir })
      : [bookedInWords(verdict, view.calls.length), ...goOnInWords(view.released, { dataDir })];
  return lines.map((line) => `${line}\n`).join('');
}
