import type { Readable } from 'node:stream';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { UsageError } from '../../domain/errors.js';
import { refuseBomb } from '../bomb.js';
import { WorkbookBudget } from './budget.js';
import { damagedWorkbook } from './damaged.js';

/** More parts than any workbook has: each costs memory before anything is read. */
const MOST_PARTS = 20_000;

/** The parts of a zip archive, each to be streamed as often as needed. Names are compared without case, as Excel does. */
export class ZipParts {
  private constructor(
    readonly path: string,
    readonly shownAs: string,
    readonly zip: ZipFile,
    readonly entries: ReadonlyMap<string, Entry>,
    readonly budget: WorkbookBudget,
  ) {}

  /** `shownAs`: what messages call the file, which may be a copy of what the user named. `now`: bounds the time as well. */
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

  /** The bytes of a part; `mostBytes` bounds one that is held in memory as a whole. */
  async *chunks(name: string, mostBytes = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
    const entry = this.entries.get(keyOf(name));
    if (entry === undefined) throw damagedWorkbook(this.shownAs, `its part ${name} is missing`);
    // The sizes are those that the archive claims; whoever sends more than it claimed is caught when it is unpacked.
    refuseBomb(this.shownAs, entry.compressedSize, entry.uncompressedSize);
    if (entry.uncompressedSize > mostBytes) {
      throw new UsageError(
        `${this.shownAs}: its part ${name} has ${entry.uncompressedSize} bytes; at most ${mostBytes} can be read`,
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
