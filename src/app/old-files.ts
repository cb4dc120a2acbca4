import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asPlaceError } from '../domain/errors.js';
import { findExports } from '../export/export-folders.js';
import { ownFiles, removeExport } from '../export/remove-export.js';

/** Exports and logs from before a time. Removing them needs no room, whatever the ledger needs. */
export interface OldFiles {
  /** Folders in the data directory. */
  readonly exports: readonly string[];
  readonly logs: readonly string[];
  readonly bytes: number;
  /** Exports outside of the data directory: they are the user's. */
  readonly elsewhere: readonly string[];
}

/** `goingOn`: runs that keep their log; null where nobody knows which do, so that all stay. */
export function findOldFiles(dataDir: string, before: number, goingOn: readonly string[] | null): OldFiles {
  const folders = findExports(dataDir)
    .filter(({ at }) => Date.parse(at) < before)
    .map(({ folder }) => folder);
  const exports = folders.filter((folder) => dirname(folder) === join(dataDir, 'exports'));
  const logs = goingOn === null ? [] : oldLogs(join(dataDir, 'logs'), before, goingOn);
  return {
    exports,
    logs,
    bytes: sizeOf([...exports.flatMap(ownFiles), ...logs]),
    elsewhere: folders.filter((folder) => !exports.includes(folder)),
  };
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
