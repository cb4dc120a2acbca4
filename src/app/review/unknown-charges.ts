// Lists calls with unknown charge, and records a person's decision about them.

import { v2Operations } from '../../api/v2/operations.js';
import { lostAtMost } from '../../calls/settlement.js';
import { UsageError } from '../../domain/errors.js';
import { isUnknownCharge } from '../../domain/outcomes.js';
import { markCallsOfEarlierAttempts } from '../../engine/lease.js';
import type { Ledger } from '../../ledger/ledger.js';
import {
  contradicts,
  missingUnits,
  PROVIDER_GIVES_UP_MS,
  type ReportedUnits,
} from '../../ledger/money/provider-count.js';
import type {
  CallUnderWay,
  ChargeVerdict,
  UnknownChargeCall,
  UnknownChargeSelection,
} from '../../ledger/money/unknown-charges.js';
import type { RowRef } from '../../ledger/review/review.js';
import { pick } from '../../util/view-json.js';
import { type DeciderOptions, deciderName, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';
import { isLedgerHeld } from '../run/process.js';
import { type ReleasedRun, releasedRuns, rowsWithUnknownCharge } from '../run/progress.js';
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
  /** Rows on hold for these calls, as a run counts them. Several may wait for one call. */
  readonly rowsOnHold: number;
  /** The runs of all listed calls, if none of the named runs or calls is listed. */
  readonly elsewhere: readonly ChargesOfRun[];
  /** Requests that the next run repeats. Each may have several lost calls. */
  readonly repeated: number;
  /** Calls of a process that is or may be running: their charge is not known yet. */
  readonly underWay: readonly CallUnderWay[];
  /** Runs with rows that were parked for a call and can continue now. */
  readonly released: readonly ReleasedRun[];
  /** A running process holds the ledger, so no charge can be recorded now. */
  readonly isHeld: boolean;
}

export interface ChargesOfRun {
  readonly run: string | null;
  readonly calls: number;
}

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
      rowsOnHold: await rowsOnHold(calls, options, ledger, now),
      elsewhere: calls.length > 0 ? [] : await chargesElsewhere(options, ledger, now),
      repeated: countRequests(calls.filter((call) => call.waitsFor === 'next_run' && isUnknownCharge(call))),
      underWay: await ledger.unknownCharges.underWay(now),
      released: await releasedRuns(free, ledger),
      isHeld: await isLedgerHeld(options, environment, 1),
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
  /** Until then the provider may still charge for one of the calls. Null: no longer. */
  readonly mayBeChargedUntil: number | null;
}

/** A verdict that the provider's remaining units contradict. */
export interface Contradiction extends Pick<ReportedUnits, 'calls' | 'from' | 'to' | 'known' | 'otherUnknown'> {
  /** Missing units beyond the known charges. */
  readonly missing: number;
}

export interface RecordedChargesView {
  readonly outcome: 'settled' | 'nothing_found' | 'not_agreed';
  readonly calls: readonly UnknownChargeView[];
  readonly contradictions: readonly Contradiction[];
  readonly mayBeChargedUntil: number | null;
  /** As for a list, if nothing was found. */
  readonly elsewhere: readonly ChargesOfRun[];
  readonly released: readonly ReleasedRun[];
  /** Runs whose rows failed: only `retry` sends their calls again. */
  readonly failed: readonly ReleasedRun[];
  /** Calls that still hold a row. */
  readonly holding: readonly UnknownChargeView[];
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
    const found = await chosen(options, verdict === 'resend' ? 'none' : 'named', ledger, now);
    const calls = found.filter((call) => applies(verdict, call, options.which));
    const mayBeChargedUntil = openUntil(calls, now);
    const none = { contradictions: [], mayBeChargedUntil, elsewhere: [], released: [], failed: [], holding: [] };
    const elsewhere = calls.length > 0 ? [] : await chargesElsewhere(options, ledger, now);
    if (calls.length === 0) return { outcome: 'nothing_found', calls, ...none, elsewhere };
    const ids = calls.map(({ id }) => id);
    const contradictions =
      verdict === 'resend' ? [] : contradictionsOf(await ledger.unknownCharges.unitsTold(ids), verdict);
    const consent = (await options.agree?.({ calls, contradictions, mayBeChargedUntil })) ?? { agreed: true };
    if (!consent.agreed) return { outcome: 'not_agreed', calls, ...none };
    const reason = options.reason ?? consent.reason;
    const against = contradictions.flatMap((contradiction) => contradiction.calls);
    const note = noteOf(verdict, reason, deciderName(options, environment), now);
    const notes = new Map(against.map((id) => [id, `${note} (against the remaining units)`]));
    const freed = await ledger.unknownCharges.settle(ids, verdict, note, notes);
    const settled = await withResendState(
      await ledger.unknownCharges.list({ calls: ids, runs: [], settled: 'named' }, now),
      ledger,
    );
    return {
      outcome: 'settled',
      calls: settled,
      contradictions,
      mayBeChargedUntil,
      elsewhere,
      released: await releasedRuns(eachOnce([...freed, ...rowsSentAgain(settled, 'next_start')]), ledger),
      failed: await releasedRuns(eachOnce(rowsSentAgain(settled, 'retry')), ledger),
      holding: (await chosen({}, 'none', ledger, now)).filter(({ sentAgain }) => sentAgain === 'person'),
    };
  });
}

