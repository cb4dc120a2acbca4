import type { SpendingEvent, StartedEvent } from '../../app/events.js';
import type { Io } from './io.js';
import { Outages } from './outages.js';
import { startBar } from './progress-bar.js';
import { count, durationInWords, withCommas } from './text.js';

const EVERY_MS = { terminal: 250, plain: 30_000 } as const;

/** Counts what happens to a run and shows it: a bar on a terminal, a plain line every 30 s without one. */
export class ProgressDisplay {
  readonly #io: Io;
  readonly #total: number;
  readonly #startedAt: number;
  readonly #settledBefore: number;
  readonly #stop = new AbortController();
  readonly #waiting = new Set<number>();
  readonly #parked = new Set<number>();
  readonly #outages = new Outages();
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
    const news = this.#outages.listen(event);
    if (news !== undefined && !this.#io.interactive) this.#io.stderr(`${news}\n`);
    if (event.kind === 'call_settled') {
      const { unitsCharged, remainingUnits, charge } = event.settlement;
      this.#units += unitsCharged ?? 0;
      if (event.intent.meter === 'report' && charge === 'charged') this.#reports += 1;
      if (remainingUnits !== null) this.#unitsLeft = remainingUnits;
    }
    if (event.kind === 'row_settled') {
      const { outcome, hold } = event.checkpoint;
      if (outcome !== 'pending') this.#settled += 1;
      if (outcome === 'failed') this.#failed += 1;
      keep(this.#waiting, event.row, hold === 'waiting');
      keep(this.#parked, event.row, hold === 'parked');
    }
  }

  /** "120 of 400 rows, 14.2 rows/s, 240 units spent, 760 left, 12 reports awaited, 1 failed, about 20 s to go" */
  line(): string {
    const seconds = (this.#io.clock.now() - this.#startedAt) / 1000;
    const rate = seconds > 0 ? (this.#settled - this.#settledBefore) / seconds : 0;
    // Rows that wait for a report take the time their report takes, not the time that rows take.
    const open = this.#total - this.#settled - this.#waiting.size;
    return [
      // First: a line that is too long for the terminal is cut at its end.
      ...this.#outages.words(this.#io.clock.now()),
      `${withCommas(this.#settled)} of ${count(this.#total, 'row')}`,
      `${rate.toFixed(1)} rows/s`,
      `${count(this.#units, 'unit')} spent`,
      ...(this.#unitsLeft === null ? [] : [`${withCommas(this.#unitsLeft)} left`]),
      ...(this.#reports === 0 ? [] : [`${count(this.#reports, 'report')} bought`]),
      ...(this.#waiting.size === 0 ? [] : [`${count(this.#waiting.size, 'report')} awaited`]),
      ...(this.#parked.size === 0 ? [] : [`${withCommas(this.#parked.size)} parked`]),
      ...(this.#failed === 0 ? [] : [`${withCommas(this.#failed)} failed`]),
      ...(rate > 0 && open > 0 ? [`about ${durationInWords((open / rate) * 1000)} to go`] : []),
    ].join(', ');
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

function keep(rows: Set<number>, row: number, there: boolean): void {
  if (there) rows.add(row);
  else rows.delete(row);
}
