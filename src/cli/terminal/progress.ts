import type { SpendingEvent, StartedEvent } from '../../app/run/spending.js';
import { type Message, message } from '../../util/message-parts.js';
import { count, durationInWords, moment, withCommas } from '../../util/words.js';
import { EVERY_MS, type Io, TO_END_OF_LINE } from './io.js';
import { isDenied, looksInWords, outageInWords } from './run-words.js';
import { fitLine, type LinePart } from './text.js';
import { view } from './view.js';

/** Shows the progress of a run: a bar on a terminal, else a plain line every 30 s. */
export class ProgressDisplay {
  readonly #io: Io;
  readonly #total: number;
  readonly #startedAt: number;
  readonly #settledBefore: number;
  readonly #recent: RecentRate;
  readonly #rest: SmoothedRest;
  readonly #stop = new AbortController();
  /** Waiting rows, and until when kybatch looks for their report. Null: the provider has promised it. */
  readonly #waiting = new Map<number, number | null>();
  readonly #parked = new Set<number>();
  /** The counts of all machines, if several work on the run. */
  #ofAllMachines: { readonly waiting: number; readonly parked: number } | undefined;
  readonly #outages = new Outages();
  readonly #delayed = new DelayedRows();
  #settled: number;
  #failed: number;
  #units: number;
  #reports = 0;
  #unitsLeft: number | null = null;
  #isWriting = false;
  #shown: Promise<void>;

  constructor({ rows, outcomes, unitsCharged }: StartedEvent, io: Io) {
    this.#io = io;
    this.#total = rows;
    this.#startedAt = io.clock.now();
    this.#recent = new RecentRate(this.#startedAt);
    this.#rest = new SmoothedRest(this.#startedAt);
    this.#settled = rows - outcomes.pending;
    this.#settledBefore = this.#settled;
    this.#failed = outcomes.failed;
    this.#units = unitsCharged;
    this.#shown = io.interactive ? this.#drawBar() : this.#printLines();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#shown;
  }

