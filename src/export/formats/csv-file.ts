import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import type { Column, Row } from '../../readers/table.js';
import type { CsvOptions } from '../options.js';
import { CsvText } from './csv-text.js';
import type { FileFacts, Lines, TableFile } from './format.js';

/** A table as CSV. */
export class CsvFile implements TableFile {
  readonly #descriptor: number;
  readonly #text: CsvText;
  readonly #hash = createHash('sha256');
  #waiting: Row[] = [];
  #waitingSize = 0;
  #rows = 0;
  #bytes = 0;

  constructor(
    readonly path: string,
    columns: readonly Column[],
    { delimiter, bom }: CsvOptions,
  ) {
    this.#descriptor = openSync(path, 'wx', 0o600);
    this.#text = new CsvText(columns, delimiter);
    this.#append(Buffer.from(`${bom ? '\ufeff' : ''}${this.#text.header()}`));
  }

  write(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#waiting.push(row);
      this.#waitingSize += sizeOf(row);
      if (this.#waiting.length >= ROWS_AT_ONCE || this.#waitingSize >= CHARACTERS_AT_ONCE) this.#flush();
    }
  }

  append({ bytes, rows }: Lines): void {
    this.#flush();
    this.#append(bytes);
    this.#rows += rows;
  }

  async finish(): Promise<readonly FileFacts[]> {
    this.#flush();
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    return [{ path: this.path, rows: this.#rows, bytes: this.#bytes, sha256: this.#hash.digest('hex') }];
  }

  #flush(): void {
    if (this.#waiting.length === 0) return;
    this.#append(Buffer.from(this.#text.render(this.#waiting)));
    this.#rows += this.#waiting.length;
    this.#waiting = [];
    this.#waitingSize = 0;
  }

  #append(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
  }
}

const ROWS_AT_ONCE = 1000;
/** A text in JavaScript has an end, and a thousand large rows would reach it. */
const CHARACTERS_AT_ONCE = 1 << 20;

function sizeOf(row: Row): number {
  let size = 0;
  for (const name in row) size += row[name]?.length ?? 0;
  return size;
}
