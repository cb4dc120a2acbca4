// The parts of a workbook's archive, and limits on the cost of reading them.

import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import yauzl from 'yauzl';
import { UsageError } from '../../domain/errors.js';
import { refuseDecompressionBomb } from '../file-source.js';

/** More parts than any workbook has. Each costs memory before anything is read. */
const MOST_PARTS = 20_000;

/** The parts of a zip archive. Each can be streamed again. Names ignore case, as in Excel. */
export class ZipParts {
  private constructor(
    readonly path: string,
    readonly shownAs: string,
    readonly zip: ZipFile,
    readonly entries: ReadonlyMap<string, Entry>,
    readonly budget: WorkbookBudget,
  ) {}

  /** `shownAs`: the file's name in messages, if the file is a copy. `now`: adds a time limit. */
  static async open(path: string, shownAs: string, now?: () => number): Promise<ZipParts> {
    const zip = await yauzl.openPromise(path, { autoClose: false }).catch((error: unknown) => {
      throw damagedWorkbook(shownAs, reasonOf(error));
    });
    try {
      const budget = new WorkbookBudget(shownAs, zip.fileSize, now);
      return new ZipParts(path, shownAs, zip, await entriesOf(zip, shownAs), budget);
    } catch (error) {
      zip.close();
      throw error;
    }
  }

  close(): void {
    this.zip.close();
  }

  has(name: string): boolean {
    return this.entries.has(keyOf(name));
  }

  /** The bytes of a part. `mostBytes` limits a part that is kept in memory. */
  async *chunks(name: string, mostBytes = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
    const entry = this.entries.get(keyOf(name));
    if (entry === undefined) throw damagedWorkbook(this.shownAs, `its part ${name} is missing`);
    // These sizes are claims of the archive. Unpacking checks the real size.
    refuseDecompressionBomb(this.shownAs, entry.compressedSize, entry.uncompressedSize);
    if (entry.uncompressedSize > mostBytes) {
      throw new UsageError(
        'WORKBOOK_TOO_LARGE',
        `${this.shownAs}: its part ${name} has ${entry.uncompressedSize} bytes. At most ${mostBytes} can be read`,
        'Split the table, or save it as CSV.',
      );
    }
    let stream: Readable | undefined;
    try {
      stream = await this.zip.openReadStreamPromise(entry);
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        this.budget.takeBytes(chunk.length);
        yield chunk;
      }
    } catch (error) {
      throw error instanceof UsageError ? error : damagedWorkbook(this.shownAs, `${name}: ${reasonOf(error)}`);
    } finally {
      stream?.destroy();
    }
  }
}

async function entriesOf(zip: ZipFile, shownAs: string): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      entries.set(keyOf(entry.fileName), entry);
      if (entries.size > MOST_PARTS) throw damagedWorkbook(shownAs, `it has more than ${MOST_PARTS} parts`);
    }
  } catch (error) {
    throw error instanceof UsageError ? error : damagedWorkbook(shownAs, reasonOf(error));
  }
  return entries;
}

const keyOf = (name: string): string => name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase();

const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return /end of central directory|invalid signature|truncated/i.test(message) ? 'it ends too early' : message;
};

/** A million rows of fifty cells have about 3 GB. */
const MOST_BYTES = 8 * 1024 ** 3;

/**
 * Elements walked one by one, and empty places in rows. Ten million take about a second. A million rows of thirty cells
 * in an unusual form have ninety million, and 60 MB.
 */
const BASE_ELEMENTS = 30_000_000;
const ELEMENTS_FOR_BYTE = 10;

/** Rows are copied several times on their way. A row of a thousand columns has about 20,000 characters. */
const LONGEST_ROW = 4 * 1024 * 1024;

/** Opening a workbook of 100 MB takes about ten seconds. */
const BASE_MS = 30_000;
const MS_FOR_MEGABYTE = 3_000;

/**
 * Limits the cost of reading one workbook, over all its parts. A small file can cause any amount of work: parts
 * that unpack to 500 times their size, one part as 300 sheets, elements of four bytes each.
 */
export class WorkbookBudget {
  #bytes = 0;
  #elements = 0;
  #text = 0;
  readonly #shownAs: string;
  readonly #packedBytes: number;
  readonly #now: () => number;
  readonly #untilMs: number;

  /** `now`: a monotonic clock. Without it there is no time limit, because the caller sets the pace. */
  constructor(shownAs: string, packedBytes: number, now: () => number = () => 0) {
    this.#shownAs = shownAs;
    this.#packedBytes = packedBytes;
    this.#now = now;
    this.#untilMs = now() + BASE_MS + (packedBytes / 1e6) * MS_FOR_MEGABYTE;
  }

  takeBytes(count: number): void {
    this.#bytes += count;
    refuseDecompressionBomb(this.#shownAs, this.#packedBytes, this.#bytes);
    if (this.#bytes > MOST_BYTES) throw this.#refused(`it unpacks to more than ${MOST_BYTES} bytes`);
    if (this.#now() > this.#untilMs) throw this.#refused('it takes too long to read for a file of its size');
  }

  /** The text of a row. One shared text can fill every cell of a sheet, so its length does not count once, but each time. */
  takeText(characters: number): void {
    if (characters > LONGEST_ROW) throw this.#refused(`a row has more than ${LONGEST_ROW} characters`);
    this.#text += characters;
    refuseDecompressionBomb(this.#shownAs, this.#packedBytes, this.#text);
    if (this.#text > MOST_BYTES) throw this.#refused(`its cells have more than ${MOST_BYTES} characters`);
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
  new UsageError('WORKBOOK_TOO_LARGE', `${shownAs} is too large: ${why}`, 'Split the table, or save it as CSV.');

/** A workbook that cannot be read completely is refused, because the missing part might contain companies. */
export const damagedWorkbook = (path: string, why: string): UsageError =>
  new UsageError(
    'WORKBOOK_DAMAGED',
    `${path} is a damaged workbook: ${why}`,
    'Open it in Excel and save it again as .xlsx, or copy it again from its source.',
  );
