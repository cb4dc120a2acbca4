import { Writable } from 'node:stream';
import type { SpendingEvent, StartedEvent } from '../../app/run/spending.js';
import { lazyPackage } from '../../util/lazy-package.js';
import { type Message, message } from '../../util/message-parts.js';
import type { Io } from './io.js';
import { looksInWords } from './run-words.js';
import { count, durationInWords, fitLine, type LinePart, moment, withCommas } from './text.js';

const cliProgress = lazyPackage<typeof import('cli-progress')>('cli-progress');

const EVERY_MS = { terminal: 250, plain: 30_000 } as const;

/** Counts what happens to a run and shows it: a bar on a terminal, a plain line every 30 s without one. */
export class ProgressDisplay {
  readonly #io: Io;
  readonly #total: number;
  readonly #startedAt: number;
  readonly #settledBefore: number;
  readonly #recent: RecentRate;
  readonly #stop = new AbortController();
  /** Rows that wait, and until when their report is looked for; null where it is known to come. */
  readonly #waiting = new Map<number, number | null>();
  readonly #parked = new Set<number>();
  /** Where several work on it: what was counted of all of them. */
  #together: { readonly waiting: number; readonly parked: number } | undefined;
  readonly #outages = new Outages();
  readonly #putOff = new DelayedRows();
  #settled: number;
  #failed: number;
  #units: number;
  #reports = 0;
  #unitsLeft: number | null = null;
  #shown: Promise<void>;

