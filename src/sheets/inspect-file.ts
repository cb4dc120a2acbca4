import { createHash } from 'node:crypto';
import { UsageError } from '../domain/errors.js';
import { outsideText } from '../util/outside-text.js';
import { encodingOfHead } from './encoding.js';
import { type CodePage, decodeCodePage, isCodePage } from './encodings/code-pages.js';
import { type Detected, detectEncoding } from './encodings/detect.js';
import { hasJapaneseEscapes } from './encodings/escapes.js';
import { encodingNamed } from './encodings/names.js';
import { OddLines } from './encodings/odd-lines.js';
import { chunksOf, emptyFile, type FileSource } from './file-source.js';
import { refuseBinary } from './refuse-binary.js';
import { SHEET_ENCODINGS, type SheetEncoding } from './sheet.js';
import { Utf8Survey } from './utf8-survey.js';

const HEAD_BYTES = 64 * 1024;
/** The header stands in these. */
const HEADER_BYTES = 8 * 1024;

export interface InspectedFile {
  readonly sha256: string;
  readonly encoding: SheetEncoding;
  /** Some bytes are not valid in the encoding: rows that hold them cannot be read as written. */
  readonly damaged: boolean;
  readonly warnings: readonly string[];
}

/** Reads the file once, in constant memory: its hash, its encoding, and a refusal if it is no text. */
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

/** What the user names, else what the file gives away; a byte order mark knows the byte order better than the user. */
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

/** Finds the encoding: UTF-8 if more characters say so than bytes say no, else what the lines that are not read like. */
class Detection implements Check {
  readonly #path: string;
  readonly #head: Buffer;
  readonly #survey = new Utf8Survey();
  readonly #odd = new OddLines();
  #hasEscapes = false;
  /** Characters of UTF-8 before the first byte that is none. */
  #before = 0;

  constructor(path: string, head: Buffer) {
    this.#path = path;
    // Copied: the whole chunk is not held for its first lines.
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
    const { encoding, rival, unreadable } = detectEncoding(this.#odd, this.#head);
    if (unreadable !== undefined) throw unreadableText(this.#path, encoding, unreadable);
    if (rival !== undefined) throw ambiguous(this.#path, encoding, rival);
    // Lists of several sources: read as one encoding, the other part would be garbled. As UTF-8 its lines are invalid, and told.
    // Two bytes that happen to be a character of UTF-8 beside others that are none are no such part: that has whole lines.
    const hasPart = this.#before > 0 || this.#odd.wholeLines > 0;
    if (WESTERN.has(encoding) && hasPart && multibyte * 4 >= invalid) return verdict('utf-8', true);
    // Which lines hold what is not valid in it is seen when they are read.
    const damaged = encoding !== 'windows-1252';
    return { encoding, damaged, warnings: [`not valid UTF-8, so read as ${encoding}`] };
  }
}

/** In these, bytes that make characters of UTF-8 are sequences that no language has: `Ã¼`. */
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
  warnings: ['it holds the escape sequences of Japanese in seven bits, so read as iso-2022-jp'],
};

function ambiguous(path: string, encoding: SheetEncoding, rival: NonNullable<Detected['rival']>): UsageError {
  const [one, other] = rival.readings.map((reading) => outsideText(reading, 60));
  return new UsageError(
    `${path}: it cannot be told for sure in which encoding it was saved: "${one}" in ${encoding} would be "${other}" in ${rival.encoding}`,
    `Say which one is right, with --encoding ${encoding} or --encoding ${rival.encoding}; if neither is, name the one that the file was saved in, or save it as UTF-8.`,
    'UNKNOWN_ENCODING',
  );
}

function unreadableText(path: string, encoding: SheetEncoding, word: string): UsageError {
  return new UsageError(
    `${path}: its text reads as words in no encoding that is known here; the likeliest, ${encoding}, has "${outsideText(word, 60)}"`,
    `Say with --encoding in which one it was saved (${SHEET_ENCODINGS.join(', ')}), or save it as UTF-8.`,
    'UNKNOWN_ENCODING',
  );
}

function verdict(encoding: SheetEncoding, damaged: boolean): Verdict {
  const warnings = damaged
    ? [
        `some bytes are not valid ${encoding}; the rows that hold them are invalid, unless --encoding names the one that the file was saved in`,
      ]
    : [];
  return { encoding, damaged, warnings };
}

/** Whether the bytes fit an encoding that is known. In windows-1252 all do. */
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
