import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asFileError, UsageError } from '../domain/errors.js';
import { readMarker } from './export-marker.js';

/** An export that was made. Those outside of the data directory would otherwise be forgotten when data must go. */
export interface ExportFolder {
  readonly run: string;
  readonly folder: string;
  readonly at: string;
  /** Absent where the export does not say. */
  readonly formats?: readonly string[];
}

const listFile = (dataDir: string) => join(dataDir, 'exports.jsonl');

export function noteExport(dataDir: string, made: ExportFolder): void {
  const path = listFile(dataDir);
  try {
    appendFileSync(path, `${JSON.stringify(made)}\n`, { mode: 0o600 });
  } catch (error) {
    throw asFileError(error, path);
  }
}

/** The exports that are still where they were put. */
export function findExports(dataDir: string): readonly ExportFolder[] {
  const inside = join(dataDir, 'exports');
  const folders = new Set([
    ...(existsSync(inside) ? readdirSync(inside).map((name) => join(inside, name)) : []),
    ...readList(dataDir).map(({ folder }) => folder),
  ]);
  return [...folders].flatMap((folder) => describe(folder) ?? []);
}

/** Whether an export could be noted there: found out before one is made. */
export function mustBeListable(dataDir: string): void {
  const path = listFile(dataDir);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== false) return;
  throw new UsageError(
    `${path} is no file, and should be the list of the exports`,
    'Move it away, and start again: tables in it are made again by `kybatch export`, for 0 units.',
  );
}

function readList(dataDir: string): readonly ExportFolder[] {
  const path = listFile(dataDir);
  if (!existsSync(path)) return [];
  mustBeListable(dataDir);
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as ExportFolder];
      } catch {
        // The last line of a process that was killed.
        return [];
      }
    });
}

function describe(folder: string): ExportFolder | undefined {
  const marker = readMarker(folder);
  if (marker === undefined) return undefined;
  const { run, at, formats } = marker;
  return { run, folder, at, ...(formats === undefined ? {} : { formats }) };
}