  constructor({ rows, outcomes, unitsCharged }: StartedEvent, io: Io) {
    this.#io = io;
    this.#total = rows;
    this.#startedAt = io.clock.now();
    this.#recent = new RecentRate(this.#startedAt);
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
    for (const news of [this.#outages.listen(event), this.#putOff.listen(event)])
      if (news !== undefined && !this.#io.interactive) this.#io.say(news);
    if (event.kind === 'call_settled') {
      const { unitsCharged, remainingUnits, charge } = event.settlement;
      this.#units += unitsCharged ?? 0;
      if (event.intent.meter === 'report' && charge === 'charged') this.#reports += 1;
      if (remainingUnits !== null) this.#unitsLeft = remainingUnits;
    }
    if (event.kind === 'counted') {
      const { byOutcome, unitsCharged, waiting, parked } = event.progress;
      this.#together = { waiting, parked };
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

  /** All that there is to say, however long. */
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
      // What keeps everything else from going on comes first.
      ...this.#outages.words(now),
      ...this.#putOff.words(now),
      ...progressParts({
        settled: this.#settled,
        total: this.#total,
        rowsPerSecond: seconds > 0 ? (this.#settled - this.#settledBefore) / seconds : 0,
        units: this.#units,
        unitsLeft: this.#unitsLeft,
        // What others have bought is not told here.
        reports: this.#together === undefined ? this.#reports : 0,
        awaited: Math.max(0, waiting - looks.length),
        looks: looks.length,
        lookUntil,
        parked,
        failed: this.#failed,
        msToGo: this.#msToGo(now, lookUntil),
      }),
    ];
  }

  #held(): { readonly waiting: number; readonly parked: number } {
    return this.#together ?? { waiting: this.#waiting.size, parked: this.#parked.size };
  }

  /** Null where nobody can say: rows that wait or are parked take the time that what they wait for takes. */
  #msToGo(now: number, lookUntil: number): number | null {
    const { waiting, parked } = this.#held();
    const open = this.#total - this.#settled - waiting - parked;
    const rate = this.#recent.perSecond(now);
    if (open > 0 && rate === 0) return null;
    const ms = Math.max(open > 0 ? (open / rate) * 1000 : 0, lookUntil - now);
    return ms > 0 ? ms : null;
  }

  async #printLines(): Promise<void> {
    while (await this.#pause(EVERY_MS.plain)) this.#io.say(message('PROGRESS', this.line()));
  }

  async #drawBar(): Promise<void> {
    const bar = startBar(this.#total, this.#settled, this.#parts(), this.#io);
    while (await this.#pause(EVERY_MS.terminal)) bar.update(this.#settled, this.#parts());
    bar.update(this.#settled, this.#parts());
    bar.stop();
  }

  /** False once the display is stopped. */
  async #pause(ms: number): Promise<boolean> {
    return await this.#io.clock.sleep(ms, this.#stop.signal).then(
      () => true,
      () => false,
    );
  }
}

/** How far a start has come. */
export interface Reached {
  readonly settled: number;
  readonly total: number;
  readonly rowsPerSecond: number;
  readonly units: number;
  readonly unitsLeft: number | null;
  readonly reports: number;
  /** Reports that are known to come, and those that may be lost. */
  readonly awaited: number;
  readonly looks: number;
  readonly lookUntil: number;
  readonly parked: number;
  readonly failed: number;
  readonly msToGo: number | null;
}

/** "120 of 400 rows, 14.2 rows/s, 240 units spent, 760 left, 12 reports awaited, 1 failed, about 20 s to go" */
export const progressParts = (reached: Reached): readonly LinePart[] => [
  {
    text: `${withCommas(reached.settled)} of ${count(reached.total, 'row')}`,
    short: `${withCommas(reached.settled)}/${withCommas(reached.total)}`,
    rank: 1,
  },
  { text: `${reached.rowsPerSecond.toFixed(1)} rows/s`, short: `${reached.rowsPerSecond.toFixed(1)}/s`, rank: 11 },
  { text: `${count(reached.units, 'unit')} spent`, short: count(reached.units, 'unit'), rank: 7 },
  ...(reached.unitsLeft === null ? [] : [{ text: `${withCommas(reached.unitsLeft)} left`, rank: 10 }]),
  ...(reached.reports === 0
    ? []
    : [
        {
          text: `${count(reached.reports, 'report')} bought`,
          short: `${withCommas(reached.reports)} bought`,
          rank: 9,
        },
      ]),
  ...(reached.awaited === 0
    ? []
    : [
        {
          text: `${count(reached.awaited, 'report')} awaited`,
          short: `${withCommas(reached.awaited)} awaited`,
          rank: 3,
        },
      ]),
  ...(reached.looks === 0
    ? []
    : [
        {
          text: looksInWords(reached.looks, reached.lookUntil),
          short: `${withCommas(reached.looks)} looked for`,
          rank: 4,
        },
      ]),
  ...(reached.parked === 0 ? [] : [{ text: `${withCommas(reached.parked)} parked`, rank: 8 }]),
  ...(reached.failed === 0 ? [] : [{ text: `${withCommas(reached.failed)} failed`, rank: 6 }]),
  ...(reached.msToGo === null
    ? []
    : [
        {
          text: `about ${durationInWords(reached.msToGo)} to go`,
          short: `${durationInWords(reached.msToGo)} to go`,
          rank: 2,
        },
      ]),
];

export interface Bar {
  update(done: number, parts: readonly LinePart[]): void;
  stop(): void;
}

/** A bar on stderr that fits the terminal. It leaves signals alone: an interrupt drains the run first. */
export function startBar(total: number, done: number, parts: readonly LinePart[], io: Io): Bar {
  const size = io.columns >= WIDE ? 20 : io.columns >= NARROW ? 10 : 0;
  // Beside the bar: " 100%  ", and the last column stays free, as some terminals begin a new line with it.
  const words = (of: readonly LinePart[]) => ({ words: fitLine(of, io.columns - size - 8) });
  const bar = new (cliProgress().SingleBar)({
    format: `${size === 0 ? '' : '{bar} '}{percentage}%  {words}`,
    barsize: size,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    stream: terminal(io),
    gracefulExit: false,
    hideCursor: true,
    linewrap: false,
    emptyOnZero: true,
  });
  bar.start(total, done, words(parts));
  return { update: (value, of) => bar.update(value, words(of)), stop: () => bar.stop() };
}

/** Columns from which on there is room for a bar, and for a long one: words tell more. */
const WIDE = 120;
const NARROW = 70;

/** The bar wants a terminal stream; all that a command has is a way to write. */
function terminal(io: Io): NodeJS.WritableStream {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      io.draw(String(chunk));
      done();
    },
  });
  return Object.assign(stream, { isTTY: true });
}

const WINDOW_S = 60;

