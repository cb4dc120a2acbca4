import type { Io } from './io.js';
import { PassingLine } from './passing-line.js';
import { count, durationInWords } from './text.js';

/** Tells how far a long file has been read. */
export class PlanningDisplay {
  readonly #line: PassingLine;

  constructor(io: Io) {
    this.#line = new PassingLine(io);
  }

  /** `shareDone`: of the file, from 0 to 1; null where nobody knows how much is to come. */
  rows(read: number, shareDone: number | null): void {
    this.#line.tell((ms) => planningInWords(read, shareDone, ms));
  }

  /** Takes its line away again: what comes next begins where it began. Another reading begins anew. */
  clear(): void {
    this.#line.clear();
  }
}

/** "Planning: 120,000 rows read, 43%, about 20 s to go" */
function planningInWords(read: number, shareDone: number | null, ms: number): string {
  const share = shareDone === null ? null : Math.min(1, Math.max(0, shareDone));
  const toGo = share === null || share === 0 || share === 1 ? null : (ms * (1 - share)) / share;
  return [
    `Planning: ${count(read, 'row')} read`,
    ...(share === null ? [] : [`${Math.floor(share * 100)}%`]),
    ...(toGo === null ? [] : [`about ${durationInWords(toGo)} to go`]),
  ].join(', ');
}
