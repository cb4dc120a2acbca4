import type { DoubtsView, SettleDoubtsOptions, SettledDoubtsView } from '../../app/doubt.js';
import { printable } from '../../review/words.js';
import { iso } from './iso.js';
import { nextCommands } from './review-words.js';
import { count, moment } from './text.js';

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
      call.runId === null ? 'by hand' : `run ${call.runId}${call.row === null ? '' : `, row ${call.row}`}`,
      companyOf(call),
      whyInWords(call),
      call.holds ? 'not sent again before you say so, or the pipeline allows it' : '',
      call.note ?? '',
    ]
      .filter((part) => part !== '')
      .join(' · '),
  );

const STAKES: Readonly<Record<string, string>> = { unit: '1 unit', report: '1 credit report' };

function companyOf({ fields, subjectId }: DoubtfulCall): string {
  const { name, country, registration_number: number } = JSON.parse(fields ?? '{}') as Record<string, string>;
  return [name, country, number, subjectId === null ? undefined : `ID ${subjectId}`].filter(Boolean).join(', ');
}

function whyInWords({ errorCode, httpStatus, charged }: DoubtfulCall): string {
  const paid = charged ? ', and it was charged' : '';
  if (errorCode === 'PROCESS_DIED') return `the process died before the answer was written down${paid}`;
  if (httpStatus === null) return `no answer came back (${errorCode})${paid}`;
  return `answered ${httpStatus} ${errorCode}${charged ? paid : ', and nothing says whether that is free'}`;
}

export const doubtToJson = (call: DoubtfulCall) => ({
  call: call.id,
  api: call.api,
  environment: call.environment,
  operation: call.operation,
  meter: call.meter,
  run: call.runId,
  row: call.row,
  input: call.fields === null ? null : (JSON.parse(call.fields) as unknown),
  subject_id: call.subjectId,
  started_at: iso(call.startedAt),
  error_code: call.errorCode,
  http_status: call.httpStatus,
  charge: call.charged ? 'charged' : 'unknown',
  request_id: call.requestId,
  holds_row: call.holds,
  note: call.note,
});

/** What a verdict will do, before it is asked for. */
export const verdictInWords = (verdict: Verdict, calls: number): string =>
  ({
    resend: `Let ${count(calls, 'call')} be sent again? Each may be charged a second time; credit reports are looked for first.`,
    charged: `Book ${count(calls, 'call')} as charged, and let their rows go on?`,
    free: `Book ${count(calls, 'call')} as free, and let their rows go on?`,
  })[verdict];

const DONE: Readonly<Record<Verdict, string>> = {
  resend: 'may be sent again by the next start; what was charged for them stays unknown',
  charged: 'are booked as charged',
  free: 'are booked as free',
};

export const settledInWords = (verdict: Verdict, { calls, released }: SettledDoubtsView, place: string): string =>
  [
    `${count(calls.length, 'call')}: ${DONE[verdict]}.`,
    ...nextCommands(released, place).map((command) => `Go on with: ${command}`),
  ]
    .map((line) => `${line}\n`)
    .join('');
