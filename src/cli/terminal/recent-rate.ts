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