/** A known charge changes only by its number. A charged call without an answer is sent again by `resend` alone. */
function applies(verdict: ChargeVerdict, call: UnknownChargeView, which: readonly string[] = []): boolean {
  if (verdict === 'resend' || isUnknownCharge(call)) return true;
  return which.includes(String(call.id)) && (verdict === 'free' || call.sentAgain !== 'person');
}

const rowsSentAgain = (calls: readonly UnknownChargeView[], by: UnknownChargeView['sentAgain']): readonly RowRef[] =>
  calls.flatMap(({ runId, row, sentAgain }) =>
    runId === null || row === null || sentAgain !== by ? [] : { runId, row },
  );

/** A row may have several unknown charges. */
const eachOnce = (rows: readonly RowRef[]): readonly RowRef[] => [
  ...new Map(rows.map(({ runId, row }) => [`${runId} ${row}`, { runId, row }])).values(),
];

/** The provider may still process a call without a response, and charge for it (V1-6). */
function openUntil(calls: readonly UnknownChargeCall[], now: number): number | null {
  const ends = calls.flatMap((call) =>
    isUnknownCharge(call) && call.httpStatus === null ? call.startedAt + PROVIDER_GIVES_UP_MS : [],
  );
  return ends.some((end) => end > now) ? Math.max(...ends) : null;
}

/** The rows of the named calls, or all rows on hold in the named runs. */
async function rowsOnHold(
  calls: readonly UnknownChargeView[],
  { which = [] }: UnknownChargesOptions,
  ledger: Ledger,
  now: number,
): Promise<number> {
  const selection = await readSelection(which, ledger);
  const isOf = (id: string) => selection.runs.length === 0 || selection.runs.includes(id);
  if (selection.calls.length > 0)
    return new Set(calls.flatMap(({ sentAgain, runId, row }) => (sentAgain === 'person' ? `${runId} ${row}` : [])))
      .size;
  const open = (await ledger.runs.all()).filter(({ id, state }) => state === 'open' && isOf(id));
  const held = await Promise.all(open.map((run) => rowsWithUnknownCharge(run, ledger, now)));
  return held.reduce((sum, rows) => sum + rows, 0);
}

/** For a selection without listed calls: the runs that have some. */
async function chargesElsewhere(
  { which = [] }: UnknownChargesOptions,
  ledger: Ledger,
  now: number,
): Promise<readonly ChargesOfRun[]> {
  if (which.length === 0) return [];
  const counts = new Map<string | null, number>();
  const calls = await ledger.unknownCharges.list({ calls: [], runs: [] }, now);
  for (const { runId } of calls) counts.set(runId, (counts.get(runId) ?? 0) + 1);
  return [...counts].map(([run, count]) => ({ run, calls: count }));
}

const contradictionsOf = (told: readonly ReportedUnits[], verdict: 'charged' | 'free'): readonly Contradiction[] =>
  told
    .filter((units) => contradicts(units, verdict))
    .map((units) => ({
      ...pick(units, 'calls', 'from', 'to', 'known', 'otherUnknown'),
      missing: missingUnits(units),
    }));

const WORDS: Readonly<Record<ChargeVerdict, string>> = {
  resend: 'resend allowed',
  charged: 'recorded as charged',
  free: 'recorded as free',
};

function noteOf(verdict: ChargeVerdict, reason: string | undefined, by: string, now: number): string {
  const why = reason?.trim();
  return `${WORDS[verdict]} by ${by}, ${new Date(now).toISOString()}${why ? `: ${why}` : ''}`;
}

/** Rows on hold although no call holds them any more: it was answered for another row. */
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

/** `nothing`: it was answered since, or its row finished without it. */
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
 * A person decides if rows are on hold for the call, or if its charge is unknown although its row has continued. A call
 * answered since was handled by the pipeline, but only a person can find out whether a report was paid for twice. Watch
 * calls are left out, because the next run repeats them at no extra cost. `continues`: other rows of its run ask v1
 * again, whose count may then settle a call that holds no row.
 */
function waitsFor(call: UnknownChargeCall, again: SentAgain, continues: boolean): WaitsFor {
  const { operation, holds, charge, note, answered, meter, isCounted } = call;
  if (ASKED_EVERY_NIGHT.includes(operation)) return 'nothing';
  const isUnknown = isUnknownCharge({ charge });
  const isOpen = holds
    ? again !== 'nothing' || isUnknown
    : answered && meter === 'report' && isUnknown && note === null;
  if (!isOpen) return 'nothing';
  if (again === 'person') return 'person';
  return again === 'next_start' || (isCounted && continues) ? 'next_run' : 'person';
}
