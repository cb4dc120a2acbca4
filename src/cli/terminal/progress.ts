import type { SpendingEvent, StartedEvent } from '../../app/events.js';
import { fitLine, type LinePart } from './fit-line.js';
import type { Io } from './io.js';
import { Outages } from './outages.js';
import { startBar } from './progress-bar.js';
import { progressParts } from './progress-words.js';
import { PutOff } from './put-off.js';
import { RecentRate } from './recent-rate.js';

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
    while (await this.#pause(EVERY_MS.plain)) this.#io.stderr(`${this.line()}\n`);
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
