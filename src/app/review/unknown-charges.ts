// Lists calls with unknown charge, and records a person's decision about them.

import { v2Operations } from '../../api/v2/operations.js';
import { lostAtMost } from '../../calls/settlement.js';
import { UsageError } from '../../domain/errors.js';
import { markCallsOfEarlierAttempts } from '../../engine/lease.js';
import type { Ledger } from '../../ledger/ledger.js';
import { contradicts, missingUnits, type ReportedUnits } from '../../ledger/money/provider-count.js';
import type {
  CallUnderWay,
  ChargeVerdict,
  UnknownChargeCall,
  UnknownChargeSelection,
} from '../../ledger/money/unknown-charges.js';
import type { RowRef } from '../../ledger/review/review.js';
import { type DeciderOptions, deciderName, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';
import { type ReleasedRun, releasedRuns } from '../run/progress.js';
import { namedRun } from '../run/runs.js';
import { readSettings } from '../run/stored-settings.js';

export interface UnknownChargesOptions extends PlaceOptions {
  /** Numbers of calls, or runs. Default: all. */
  readonly which?: readonly string[] | undefined;
}

export interface ListUnknownChargesOptions extends UnknownChargesOptions {
  /** Includes calls with a recorded charge, with every entry about them. */
  readonly settled?: boolean | undefined;
}

export interface UnknownChargesView {
  /** The oldest first. */
  readonly calls: readonly UnknownChargeView[];
  /** Requests that the next run repeats. Each may have several lost calls. */
  readonly repeated: number;
  /** Calls of a process that is or may be running: their charge is not known yet. */
  readonly underWay: readonly CallUnderWay[];
  /** Runs with rows that were parked for a call and can continue now. */
  readonly released: readonly ReleasedRun[];
}

/** Calls with unknown charge. */
export function listUnknownCharges(
  options: ListUnknownChargesOptions = {},
  environment = processEnvironment(),
): Promise<UnknownChargesView> {
  return withLedger('read', options, environment, async (ledger) => {
    const now = environment.clock.now();
    const calls = await chosen(options, options.settled ? 'all' : 'none', ledger, now);
    const free = calls.some(({ holds }) => holds) ? [] : await stillHeld(ledger);
    return {
      calls,
      repeated: countRequests(calls.filter(({ waitsFor }) => waitsFor === 'next_run')),
      underWay: await ledger.unknownCharges.underWay(now),
      released: await releasedRuns(free, ledger),
    };
  });
}

export interface RecordChargesOptions extends UnknownChargesOptions, DeciderOptions {
  /** `resend`: the charge stays unknown and the rows continue. */
  readonly verdict: ChargeVerdict;
  /** The reason, stored with each call beside person and time. */
  readonly reason?: string | undefined;
  /** Called once with the proposal, unless it is empty. Without it, no confirmation is asked. */
  readonly agree?: ((proposal: ChargeProposal) => Promise<Consent>) | undefined;
}

/** A reason given with the yes is stored like `reason`. */
export type Consent = { readonly agreed: false } | { readonly agreed: true; readonly reason?: string | undefined };

export interface ChargeProposal {
  readonly calls: readonly UnknownChargeView[];
  readonly contradictions: readonly Contradiction[];
}

/** A verdict that the provider's remaining units contradict. */
export interface Contradiction extends Pick<ReportedUnits, 'calls' | 'from' | 'to' | 'known' | 'otherUnknown'> {
  /** Missing units beyond the known charges. */
  readonly missing: number;
}

export interface RecordedChargesView {
  readonly outcome: 'settled' | 'nothing_found' | 'not_agreed';
  /** After the change. */
  readonly calls: readonly UnknownChargeView[];
  readonly contradictions: readonly Contradiction[];
  /** Runs whose rows can continue. */
  readonly released: readonly ReleasedRun[];
  /** Runs whose rows failed: only `retry` sends their calls again. */
  readonly failed: readonly ReleasedRun[];
}

/** Records what such calls cost as a person found out, or allows the same request to be sent again. */
export function recordCharges(
  options: RecordChargesOptions,
  environment = processEnvironment(),
): Promise<RecordedChargesView> {
  return withLedger('existing', options, environment, async (ledger) => {
    const now = environment.clock.now();
    // A process that opens a ledger file for writing is alone, so open calls belong to a process that died.
    await markCallsOfEarlierAttempts(ledger, now);
    const { verdict } = options;
    const calls = await chosen(options, verdict === 'resend' ? 'none' : 'named', ledger, now);
    const none = { contradictions: [], released: [], failed: [] };
    if (calls.length === 0) return { outcome: 'nothing_found', calls, ...none };
    const ids = calls.map(({ id }) => id);
    const contradictions =
      verdict === 'resend' ? [] : contradictionsOf(await ledger.unknownCharges.unitsTold(ids), verdict);
    const consent = (await options.agree?.({ calls, contradictions })) ?? { agreed: true };
    if (!consent.agreed) return { outcome: 'not_agreed', calls, ...none };
    const reason = options.reason ?? consent.reason;
    const against = contradictions.flatMap((contradiction) => contradiction.calls);
    const note = noteOf(verdict, reason, deciderName(options, environment), now);
    const notes = new Map(against.map((id) => [id, `${note} (against the remaining units)`]));
    await ledger.unknownCharges.settle(ids, verdict, note, notes);
    const settled = await withResendState(
      await ledger.unknownCharges.list({ calls: ids, runs: [], settled: 'named' }, now),
      ledger,
    );
    const held = await stillHeld(ledger);
    return {
      outcome: 'settled',
      calls: settled,
      contradictions,
      released: await releasedRuns([...rowsSentAgain(settled, 'next_start'), ...held], ledger),
      failed: await releasedRuns(rowsSentAgain(settled, 'retry'), ledger),
    };
  });
}

/** Each row once, even with several unknown charges. */
const rowsSentAgain = (calls: readonly UnknownChargeView[], by: UnknownChargeView['sentAgain']): readonly RowRef[] => [
  ...new Map(
    calls.flatMap(({ runId, row, sentAgain }) =>
      runId === null || row === null || sentAgain !== by ? [] : [[`${runId} ${row}`, { runId, row }] as const],
    ),
  ).values(),
];

const contradictionsOf = (told: readonly ReportedUnits[], verdict: 'charged' | 'free'): readonly Contradiction[] =>
  told
    .filter((units) => contradicts(units, verdict))
    .map((units) => {
      const { calls, from, to, known, otherUnknown } = units;
      return { calls, from, to, known, otherUnknown, missing: missingUnits(units) };
    });

const WORDS: Readonly<Record<ChargeVerdict, string>> = {
  resend: 'resend allowed',
  charged: 'recorded as charged',
  free: 'recorded as free',
};

function noteOf(verdict: ChargeVerdict, reason: string | undefined, by: string, now: number): string {
  const why = reason?.trim();
  return `${WORDS[verdict]} by ${by}, ${new Date(now).toISOString()}${why ? `: ${why}` : ''}`;
}

/** Rows of other runs may wait for the same call. Their next attempt finds out. */
async function stillHeld({ runs }: Ledger) {
  const open = (await runs.all()).filter(({ state }) => state === 'open');
  const held = await Promise.all(
    open.map(async ({ id }) => ({ runId: id, count: (await runs.progress(id)).parkedReasons.in_doubt ?? 0 })),
  );
  return held.flatMap(({ runId, count }) => Array.from({ length: count }, (_, row) => ({ runId, row })));
}

async function chosen(
  { which = [] }: UnknownChargesOptions,
  settled: NonNullable<UnknownChargeSelection['settled']>,
  ledger: Ledger,
  now: number,
): Promise<readonly UnknownChargeView[]> {
  const selection = { ...(await readSelection(which, ledger)), settled };
  const found = await ledger.unknownCharges.list(selection, now);
  const unknown = selection.calls.find((id) => !found.some((call) => call.id === id));
  if (unknown === undefined) return await withResendState(found, ledger);
  // The short ID of a run may have no letter.
  const short = String(unknown).padStart(6, '0');
  const run = (await ledger.runs.all()).find(({ id }) => id.endsWith(`-${short}`));
  if (run !== undefined)
    return await chosen({ which: which.map((word) => (word === short ? run.id : word)) }, settled, ledger, now);
  throw new UsageError(
    'CHARGE_NOT_UNKNOWN',
    `the charge of call ${unknown} is not unknown`,
    'List the calls: `kybatch charges list --settled`',
  );
}

async function readSelection(which: readonly string[], { runs }: Ledger): Promise<UnknownChargeSelection> {
  const isCall = (word: string) => /^\d{1,15}$/.test(word);
  const named = which.filter((word) => !isCall(word)).map(async (word) => (await namedRun(word, { runs })).id);
  return { calls: which.filter(isCall).map(Number), runs: await Promise.all(named) };
}

/** A call with unknown charge, what sends its request again, and what it waits for. */
export interface UnknownChargeView extends UnknownChargeCall {
  readonly sentAgain: SentAgain;
  readonly waitsFor: WaitsFor;
}

/** A person decides, the next run settles the charge or repeats the request, or nothing more is to be done. */
export type WaitsFor = 'person' | 'next_run' | 'nothing';

/**
 * What sends the request again: a person's decision, the next attempt, a retry of the failed row, or a direct call.
 * `nothing`: it was answered since, or its row finished without it.
 */
export type SentAgain = 'person' | 'next_start' | 'retry' | 'by_hand' | 'nothing';

/** Adds what each run's pipeline allows. */
export async function withResendState(
  calls: readonly UnknownChargeCall[],
  { runs }: Pick<Ledger, 'runs'>,
): Promise<readonly UnknownChargeView[]> {
  const known = new Map<string | null, { readonly lostAllowed: number; readonly continues: boolean }>();
  for (const { runId } of calls) {
    if (runId === null || known.has(runId)) continue;
    const run = await runs.find(runId);
    if (run === undefined) continue;
    const { byOutcome, parkedReasons } = await runs.progress(runId);
    const continues = run.state === 'open' && byOutcome.pending > (parkedReasons.in_doubt ?? 0);
    known.set(runId, { lostAllowed: lostAtMost(readSettings(run).pipeline), continues });
  }
  return calls.map((call) => {
    const { lostAllowed, continues = false } = known.get(call.runId) ?? {};
    const again = sentAgain(call, lostAllowed);
    return { ...call, sentAgain: again, waitsFor: waitsFor(call, again, continues) };
  });
}

/** Several lost tries are one request. */
export const countRequests = (calls: readonly UnknownChargeCall[]): number =>
  new Set(calls.map(({ api, environment, requestKey }) => `${api} ${environment} ${requestKey}`)).size;

/** `lostAllowed`: how many lost calls of one request the pipeline allows. Undefined if the run is gone. */
function sentAgain(call: UnknownChargeCall, lostAllowed: number | undefined): SentAgain {
  const { runId, rowOutcome, rowParkedFor, meter, lost, holds, answered } = call;
  if (answered) return 'nothing';
  if (runId === null) return 'by_hand';
  if (lostAllowed === undefined || (rowOutcome !== 'pending' && rowOutcome !== 'failed')) return 'nothing';
  // A report is looked for first, however often it was lost.
  const isHeld = rowParkedFor === 'in_doubt' || (meter !== 'report' && lost >= Math.max(1, lostAllowed));
  if (holds && isHeld) return 'person';
  return rowOutcome === 'failed' ? 'retry' : 'next_start';
}

const ASKED_EVERY_NIGHT: readonly string[] = [v2Operations.watchHistory.name, v2Operations.watchList.name];

/**
 * A person decides if rows wait for the call, or if its charge is unknown although its row has continued. A call
 * answered since was handled by the pipeline, but only a person can find out whether a report was paid for twice. Watch
 * calls are left out, because the next run repeats them at no extra cost. `continues`: other rows of its run ask v1
 * again, whose count may then settle the call.
 */
function waitsFor(call: UnknownChargeCall, again: SentAgain, continues: boolean): WaitsFor {
  const { operation, holds, charge, note, answered, meter, isCounted } = call;
  if (ASKED_EVERY_NIGHT.includes(operation)) return 'nothing';
  const isOpen = holds
    ? again !== 'nothing' || charge === 'unknown'
    : answered && meter === 'report' && charge === 'unknown' && note === null;
  if (!isOpen) return 'nothing';
  return again === 'next_start' || (isCounted && continues) ? 'next_run' : 'person';
}
