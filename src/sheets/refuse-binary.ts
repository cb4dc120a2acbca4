import { UsageError } from '../domain/errors.js';

/** Refuses what is no text at all, naming what it is where that can be told. `head` is the file's beginning. */
export function refuseBinary(path: string, head: Buffer, isUtf16: boolean): void {
  const kind = KINDS.find(({ magic }) => head.subarray(0, magic.length).equals(magic));
  if (kind !== undefined) {
    const { what, hint } = kind.describe(head);
    throw new UsageError(`${path}: this is ${what}, not a CSV`, hint);
  }
  if (isUtf16) return;
  if (
    /^\s*<(!doctype|html|\?xml|table)/i.test(
      head
        .subarray(0, 200)
        .toString('latin1')
        .replace(/^\xef\xbb\xbf/, ''),
    )
  ) {
    throw new UsageError(`${path}: this is an HTML or XML document, not a CSV`, SAVE_AS_CSV);
  }
  if (looksBinary(head)) throw new UsageError(`${path}: this is a binary file, not a CSV`, SAVE_AS_CSV);
}

/** Control characters in the first line, or in a tenth of the whole. A few in the rows are the rows' own problem. */
function looksBinary(head: Buffer): boolean {
  const firstBreak = head.findIndex((byte) => byte === 10 || byte === 13);
  const headerEnd = firstBreak < 0 ? head.length : firstBreak;
  let controls = 0;
  for (const [index, byte] of head.entries()) {
    if (byte >= 32 || (byte >= 9 && byte <= 13)) continue;
    if (index < headerEnd) return true;
    controls++;
  }
  return controls > head.length / 10;
}

const SAVE_AS_CSV = 'Open it in the program it came from and save the table as CSV.';
const WORKBOOK = { what: 'an Excel workbook', hint: 'Open it in Excel and save it as CSV (UTF-8).' };

interface Kind {
  readonly magic: Buffer;
  describe(head: Buffer): { what: string; hint: string };
}

const kind = (magic: string, what: string, hint = SAVE_AS_CSV): Kind => ({
  magic: Buffer.from(magic, 'latin1'),
  describe: () => ({ what, hint }),
});

const KINDS: readonly Kind[] = [
  { magic: Buffer.from('PK\x03\x04', 'latin1'), describe: describeZip },
  { magic: Buffer.from('\xd0\xcf\x11\xe0', 'latin1'), describe: () => WORKBOOK },
  kind('%PDF', 'a PDF'),
  kind('\x1f\x8b', 'a gzip archive', 'Unpack it first.'),
  kind('7z\xbc\xaf', 'a 7z archive', 'Unpack it first.'),
  kind('\x28\xb5\x2f\xfd', 'a zstd archive', 'Unpack it first.'),
  kind('PAR1', 'a Parquet file'),
  kind('SQLite format 3\0', 'an SQLite database'),
  kind('\x89PNG', 'a picture'),
  kind('\xff\xd8\xff', 'a picture'),
];

/** Workbooks are zip archives; which kind shows in the names of their parts. */
function describeZip(head: Buffer): { what: string; hint: string } {
  if (head.includes('opendocument')) return { what: 'an OpenDocument file', hint: SAVE_AS_CSV };
  if (head.includes('word/')) return { what: 'a Word document', hint: SAVE_AS_CSV };
  if (head.includes('xl/') || head.includes('[Content_Types].xml') || head.length < 200) return WORKBOOK;
  return { what: 'a zip archive', hint: 'Unpack it first.' };
}
