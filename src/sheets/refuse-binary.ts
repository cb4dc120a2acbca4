import { UsageError } from '../domain/errors.js';
import { outsideText } from '../util/outside-text.js';
import { ESCAPE, hasJapaneseEscapes } from './encodings/escapes.js';

/** Refuses what is no text at all, naming what it is where that can be told. `head` is the file's beginning. */
export function refuseBinary(path: string, head: Buffer, isUtf16: boolean): void {
  const kind = KINDS.find(({ magic }) => head.subarray(0, magic.length).equals(magic));
  if (kind !== undefined) {
    const { what, hint } = kind.describe(head);
    throw new UsageError(`${path}: this is ${what}, which cannot be read as a table`, hint);
  }
  if (isUtf16) return;
  const text = head
    .subarray(0, 200)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '');
  if (MARKUP.test(text)) throw notATable(path, 'an HTML or XML document, not a table', text);
  if (JSON_TEXT.test(text)) throw notATable(path, 'a JSON document, not a table', text);
  if (looksBinary(withoutEscapes(head)))
    throw new UsageError(`${path}: this is a binary file, not a table`, SAVE_AS_CSV);
}

const MARKUP =
  /^\s*<(?:!doctype|!--|\?xml|(?:html|head|body|table|div|span|p|h\d|ul|ol|pre|section|a|meta|svg)[\s/>])/i;
/** `[Name],[Country]` is a header; `["Name"` and `{"name"` are not. */
const JSON_TEXT = /^\s*(?:\{\s*(?:"|\}|[\r\n]|$)|\[\s*(?:["{[]|[\r\n]|$))/;

/** `text`: the beginning of the file. */
function notATable(path: string, what: string, text: string): UsageError {
  const [first = ''] = text.trim().split(/[\r\n]/, 1);
  return new UsageError(
    `${path}: this is ${what}; it begins with ${JSON.stringify(outsideText(first, 60))}`,
    SAVE_AS_CSV,
    'NOT_A_LIST',
  );
}

/** In Japanese of escape sequences the escape is no sign of a binary file. */
function withoutEscapes(head: Buffer): Buffer {
  return hasJapaneseEscapes(head) ? Buffer.from(head.filter((byte) => byte !== ESCAPE)) : head;
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

const SAVE_AS_UTF8 = 'Save it as UTF-8, with a text editor or in the program it came from.';
const SAVE_AS_CSV = 'Open it in the program it came from and save the table as .xlsx or CSV.';

interface Kind {
  readonly magic: Buffer;
  describe(head: Buffer): { what: string; hint: string };
}

const kind = (magic: string, what: string, hint = SAVE_AS_CSV): Kind => ({
  magic: Buffer.from(magic, 'latin1'),
  describe: () => ({ what, hint }),
});

const KINDS: readonly Kind[] = [
  { magic: Buffer.from('\xd0\xcf\x11\xe0', 'latin1'), describe: describeCompound },
  kind('%PDF', 'a PDF'),
  kind('\xff\xfe\0\0', 'a text in UTF-32', SAVE_AS_UTF8),
  kind('\0\0\xfe\xff', 'a text in UTF-32', SAVE_AS_UTF8),
  kind('\x1f\x8b', 'a gzip archive within another', 'Unpack it first.'),
  kind('PK\x05\x06', 'an empty zip archive'),
  kind('PK\x07\x08', 'a part of a split zip archive', 'Put it together first.'),
  kind('7z\xbc\xaf', 'a 7z archive', 'Unpack it first.'),
  kind('\x28\xb5\x2f\xfd', 'a zstd archive', 'Unpack it first.'),
  kind('PAR1', 'a Parquet file'),
  kind('SQLite format 3\0', 'an SQLite database'),
  kind('\x89PNG', 'a picture'),
  kind('\xff\xd8\xff', 'a picture'),
  kind('GIF8', 'a picture'),
  kind('{\\rtf', 'a document in RTF'),
];

/** What Office saved before 2007, and what it encrypts to this day, are files of files: their names stand in UTF-16. */
function describeCompound(head: Buffer): { what: string; hint: string } {
  if (head.includes(Buffer.from('EncryptedPackage', 'utf16le'))) {
    return {
      what: 'a workbook that is protected with a password',
      hint: 'Open it in Excel, take the password away (File, Info, Protect Workbook) and save it as .xlsx.',
    };
  }
  // Where the names stand further on, it may be either.
  const isOld = head.includes(Buffer.from('Workbook', 'utf16le')) || head.includes(Buffer.from('Book', 'utf16le'));
  return {
    what: `a workbook of an old Excel (.xls)${isOld ? '' : ', or one that is protected with a password'}`,
    hint: `Open it in Excel and save it as .xlsx${isOld ? '' : ', without a password,'} or CSV (UTF-8).`,
  };
}
