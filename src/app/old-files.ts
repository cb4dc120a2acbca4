import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asPlaceError } from '../domain/errors.js';
import { type ExportFolder, findExports, findKeptWorkbooks } from '../export/export-folders.js';
import { ownFiles, removeExport } from '../export/remove-export.js';

/** Exports and logs from before a time. Removing them needs no room, whatever the ledger needs. */
export interface OldFiles {
  /** Folders in the data directory. */
  readonly exports: readonly string[];
  readonly logs: readonly string[];
  readonly bytes: number;
  /** Exports outside of the data directory: they are the user's. */
  readonly elsewhere: readonly string[];
  /** Workbooks that somebody had worked in, kept beside their exports: they are the user's, too. */
  readonly workbooks: readonly string[];
}

/** What stays, whatever its age. */
export interface Staying {
  /** Runs that are not finished: they keep their log. */
  readonly unfinished: readonly string[];
  /** Runs, and the portfolio with members that each is of: its newest tables may be the only ones. */
  readonly lists: ReadonlyMap<string, number>;
}

/** `staying` is null where nobody knows: then all logs stay, and no tables, for they are made again for 0 units. */
export function findOldFiles(dataDir: string, before: number, staying: Staying | null): OldFiles {
  const found = findExports(dataDir);
  const kept = new Set(newestTables(found.filter(isIn(dataDir)), staying?.lists ?? new Map()));
  const old = found.filter((tables) => Date.parse(tables.at) < before && !kept.has(tables));
  const folders = old.map(({ folder }) => folder);
  const exports = old.filter(isIn(dataDir)).map(({ folder }) => folder);
  const logs = staying === null ? [] : oldLogs(join(dataDir, 'logs'), before, staying.unfinished);
  return {
    exports,
    logs,
    bytes: sizeOf([...exports.flatMap(ownFiles), ...logs]),
    elsewhere: folders.filter((folder) => !exports.includes(folder)),
    workbooks: findKeptWorkbooks(dataDir)
      .filter(({ at }) => Date.parse(at) < before)
      .map(({ file }) => file),
  };
}

const isIn =
  (dataDir: string) =>
  ({ folder }: ExportFolder): boolean =>
    dirname(folder) === join(dataDir, 'exports');

/** Of each portfolio. */
function newestTables(found: readonly ExportFolder[], lists: Staying['lists']): Iterable<ExportFolder> {
  const newest = new Map<number, ExportFolder>();
  for (const tables of found) {
    const list = lists.get(tables.run);
    if (list === undefined) continue;
    const other = newest.get(list);
    if (other === undefined || Date.parse(other.at) < Date.parse(tables.at)) newest.set(list, tables);
  }
  return newest.values();
}

/** The export folders that hold something of others, and stay. */
export function removeOldFiles({ exports, logs }: OldFiles): readonly string[] {
  for (const log of logs) rmSync(log, { force: true });
  return exports.filter((folder) => !removeExport(folder));
}

function oldLogs(folder: string, before: number, goingOn: readonly string[]): readonly string[] {
  if (!existsSync(folder)) return [];
  return namesIn(folder)
    .filter((name) => /\.log(?:\.\d+)?$/.test(name) && !goingOn.some((run) => name.startsWith(run)))
    .map((name) => join(folder, name))
    .filter((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found?.isFile() && found.mtimeMs < before;
    });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    throw asPlaceError(error, folder);
  }
}

const sizeOf = (files: readonly string[]): number =>
  files.reduce((sum, path) => sum + (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
