import type { SpendingEvent, StartedEvent } from '../../app/events.js';
import type { Io } from './io.js';
import { Outages } from './outages.js';
import { startBar } from './progress-bar.js';
import { PutOff } from './put-off.js';
import { RecentRate } from './recent-rate.js';
import { looksInWords } from './report-words.js';
import { count, durationInWords, withCommas } from './text.js';

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
  readonly #outages = new Outages();
  readonly #putOff = new PutOff();
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
      if (news !== undefined && !this.#io.interactive) this.#io.stderr(`${news}\n`);
    if (event.kind === 'call_settled') {
      const { unitsCharged, remainingUnits, charge } = event.settlement;
      this.#units += unitsCharged ?? 0;
      if (event.intent.meter === 'report' && charge === 'charged') this.#reports += 1;
      if (remainingUnits !== null) this.#unitsLeft = remainingUnits;
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

  /** "120 of 400 rows, 14.2 rows/s, 240 units spent, 760 left, 12 reports awaited, 1 failed, about 20 s to go" */
  line(): string {
    const now = this.#io.clock.now();
    const seconds = (now - this.#startedAt) / 1000;
    const rate = seconds > 0 ? (this.#settled - this.#settledBefore) / seconds : 0;
    const looks = [...this.#waiting.values()].filter((until) => until !== null);
    const awaited = this.#waiting.size - looks.length;
    const lookUntil = looks.reduce((latest, until) => Math.max(latest, until), 0);
    const toGo = this.#msToGo(now, lookUntil);
    return [
      // First: a line that is too long for the terminal is cut at its end.
      ...this.#outages.words(now),
      ...this.#putOff.words(now),
      `${withCommas(this.#settled)} of ${count(this.#total, 'row')}`,
      `${rate.toFixed(1)} rows/s`,
      `${count(this.#units, 'unit')} spent`,
      ...(this.#unitsLeft === null ? [] : [`${withCommas(this.#unitsLeft)} left`]),
      ...(this.#reports === 0 ? [] : [`${count(this.#reports, 'report')} bought`]),
      ...(awaited === 0 ? [] : [`${count(awaited, 'report')} awaited`]),
      ...(looks.length === 0 ? [] : [looksInWords(looks.length, lookUntil)]),
      ...(this.#parked.size === 0 ? [] : [`${withCommas(this.#parked.size)} parked`]),
      ...(this.#failed === 0 ? [] : [`${withCommas(this.#failed)} failed`]),
      ...(toGo === null ? [] : [`about ${durationInWords(toGo)} to go`]),
    ].join(', ');
  }

  /** Null where nobody can say: rows that wait or are parked take the time that what they wait for takes. */
  #msToGo(now: number, lookUntil: number): number | null {
    const open = this.#total - this.#settled - this.#waiting.size - this.#parked.size;
    const rate = this.#recent.perSecond(now);
    if (open > 0 && rate === 0) return null;
    const ms = Math.max(open > 0 ? (open / rate) * 1000 : 0, lookUntil - now);
    return ms > 0 ? ms : null;
  }

  async #printLines(): Promise<void> {
    while (await this.#pause(EVERY_MS.plain)) this.#io.stderr(`${this.line()}\n`);
  }

  async #drawBar(): Promise<void> {
    const bar = startBar(this.#total, this.#settled, this.line(), this.#io);
    while (await this.#pause(EVERY_MS.terminal)) bar.update(this.#settled, this.line());
    bar.update(this.#settled, this.line());
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
