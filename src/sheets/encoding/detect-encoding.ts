// Finds the encoding of a text file, and refuses files that are not text.

import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { UsageError } from '../../domain/errors.js';
import { type Message, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { chunksOf, emptyFile, type FileSource } from '../file-source.js';
import { SHEET_ENCODINGS, type SheetEncoding } from '../sheet.js';
import { type CodePage, decodeCodePage, encodingNamed, encodingOfHead, isCodePage } from './encodings.js';
import { type Detected, guessEncoding, NonUtf8Sample } from './guess-encoding.js';

const HEAD_BYTES = 64 * 1024;

/** Enough bytes to include the header. */
const HEADER_BYTES = 8 * 1024;

export interface InspectedFile {
  readonly sha256: string;
  readonly encoding: SheetEncoding;
  /** Some bytes are not valid in the encoding, so their rows cannot be read as written. */
  readonly damaged: boolean;
  readonly warnings: readonly Message[];
}

/** Reads the file once, in constant memory, for its hash and encoding. Refuses a file that is not text. */
export async function inspectText(source: FileSource, encodingOption: string | undefined): Promise<InspectedFile> {
  const chosen = encodingOption === undefined ? undefined : encodingNamed(encodingOption);
  const hash = createHash('sha256');
  let check: Check | undefined;
  for await (const chunk of chunksOf(source, (stored) => hash.update(stored))) {
    if (check === undefined) {
      const head = chunk.subarray(0, HEAD_BYTES);
      const known = settleEncoding(chosen, head);
      refuseBinary(source.shownAs, head, known?.startsWith('utf-16') ?? false);
      check = known === undefined ? new Detection(source.shownAs, head) : checkOf(known);
    }
    check.update(chunk);
  }
  if (check === undefined) throw emptyFile(source.shownAs);
  return { sha256: hash.digest('hex'), ...check.end() };
}

/** The user's choice comes first, then the file's beginning. But a byte order mark decides the byte order. */
function settleEncoding(chosen: SheetEncoding | undefined, head: Buffer): SheetEncoding | undefined {
  const found = encodingOfHead(head);
  const ordered = chosen?.startsWith('utf-16') && found?.marked && found.encoding.startsWith('utf-16');
  return ordered ? found.encoding : (chosen ?? found?.encoding);
}

type Verdict = Omit<InspectedFile, 'sha256'>;

interface Check {
  update(chunk: Buffer): void;
  end(): Verdict;
}

/** Chooses UTF-8 if its characters outnumber invalid bytes. Otherwise guesses from the lines that are not UTF-8. */
class Detection implements Check {
  readonly #path: string;
  readonly #head: Buffer;
  readonly #survey = new Utf8Survey();
  readonly #odd = new NonUtf8Sample();
  #hasEscapes = false;
  /** UTF-8 characters before the first invalid byte. */
  #before = 0;

  constructor(path: string, head: Buffer) {
    this.#path = path;
    // A copy, so that the whole chunk is not kept for its first lines.
    this.#head = Buffer.from(head.subarray(0, HEADER_BYTES));
  }

  update(chunk: Buffer): void {
    if (this.#survey.invalid === 0) this.#before = this.#survey.multibyte;
    this.#survey.update(chunk);
    this.#hasEscapes ||= hasJapaneseEscapes(chunk);
    if (this.#survey.invalid > 0) this.#odd.update(chunk);
  }

  end(): Verdict {
    this.#survey.end();
    this.#odd.end();
    const { invalid, multibyte } = this.#survey;
    if (this.#hasEscapes && invalid + multibyte === 0) return ISO_2022_JP;
    if (invalid === 0 || multibyte > invalid) return verdict('utf-8', invalid > 0);
    const { encoding, rival, unreadable, example } = guessEncoding(this.#odd, this.#head);
    if (unreadable !== undefined) throw unreadableText(this.#path, encoding, unreadable);
    if (rival !== undefined) throw ambiguous(this.#path, encoding, rival);
    // A list from several sources may mix encodings. Any other encoding would garble its UTF-8 lines, so as UTF-8 the
    // remaining lines are invalid and reported. Two bytes that form a UTF-8 character by chance do not prove this.
    // Complete lines do.
    const hasPart = this.#before > 0 || this.#odd.wholeLines > 0;
    if (WESTERN.has(encoding) && hasPart && multibyte * 4 >= invalid) return verdict('utf-8', true);
    // Reading shows which lines are invalid in this encoding.
    const damaged = encoding !== 'windows-1252';
    return {
      encoding,
      damaged,
      warnings: [
        message(
          'ENCODING_GUESSED',
          example === undefined
            ? `the file is not UTF-8. kybatch reads it as ${encoding}`
            : `the file is not UTF-8. kybatch reads it as ${encoding}, such as "${sanitizeText(example, 40)}". If that is wrong, name its encoding: --encoding NAME`,
        ),
      ],
    };
  }
}

/** In these encodings, UTF-8 characters look like sequences that no language has: `Ã¼`. */
const WESTERN: ReadonlySet<SheetEncoding> = new Set([
  'windows-1252',
  'iso-8859-15',
  'macintosh',
  'cp437',
  'cp850',
  'cp858',
]);

const ISO_2022_JP: Verdict = {
  encoding: 'iso-2022-jp',
  damaged: true,
  warnings: [
    message('ENCODING_GUESSED', 'the file has escape sequences for Japanese. kybatch reads it as iso-2022-jp'),
  ],
};

function ambiguous(path: string, encoding: SheetEncoding, rival: NonNullable<Detected['rival']>): UsageError {
  const [one, other] = rival.readings.map((reading) => sanitizeText(reading, 60));
  return new UsageError(
    'UNKNOWN_ENCODING',
    `${path}: the encoding is unclear. "${one}" in ${encoding} is "${other}" in ${rival.encoding}`,
    `Add --encoding ${encoding} or --encoding ${rival.encoding}. If neither is right, save the file as UTF-8.`,
  );
}

function unreadableText(path: string, encoding: SheetEncoding, word: string): UsageError {
  return new UsageError(
    'UNKNOWN_ENCODING',
    `${path}: the encoding is unknown. In ${encoding}, the likeliest, the text has "${sanitizeText(word, 60)}"`,
    `Save the file as UTF-8, or name its encoding with --encoding: ${SHEET_ENCODINGS.join(', ')}.`,
  );
}

function verdict(encoding: SheetEncoding, damaged: boolean): Verdict {
  const warnings = damaged
    ? [
        message(
          'BYTES_INVALID',
          `some bytes are not valid ${encoding}. Their rows are invalid. If the file has another encoding, name it with --encoding`,
        ),
      ]
    : [];
  return { encoding, damaged, warnings };
}

/** Whether the bytes fit a known encoding. In windows-1252 all do. */
function checkOf(encoding: SheetEncoding): Check {
  if (encoding === 'windows-1252') return { update: () => {}, end: () => verdict(encoding, false) };
  if (encoding === 'utf-8') return utf8Check();
  if (isCodePage(encoding)) return codePageCheck(encoding);
  const decoder = new TextDecoder(encoding, { fatal: true });
  let damaged = false;
  const attempt = (decode: () => void) => {
    if (damaged) return;
    try {
      decode();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      damaged = true;
    }
  };
  return {
    update: (chunk) => attempt(() => void decoder.decode(chunk, { stream: true })),
    end: () => {
      attempt(() => void decoder.decode());
      return verdict(encoding, damaged);
    },
  };
}

function codePageCheck(page: CodePage): Check {
  let damaged = false;
  return {
    update: (chunk) => {
      damaged ||= decodeCodePage(page, chunk).includes('\ufffd');
    },
    end: () => verdict(page, damaged),
  };
}

function utf8Check(): Check {
  const survey = new Utf8Survey();
  return {
    update: (chunk) => survey.update(chunk),
    end: () => {
      survey.end();
      return verdict('utf-8', survey.invalid > 0);
    },
  };
}

/** Refuses a binary file, and names its format if possible. `head` is the file's beginning. */
function refuseBinary(path: string, head: Buffer, isUtf16: boolean): void {
  const kind = KINDS.find(({ magic }) => head.subarray(0, magic.length).equals(magic));
  if (kind !== undefined) {
    const { what, hint } = kind === COMPOUND ? describeCompound(head) : kind;
    throw new UsageError('NOT_A_TABLE', `${path} is ${what}, not a table`, hint);
  }
  if (isUtf16) return;
  const text = head
    .subarray(0, 200)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '');
  if (MARKUP.test(text)) throw notATable(path, 'an HTML or XML document, not a table', text);
  if (JSON_TEXT.test(text)) throw notATable(path, 'a JSON document, not a table', text);
  if (looksBinary(withoutEscapes(head)))
    throw new UsageError('NOT_A_TABLE', `${path} is a binary file, not a table`, SAVE_AS_CSV);
}

const MARKUP =
  /^\s*<(?:!doctype|!--|\?xml|(?:html|head|body|table|div|span|p|h\d|ul|ol|pre|section|a|meta|svg)[\s/>])/i;

/** `[Name],[Country]` is a header. `["Name"` and `{"name"` are not. */
const JSON_TEXT = /^\s*(?:\{\s*(?:"|\}|[\r\n]|$)|\[\s*(?:["{[]|[\r\n]|$))/;

function notATable(path: string, what: string, text: string): UsageError {
  const [first = ''] = text.trim().split(/[\r\n]/, 1);
  return new UsageError(
    'NOT_A_LIST',
    `${path} is ${what}. It begins with ${JSON.stringify(sanitizeText(first, 60))}`,
    SAVE_AS_CSV,
  );
}

/** In ISO-2022-JP the escape character does not mean a binary file. */
function withoutEscapes(head: Buffer): Buffer {
  return hasJapaneseEscapes(head) ? Buffer.from(head.filter((byte) => byte !== ESCAPE)) : head;
}

/** Control characters in the first line, or in a tenth of the text. A few in the rows only affect those rows. */
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

const kind = (magic: string, what: string, hint = SAVE_AS_CSV) => ({
  magic: Buffer.from(magic, 'latin1'),
  what,
  hint,
});

const COMPOUND = kind('\xd0\xcf\x11\xe0', 'a workbook of an old Excel');

const KINDS = [
  COMPOUND,
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

/** Office files from before 2007 and encrypted ones contain named streams. The names are in UTF-16. */
function describeCompound(head: Buffer): { what: string; hint: string } {
  if (head.includes(Buffer.from('EncryptedPackage', 'utf16le'))) {
    return {
      what: 'a workbook with a password',
      hint: 'Open it in Excel, remove the password (File, Info, Protect Workbook) and save it as .xlsx.',
    };
  }
  // If the names are beyond the head, it may be either.
  const isOld = head.includes(Buffer.from('Workbook', 'utf16le')) || head.includes(Buffer.from('Book', 'utf16le'));
  return {
    what: `a workbook of an old Excel (.xls)${isOld ? '' : ' or one with a password'}`,
    hint: `Open it in Excel and save it as .xlsx${isOld ? '' : ', without a password,'} or CSV (UTF-8).`,
  };
}

/** ESC $ B, ESC $ @, ESC ( J: escape sequences of Japanese mail and mainframes that change the alphabet. */
const ESCAPES = ['\x1b$B', '\x1b$@', '\x1b(J', '\x1b(I'].map((sequence) => Buffer.from(sequence, 'latin1'));

const ESCAPE = 0x1b;

/** Whether the bytes have escape sequences of ISO-2022-JP. The rest is plain ASCII, so there is no other sign. */
function hasJapaneseEscapes(bytes: Buffer): boolean {
  return bytes.includes(ESCAPE) && ESCAPES.some((sequence) => bytes.includes(sequence));
}

/**
 * Counts well-formed characters of several bytes, and invalid bytes, over all chunks. Both counts together tell a UTF-8
 * file with one damaged line from a file that is not UTF-8.
 */
class Utf8Survey {
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
    // The second byte's range excludes overlong forms, surrogates and values beyond U+10FFFF.
    this.#lowest = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    this.#highest = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    if (byte >= 0xc2 && byte <= 0xdf) this.#expected = 1;
    else if (byte >= 0xe0 && byte <= 0xef) this.#expected = 2;
    else if (byte >= 0xf0 && byte <= 0xf4) this.#expected = 3;
    else this.invalid++;
  }
}
