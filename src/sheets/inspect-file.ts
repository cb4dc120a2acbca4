import { createHash } from 'node:crypto';
import { encodingNamed, encodingOfHead } from './encoding.js';
import { chunksOf, emptyFile, type FileSource } from './file-source.js';
import { refuseBinary } from './refuse-binary.js';
import type { SheetEncoding } from './sheet.js';
import { Utf8Survey } from './utf8-survey.js';

const HEAD_BYTES = 64 * 1024;

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
  const survey = new Utf8Survey();
  let fixed: SheetEncoding | undefined;
  let check: Check | undefined;
  for await (const chunk of chunksOf(source, (stored) => hash.update(stored))) {
    if (check === undefined) {
      const head = chunk.subarray(0, HEAD_BYTES);
      fixed = settleEncoding(chosen, head);
      refuseBinary(source.shownAs, head, fixed?.startsWith('utf-16') ?? false);
      check = checkOf(fixed, survey);
    }
    check.update(chunk);
  }
  if (check === undefined) throw emptyFile(source.shownAs);
  const invalid = check.end();
  const encoding = fixed ?? (survey.invalid === 0 || survey.multibyte > survey.invalid ? 'utf-8' : 'windows-1252');
  const damaged = encoding !== 'windows-1252' && invalid > 0;
  const warnings: string[] = [];
  if (damaged) warnings.push(`some bytes are not valid ${encoding}; the rows that hold them are invalid`);
  else if (fixed === undefined && encoding === 'windows-1252')
    warnings.push('not valid UTF-8, so read as windows-1252');
  return { sha256: hash.digest('hex'), encoding, damaged, warnings };
}

/** What the user names, else what the file gives away; a byte order mark knows the byte order better than the user. */
function settleEncoding(chosen: SheetEncoding | undefined, head: Buffer): SheetEncoding | undefined {
  const found = encodingOfHead(head);
  const ordered = chosen?.startsWith('utf-16') && found?.marked && found.encoding.startsWith('utf-16');
  return ordered ? found.encoding : (chosen ?? found?.encoding);
}

interface Check {
  update(chunk: Buffer): void;
  /** How much does not fit the encoding: 0 for none. */
  end(): number;
}

function checkOf(encoding: SheetEncoding | undefined, survey: Utf8Survey): Check {
  if (encoding === 'windows-1252') return { update: () => {}, end: () => 0 };
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return utf16Check(encoding);
  return {
    update: (chunk) => survey.update(chunk),
    end: () => {
      survey.end();
      return survey.invalid;
    },
  };
}

function utf16Check(encoding: 'utf-16le' | 'utf-16be'): Check {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let invalid = 0;
  const attempt = (decode: () => void) => {
    if (invalid > 0) return;
    try {
      decode();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      invalid = 1;
    }
  };
  return {
    update: (chunk) => attempt(() => void decoder.decode(chunk, { stream: true })),
    end: () => {
      attempt(() => void decoder.decode());
      return invalid;
    },
  };
}
