import { isAscii, isUtf8 } from 'node:buffer';

/** Each byte is looked at in so many lines at least, where there are so many; what comes everywhere is not kept more. */
const LINES_OF_EACH_BYTE = 40;
const MOST_LINES = 3_000;
const LONGEST_LINE = 4_096;

/** Gathers lines that are not plain ASCII, as the chunks go by: enough of them to tell what encoding they are in. */
export class OddLines {
  readonly lines: Buffer[] = [];
  /** Bytes above 127 that came anywhere, whether or not in a line that was kept. */
  readonly seen = new Uint8Array(256);
  /** Lines that are UTF-8, and more than ASCII. */
  wholeLines = 0;
  readonly #kept = new Uint32Array(256);
  #rest: Buffer = Buffer.alloc(0);

  update(chunk: Buffer): void {
    const text = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (;;) {
      const end = lineBreak(text, start);
      if (end < 0) break;
      this.#take(text.subarray(start, end));
      start = end + 1;
    }
    // Copied: the chunk is not held for the sake of its last line.
    this.#rest = Buffer.from(text.subarray(Math.max(start, text.length - LONGEST_LINE)));
  }

  end(): void {
    this.#take(this.#rest);
    this.#rest = Buffer.alloc(0);
  }

  #take(whole: Buffer): void {
    // A line that is UTF-8, in a file that is not, is wrong in any other encoding: it says nothing.
    if (isUtf8(whole)) {
      if (!isAscii(whole)) this.wholeLines += 1;
      return;
    }
    const line = whole.subarray(0, LONGEST_LINE);
    let isNew = false;
    for (const byte of line) {
      if (byte < 0x80) continue;
      this.seen[byte] = 1;
      if ((this.#kept[byte] ?? 0) < LINES_OF_EACH_BYTE) isNew = true;
    }
    if (!isNew || this.lines.length >= MOST_LINES) return;
    for (const byte of new Set(line)) if (byte >= 0x80) this.#kept[byte] = (this.#kept[byte] ?? 0) + 1;
    this.lines.push(Buffer.from(line));
  }
}

/** Lines end in LF, or in CR alone. */
function lineBreak(text: Buffer, from: number): number {
  const feed = text.indexOf(10, from);
  const limit = feed < 0 ? text.length : feed;
  const back = text.subarray(from, limit).indexOf(13);
  if (back >= 0 && back < limit - from - 1) return from + back;
  return feed;
}
