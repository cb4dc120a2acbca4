import type { SpendingEvent } from '../../app/events.js';
import type { LinePart } from './fit-line.js';
import { count, durationInWords, moment } from './text.js';

type Retry = Extract<SpendingEvent, { kind: 'retry' }>;

/** Rows whose call is told to come back later, while others may be answered. */
export class PutOff {
  readonly #rows = new Map<number, Retry>();

  /** A line to be said at once where nobody looks at a bar: when the first row is put off, and not for each of many. */
  listen(event: SpendingEvent): string | undefined {
    // What is held to be down is told by itself, for all rows together.
    if (event.kind === 'outage')
      for (const [row, { operation }] of this.#rows) if (operation === event.operation) this.#rows.delete(row);
    if (event.kind === 'row_settled') this.#rows.delete(event.row);
    if (event.kind === 'call_settled' && event.intent.row !== null) this.#rows.delete(event.intent.row);
    if (event.kind !== 'retry' || event.row === null || event.waitMs < WORTH_A_WORD_MS) return undefined;
    const isFirst = this.#rows.size === 0;
    this.#rows.set(event.row, event);
    return isFirst ? begun(event) : undefined;
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

const begun = ({ row, api, operation, code, waitMs, givesUpAt }: Retry): string =>
  `row ${row} is put off by ${api} ${operation} (${code}): next try in ${durationInWords(waitMs)}, given up ${moment(givesUpAt)} at the latest; an interrupt ends it`;

/** Shorter waits are over before anybody reads of them. */
const WORTH_A_WORD_MS = 5_000;
