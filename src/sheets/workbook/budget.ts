import { UsageError } from '../../domain/errors.js';
import { refuseBomb } from '../bomb.js';

/** A million rows of fifty cells have about 3 GB. */
const MOST_BYTES = 8 * 1024 ** 3;
/**
 * Elements that are walked one by one, and places left empty in rows. Ten million take about a second. A million rows of
 * thirty cells in an unusual form have ninety million, and 60 MB.
 */
const BASE_ELEMENTS = 30_000_000;
const ELEMENTS_FOR_BYTE = 10;
/** Opening a workbook of 100 MB takes about ten seconds. */
const BASE_MS = 30_000;
const MS_FOR_MEGABYTE = 3_000;

/**
 * What one workbook may cost while it is read, all its parts together. A small file can stand for any amount of work:
 * parts that unpack to 500 times their size, one part as 300 sheets, elements of four bytes each.
 */
export class WorkbookBudget {
  #bytes = 0;
  #elements = 0;
  readonly #shownAs: string;
  readonly #packedBytes: number;
  readonly #now: () => number;
  readonly #untilMs: number;

  /** `now`: a monotonic clock. Without it the time is not bounded, as when somebody else takes the rows one by one. */
  constructor(shownAs: string, packedBytes: number, now: () => number = () => 0) {
    this.#shownAs = shownAs;
    this.#packedBytes = packedBytes;
    this.#now = now;
    this.#untilMs = now() + BASE_MS + (packedBytes / 1e6) * MS_FOR_MEGABYTE;
  }

  /** Called for every chunk that is unpacked. */
  takeBytes(count: number): void {
    this.#bytes += count;
    refuseBomb(this.#shownAs, this.#packedBytes, this.#bytes);
    if (this.#bytes > MOST_BYTES) throw this.#refused(`it unpacks to more than ${MOST_BYTES} bytes`);
    if (this.#now() > this.#untilMs) throw this.#refused('it takes too long to read for a file of its size');
  }

  takeElements(count: number): void {
    this.#elements += count;
    const most = BASE_ELEMENTS + this.#packedBytes * ELEMENTS_FOR_BYTE;
    if (this.#elements > most) throw this.#refused(`it has more than ${most} elements`);
  }

  #refused(why: string): UsageError {
    return workbookTooLarge(this.#shownAs, why);
  }
}

export const workbookTooLarge = (shownAs: string, why: string): UsageError =>
  new UsageError(`${shownAs}: this workbook is too large: ${why}`, 'Split the table, or save it as CSV.');
