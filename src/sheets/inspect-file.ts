import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { UsageError } from '../domain/errors.js';
import { encodingNamed, encodingOfHead } from './encoding.js';
import { refuseBinary } from './refuse-binary.js';
import type { SheetEncoding } from './sheet.js';
import { Utf8Survey } from './utf8-survey.js';

export const CHUNK_BYTES = 256 * 1024;
const HEAD_BYTES = 64 * 1024;

/** What tells that a file was changed between two readings. */
export interface FileVersion {
  readonly size: number;
  readonly mtimeMs: number;
}

export interface InspectedFile {
  readonly version: FileVersion;
  readonly sha256: string;
  readonly encoding: SheetEncoding;
  /** Some bytes are not valid in the encoding: rows that hold them cannot be read as written. */
  readonly damaged: boolean;
  readonly warnings: readonly string[];
}

/** Reads the file once, in constant memory: its hash, its encoding, and a refusal if it is no text. */
export async function inspectFile(path: string, encodingOption: string | undefined): Promise<InspectedFile> {
  const chosen = encodingOption === undefined ? undefined : encodingNamed(encodingOption);
  const version = await fileVersion(path);
  if (version.size === 0) throw new UsageError(`${path} is empty`);
  const hash = createHash('sha256');
  const survey = new Utf8Survey();
  let fixed: SheetEncoding | undefined;
  let check: Check | undefined;
  for await (const chunk of readChunks(path)) {
    if (check === undefined) {
      const head = chunk.subarray(0, HEAD_BYTES);
      fixed = settleEncoding(chosen, head);
      refuseBinary(path, head, fixed?.startsWith('utf-16') ?? false);
      check = checkOf(fixed, survey);
    }
    hash.update(chunk);
    check.update(chunk);
  }
  const invalid = check?.end() ?? 0;
  const encoding = fixed ?? (survey.invalid === 0 || survey.multibyte > survey.invalid ? 'utf-8' : 'windows-1252');
  const damaged = encoding !== 'windows-1252' && invalid > 0;
  const warnings: string[] = [];
  if (damaged) warnings.push(`some bytes are not valid ${encoding}; the rows that hold them are invalid`);
  else if (fixed === undefined && encoding === 'windows-1252')
    warnings.push('not valid UTF-8, so read as windows-1252');
  return { version, sha256: hash.digest('hex'), encoding, damaged, warnings };
}

/** What the user names, else what the file gives away; a byte order mark knows the byte order better than the user. */
function settleEncoding(chosen: SheetEncoding | undefined, head: Buffer): SheetEncoding | undefined {
  const found = encodingOfHead(head);
  const ordered = chosen?.startsWith('utf-16') && found?.marked && found.encoding.startsWith('utf-16');
  return ordered ? found.encoding : (chosen ?? found?.encoding);
}

export async function* readChunks(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw unreadable(path, error);
  }
}

export async function fileVersion(path: string): Promise<FileVersion> {
  let stats: Stats;
  try {
    stats = await stat(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  if (stats.isDirectory()) throw new UsageError(`${path} is a directory`, 'Name one CSV file in it.');
  // The file is read more than once, to resume as well: a pipe cannot be.
  if (!stats.isFile()) throw new UsageError(`${path} is not a regular file`, 'Save it to disk first.');
  return { size: stats.size, mtimeMs: stats.mtimeMs };
}

function unreadable(path: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === undefined) return error;
  const reason = REASONS[code] ?? `cannot be read (${code})`;
  return new UsageError(`${path} ${reason}`, 'Check the path and that you may read it.');
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
};

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
