import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { asFileError, asPlaceError, UsageError } from '../domain/errors.js';
import { type MadeWith, readMarker } from './export-marker.js';

/** An export that was made. Those outside of the data directory would otherwise be forgotten when data must go. */
export interface ExportFolder {
  readonly run: string;
  readonly folder: string;
  readonly at: string;
}

/** One that is where it was put, with what it says of itself. */
export interface FoundExport extends ExportFolder {
  readonly options: MadeWith;
}

/** A workbook that somebody had worked in, and that was kept when its export was written anew. */
export interface KeptWorkbook {
  readonly run: string;
  readonly file: string;
  readonly at: string;
}

const listFile = (dataDir: string) => join(dataDir, 'exports.jsonl');

export function noteExport(dataDir: string, made: ExportFolder | KeptWorkbook): void {
  const path = listFile(dataDir);
  try {
    // Where the ledger is a database, nobody has needed the folder before.
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    appendFileSync(path, `${JSON.stringify(made)}\n`, { mode: 0o600 });
  } catch (error) {
    throw asFileError(error, path);
  }
}

/** The exports that are still where they were put. */
export function findExports(dataDir: string): readonly FoundExport[] {
  const inside = join(dataDir, 'exports');
  const folders = new Set([
    ...reading(inside, () => readdirSync(inside).map((name) => join(inside, name))),
    ...readList(dataDir, folderEntry).map(({ folder }) => folder),
  ]);
  return [...folders].flatMap((folder) => describe(folder) ?? []);
}

/** The workbooks that are still where they were kept. */
export function findKeptWorkbooks(dataDir: string): readonly KeptWorkbook[] {
  const byFile = new Map(readList(dataDir, workbookEntry).map((kept) => [kept.file, kept]));
  return [...byFile.values()].filter(({ file }) => existsSync(file));
}

/** Whether an export could be noted there: found out before one is made. */
export function mustBeListable(dataDir: string): void {
  const path = listFile(dataDir);
  if (listIn(dataDir)?.isFile() !== false) return;
  throw new UsageError(
    `${path} is no file, and should be the list of the exports`,
    'Move it away, and start again: tables in it are made again by `kybatch export`, for 0 units.',
  );
}

/** Where a ledger is in a database nobody has found out yet whether the data directory can be one. */
function listIn(dataDir: string) {
  try {
    return statSync(listFile(dataDir), { throwIfNoEntry: false });
  } catch (error) {
    throw asPlaceError(error, `the data directory ${dataDir}`);
  }
}

const path = z.string().refine(isAbsolute);
const folderEntry = z.object({ run: z.string(), folder: path, at: z.string() });
const workbookEntry = z.object({ run: z.string(), file: path, at: z.string() });

/** A line that is no such entry (of a process that was killed, of a disk that failed) is passed over. */
function readList<T>(dataDir: string, entry: z.ZodType<T>): readonly T[] {
  mustBeListable(dataDir);
  const list = listFile(dataDir);
  return reading(list, () => readFileSync(list, 'utf8').split('\n')).flatMap((line) => {
    try {
      const { success, data } = entry.safeParse(JSON.parse(line));
      return success ? [data] : [];
    } catch {
      return [];
    }
  });
}

/** Nothing where it is not there. What is there and cannot be read is not passed over: it may name an export. */
function reading<T>(path: string, read: () => readonly T[]): readonly T[] {
  if (!existsSync(path)) return [];
  try {
    return read();
  } catch (error) {
    throw asPlaceError(error, path);
  }
}

function describe(folder: string): FoundExport | undefined {
  const marker = readMarker(folder);
  if (marker === undefined) return undefined;
  const { run, at, options } = marker;
  return { run, folder, at, options };
}