/** How many a second of late: over the last minute, or since it began. What has stopped is not slow for ever. */
export class RecentRate {
  readonly #startedAt: number;
  /** By second; those that are past the window are dropped when they are met. */
  readonly #counts = new Map<number, number>();

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  count(now: number): void {
    const second = Math.floor(now / 1000);
    this.#counts.set(second, (this.#counts.get(second) ?? 0) + 1);
    this.#forget(second);
  }

  perSecond(now: number): number {
    this.#forget(Math.floor(now / 1000));
    const seconds = Math.min(WINDOW_S, (now - this.#startedAt) / 1000);
    const all = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    return seconds > 0 ? all / seconds : 0;
  }

  #forget(second: number): void {
    for (const [old] of this.#counts) {
      if (old > second - WINDOW_S) break;
      this.#counts.delete(old);
    }
  }
}

type Retry = Extract<SpendingEvent, { kind: 'retry' }>;

/** Rows whose call is told to come back later, while others may be answered. */
export class DelayedRows {
  readonly #rows = new Map<number, Retry>();

  /** A line to be said at once where nobody looks at a bar: when the first row is put off, and not for each of many. */
  listen(event: SpendingEvent): Message | undefined {
    // What is held to be down is told by itself, for all rows together.
    if (event.kind === 'outage')
      for (const [row, { operation }] of this.#rows) if (operation === event.operation) this.#rows.delete(row);
    if (event.kind === 'row_settled') this.#rows.delete(event.row);
    if (event.kind === 'call_settled' && event.intent.row !== null) this.#rows.delete(event.intent.row);
    if (event.kind !== 'retry' || event.row === null || event.waitMs < WORTH_A_WORD_MS) return undefined;
    const isFirst = this.#rows.size === 0;
    this.#rows.set(event.row, event);
    return isFirst ? firstDelayInWords(event) : undefined;
  }

  /** "row 3 put off by v1 searchKyb (HTTP_429), next try in 40 s" */
  words(now: number): readonly LinePart[] {
    const [first, ...others] = [...this.#rows.values()].sort((a, b) => triedAt(a) - triedAt(b));
    if (first === undefined) return [];
    const { row, api, operation, code } = first;
    const who = others.length === 0 ? `row ${row}` : `row ${row} and ${count(others.length, 'other')}`;
    const ms = triedAt(first) - now;
    return [
      {
        text: `${who} put off by ${api} ${operation} (${code}), next try ${ms <= 0 ? 'now' : `in ${durationInWords(ms)}`}`,
        short: `${count(this.#rows.size, 'row')} put off`,
        rank: 5,
      },
    ];
  }
}

const triedAt = ({ at, waitMs }: Retry): number => at + waitMs;

const firstDelayInWords = ({ row, api, operation, code, waitMs, givesUpAt }: Retry): Message =>
  message(
    'ROW_DELAYED',
    `row ${row} is put off by ${api} ${operation} (${code}): next try in ${durationInWords(waitMs)}, given up ${moment(givesUpAt)} at the latest; an interrupt ends it`,
  );

/** Shorter waits are over before anybody reads of them. */
const WORTH_A_WORD_MS = 5_000;

type Outage = Extract<SpendingEvent, { kind: 'outage' }>;

/** What is waited for because the provider does not answer it, and since when. */
export class Outages {
  readonly #open = new Map<string, Outage>();

  /** A line to be said at once where nobody looks at a bar; undefined where nothing has begun or ended. */
  listen(event: SpendingEvent): Message | undefined {
    if (event.kind === 'outage') {
      const known = this.#open.has(event.operation);
      this.#open.set(event.operation, event);
      return known ? undefined : outageInWords(event);
    }
    if (event.kind !== 'recovered') return undefined;
    this.#open.delete(event.operation);
    return message(
      'RECOVERED',
      `${event.api} ${event.operation} answers again after ${durationInWords(event.at - event.since)}: the run goes on`,
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

const outageInWords = ({ api, operation, code, givesUpAt }: Outage): Message =>
  message(
    'OUTAGE',
    `${api} ${operation} does not answer (${code}): waiting until ${moment(givesUpAt)} at the most, with one call that looks from time to time; an interrupt ends it`,
  );

const inWords = (ms: number): string => (ms <= 0 ? 'now' : `in ${durationInWords(ms)}`);