  listen(event: SpendingEvent): void {
    const news = view(this.#outages.listen(event), this.#delayed.listen(event));
    if (!this.#io.interactive) this.#io.say(news);
    if (event.kind === 'call_settled') {
      const { unitsCharged, remainingUnits, charge } = event.settlement;
      // As against a limit: the units left, as v1 reports them, are without it, too.
      const possible = event.intent.meter === 'unit' && charge === 'unknown' ? 1 : 0;
      this.#units += unitsCharged ?? possible;
      if (event.intent.meter === 'report' && charge === 'charged') this.#reports += 1;
      if (remainingUnits !== null) this.#unitsLeft = remainingUnits;
    }
    if (event.kind === 'writing_tables') this.#isWriting = true;
    if (event.kind === 'counted') {
      const { byOutcome, unitsCharged, waiting, parked } = event.progress;
      this.#ofAllMachines = { waiting, parked };
      const settled = this.#total - byOutcome.pending;
      for (let more = settled - this.#settled; more > 0; more--) this.#recent.count(this.#io.clock.now());
      this.#settled = settled;
      this.#failed = byOutcome.failed;
      this.#units = unitsCharged;
    }
    if (event.kind === 'row_settled') {
      const { outcome, hold, lookUntil = null } = event.checkpoint;
      if (outcome !== 'pending') {
        this.#settled += 1;
        this.#recent.count(this.#io.clock.now());
      }
      if (outcome === 'failed') this.#failed += 1;
      if (hold === 'waiting') this.#waiting.set(event.row, lookUntil);
      else this.#waiting.delete(event.row);
      if (hold === 'parked') this.#parked.add(event.row);
      else this.#parked.delete(event.row);
    }
  }

  line(): string {
    return fitLine(this.#parts(), Number.POSITIVE_INFINITY);
  }

  #parts(): readonly LinePart[] {
    const now = this.#io.clock.now();
    const seconds = (now - this.#startedAt) / 1000;
    const looks = [...this.#waiting.values()].filter((until) => until !== null);
    const lookUntil = looks.reduce((latest, until) => Math.max(latest, until), 0);
    const { waiting, parked } = this.#held();
    return [
      // Causes that stop all progress come first.
      ...(this.#isWriting && !this.#stop.signal.aborted ? [{ text: 'writing the tables', rank: 0 }] : []),
      ...this.#outages.words(now),
      ...this.#delayed.words(now),
      ...progressParts({
        settled: this.#settled,
        total: this.#total,
        rowsPerSecond: seconds > 0 ? (this.#settled - this.#settledBefore) / seconds : 0,
        units: this.#units,
        unitsLeft: this.#unitsLeft,
        // The reports that other machines bought are unknown here.
        reports: this.#ofAllMachines === undefined ? this.#reports : 0,
        awaited: Math.max(0, waiting - looks.length),
        looks: looks.length,
        lookUntil,
        parked,
        isInteractive: this.#io.interactive,
        failed: this.#failed,
        msToGo: this.#rest.msLeft(now, this.#shareDone(), this.#msToGo(now, looks.length, lookUntil)),
      }),
    ];
  }

  #held(): { readonly waiting: number; readonly parked: number } {
    return this.#ofAllMachines ?? { waiting: this.#waiting.size, parked: this.#parked.size };
  }

  #shareDone(): number {
    const rows = this.#total - this.#settledBefore;
    return rows === 0 ? 1 : (this.#settled - this.#settledBefore) / rows;
  }

  /** The estimated rest. Null: unknown. Rows on hold and rows whose report may be lost are left out. */
  #msToGo(now: number, looks: number, lookUntil: number): number | null {
    const open = this.#total - this.#settled - looks - this.#held().parked;
    const rate = this.#recent.perSecond(now);
    if (open > 0 && rate === 0) return null;
    const ms = Math.max(open > 0 ? (open / rate) * 1000 : 0, lookUntil - now);
    return ms > 0 ? ms : null;
  }

  async #printLines(): Promise<void> {
    while (await this.#pause(EVERY_MS.plain)) this.#io.say(message('PROGRESS', this.line()));
  }

  async #drawBar(): Promise<void> {
    const draw = () =>
      this.#io.draw(`\r${barLine(this.#settled, this.#total, this.#parts(), this.#io.columns)}${TO_END_OF_LINE}`);
    this.#io.draw(HIDE_CURSOR);
    do draw();
    while (await this.#pause(EVERY_MS.terminal));
    draw();
    this.#io.draw(`${SHOW_CURSOR}\n`);
  }

  async #pause(ms: number): Promise<boolean> {
    return await this.#io.clock.sleep(ms, this.#stop.signal).then(
      () => true,
      () => false,
    );
  }
}

export interface Reached {
  readonly settled: number;
  readonly total: number;
  readonly rowsPerSecond: number;
  readonly units: number;
  readonly unitsLeft: number | null;
  readonly reports: number;
  /** Reports that the provider has promised. */
  readonly awaited: number;
  /** Reports that may be lost. */
  readonly looks: number;
  readonly lookUntil: number;
  readonly parked: number;
  readonly failed: number;
  readonly msToGo: number | null;
  /** Without a terminal there is no Ctrl-C. */
  readonly isInteractive?: boolean;
}

/** "120 of 400 rows, 14.2 rows/s, 240 units, 760 units left, 12 reports pending, 1 failed, about 20 s left" */
export function progressParts({
  settled,
  total,
  rowsPerSecond,
  units,
  unitsLeft,
  reports,
  awaited,
  looks,
  lookUntil,
  parked,
  failed,
  msToGo,
  isInteractive = true,
}: Reached): readonly LinePart[] {
  const parts: readonly (LinePart | false)[] = [
    {
      text: `${withCommas(settled)} of ${count(total, 'row')}`,
      short: `${withCommas(settled)}/${total < 100_000 ? count(total, 'row') : withCommas(total)}`,
      rank: 1,
    },
    { text: `${rowsPerSecond.toFixed(1)} rows/s`, short: `${rowsPerSecond.toFixed(1)}/s`, rank: 11 },
    { text: count(units, 'unit'), rank: 7 },
    unitsLeft !== null && { text: `${count(unitsLeft, 'unit')} left`, rank: 10 },
    reports > 0 && { text: `${count(reports, 'report')} bought`, rank: 9 },
    awaited > 0 && { text: `${count(awaited, 'report')} pending`, rank: 3 },
    looks > 0 && { text: looksInWords(looks, lookUntil), short: `${count(looks, 'report')} looked for`, rank: 4 },
    parked > 0 && { text: `${withCommas(parked)} on hold`, rank: 8 },
    failed > 0 && { text: `${withCommas(failed)} failed`, rank: 6 },
    msToGo !== null && {
      text: `about ${durationInWords(msToGo)} left`,
      short: `~${durationInWords(msToGo)}`,
      rank: 2,
    },
    isInteractive &&
      awaited + looks > 0 &&
      settled + awaited + looks + parked >= total && { text: WAITS_ONLY, short: 'Ctrl-C: resume later', rank: 5 },
  ];
  return parts.filter((part) => part !== false);
}

const WAITS_ONLY = 'Ctrl-C stops the wait, and resume continues it at no extra cost';

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';

/** A bar and words that fit the terminal. The last column stays free: some terminals wrap when it is written. */
export function barLine(done: number, total: number, parts: readonly LinePart[], columns: number): string {
  const size = columns >= WIDE ? 20 : columns >= NARROW ? 14 : 0;
  const share = total === 0 ? 0 : done / total;
  const filled = Math.round(share * size);
  const bar = size === 0 ? '' : `${'█'.repeat(filled)}${'░'.repeat(size - filled)} `;
  return `${bar}${Math.floor(share * 100)}%  ${fitLine(parts, columns - size - 8, '  ')}`;
}

/** The least columns for a long bar and for a short one. Below them the words need the room. */
const WIDE = 120;
const NARROW = 70;

const WINDOW_MS = 60_000;

/** Rows a second over the last minute, so that an old pause does not count for ever. */
export class RecentRate {
  readonly #startedAt: number;
  #times: number[] = [];

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  count(now: number): void {
    this.#times.push(now);
  }

  perSecond(now: number): number {
    this.#times = this.#times.filter((at) => at > now - WINDOW_MS);
    const seconds = Math.min(WINDOW_MS, now - this.#startedAt) / 1000;
    return seconds > 0 ? this.#times.length / seconds : 0;
  }
}

/** The first estimates are far off, so none is shown before this much time or this share. */
const FIRST_ESTIMATE = { ms: 20_000, share: 0.1 } as const;

/** The time in which an estimate follows a change of speed by about two thirds. */
const FOLLOWS_IN_MS = 10_000;

/** An estimate of the remaining time that does not jump when the speed changes. */
export class SmoothedRest {
  readonly #startedAt: number;
  #last: { readonly at: number; readonly endsAt: number } | undefined;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  /** `msToGo`: the rest at the present speed. Null: unknown. */
  msLeft(now: number, shareDone: number, msToGo: number | null): number | null {
    if (msToGo === null) return null;
    if (shareDone < FIRST_ESTIMATE.share && now - this.#startedAt < FIRST_ESTIMATE.ms) return null;
    const last = this.#last ?? { at: now, endsAt: now + msToGo };
    const weight = 1 - Math.exp(-(now - last.at) / FOLLOWS_IN_MS);
    const endsAt = last.endsAt + (now + msToGo - last.endsAt) * weight;
    this.#last = { at: now, endsAt };
    return Math.max(1000, endsAt - now);
  }
}

type Retry = Extract<SpendingEvent, { kind: 'retry' }>;

/** Rows whose call the provider has delayed, while it may answer others. */
export class DelayedRows {
  readonly #rows = new Map<number, Retry>();

  /** The message for the first delayed row. Further rows give none. */
  listen(event: SpendingEvent): Message | undefined {
    // One message about the outage covers all rows of the operation.
    if (event.kind === 'outage')
      for (const [row, { operation }] of this.#rows) if (operation === event.operation) this.#rows.delete(row);
    if (event.kind === 'row_settled') this.#rows.delete(event.row);
    if (event.kind === 'call_settled' && event.intent.row !== null) this.#rows.delete(event.intent.row);
    if (event.kind !== 'retry' || event.row === null || event.waitMs < WORTH_A_MESSAGE_MS) return undefined;
    const isFirst = this.#rows.size === 0;
    this.#rows.set(event.row, event);
    return isFirst ? firstDelayInWords(event) : undefined;
  }

  /** "row 3 waiting for v1 searchKyb (HTTP_429), next try in 40 s" */
  words(now: number): readonly LinePart[] {
    const [first, ...others] = [...this.#rows.values()].sort((a, b) => triedAt(a) - triedAt(b));
    if (first === undefined) return [];
    const { row, api, operation, code } = first;
    const rows = others.length === 0 ? `row ${row}` : `row ${row} and ${count(others.length, 'other')}`;
    return [
      {
        text: `${rows} waiting for ${api} ${operation} (${code}), next try ${inWords(triedAt(first) - now)}`,
        short: `${count(this.#rows.size, 'row')} waiting`,
        rank: 5,
      },
    ];
  }
}

const triedAt = ({ at, waitMs }: Retry): number => at + waitMs;

const firstDelayInWords = ({ row, api, operation, code, waitMs, givesUpAt }: Retry): Message =>
  message(
    'ROW_DELAYED',
    `Row ${row} waits for ${api} ${operation} (${code}). Next try in ${durationInWords(waitMs)}, until ${moment(givesUpAt)} at most.`,
  );

/** Shorter waits are over before a person reads the message. */
const WORTH_A_MESSAGE_MS = 5_000;

type Outage = Extract<SpendingEvent, { kind: 'outage' }>;

export class Outages {
  readonly #open = new Map<string, Outage>();
  /** The last outage of each operation that was reported, by its beginning. */
  readonly #reported = new Map<string, number>();

  /** The message when an outage begins or ends. A provider that comes and goes is reported once a minute. */
  listen(event: SpendingEvent): Message | undefined {
    if (event.kind !== 'outage' && event.kind !== 'recovered') return undefined;
    const { operation, since } = event;
    const last = this.#reported.get(operation) ?? Number.NEGATIVE_INFINITY;
    if (event.kind === 'outage') {
      this.#open.set(operation, event);
      if (last === since || event.nextTryAt - last < REPORTED_EVERY_MS) return undefined;
      this.#reported.set(operation, since);
      return outageMessage(event);
    }
    this.#open.delete(operation);
    if (last !== since) return undefined;
    return message(
      'RECOVERED',
      `✓ ${event.api} ${operation} answers again after ${durationInWords(event.at - event.since)}. The run continues.`,
      'done',
    );
  }

  /** "waiting for v1 searchKyb (HTTP_503) for 3 min 20 s, next try in 40 s" */
  words(now: number): readonly LinePart[] {
    return [...this.#open.values()].map(({ api, operation, code, since, nextTryAt }) => ({
      text: `waiting for ${api} ${operation} (${code}) for ${durationInWords(now - since)}, next try ${inWords(nextTryAt - now)}`,
      short: `waiting for ${api} ${operation}, next try ${inWords(nextTryAt - now)}`,
      rank: 0,
    }));
  }
}

const REPORTED_EVERY_MS = 60_000;

const outageMessage = (outage: Outage): Message =>
  message(
    'OUTAGE',
    `! ${outageInWords(outage)}. kybatch tries again until ${moment(outage.givesUpAt)} at most, then stops.${isDenied(outage.code) ? ' `kybatch doctor` checks the key.' : ''}`,
    'attention',
  );

const inWords = (ms: number): string => (ms <= 0 ? 'now' : `in ${durationInWords(ms)}`);
