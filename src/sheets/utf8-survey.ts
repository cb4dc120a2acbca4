import { isAscii } from 'node:buffer';

/**
 * Counts well-formed characters of several bytes, and bytes that fit nowhere, as the chunks go by.
 * Counting both tells a UTF-8 file with one damaged line from one that is not UTF-8.
 */
export class Utf8Survey {
  multibyte = 0;
  invalid = 0;
  #expected = 0;
  #lowest = 0x80;
  #highest = 0xbf;

  update(chunk: Buffer): void {
    if (this.#expected === 0 && isAscii(chunk)) return;
    for (const byte of chunk) this.#take(byte);
  }

  end(): void {
    if (this.#expected > 0) this.invalid++;
    this.#expected = 0;
  }

  #take(byte: number): void {
    if (this.#expected > 0) {
      if (byte >= this.#lowest && byte <= this.#highest) {
        this.#lowest = 0x80;
        this.#highest = 0xbf;
        if (--this.#expected === 0) this.multibyte++;
        return;
      }
      this.invalid++;
      this.#expected = 0;
    }
    if (byte < 0x80) return;
    // The second byte's range excludes overlong forms, surrogates and what lies beyond U+10FFFF.
    this.#lowest = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    this.#highest = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    if (byte >= 0xc2 && byte <= 0xdf) this.#expected = 1;
    else if (byte >= 0xe0 && byte <= 0xef) this.#expected = 2;
    else if (byte >= 0xf0 && byte <= 0xf4) this.#expected = 3;
    else this.invalid++;
  }
}
