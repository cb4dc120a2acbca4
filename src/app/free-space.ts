import { FileError } from '../domain/errors.js';
import { freeBytes } from '../util/free-space.js';
import type { TableOptions } from './export.js';
import { dataDirOf, type PlaceOptions, pathIn, type Surroundings } from './surroundings.js';

const MB = 1024 * 1024;

/** Below the floor nothing is begun: an answer that is paid for must find room. */
export const SPACE = { floor: 16 * MB, noted: 1024 * MB } as const;

export const freeSpace = (dataDir: string, around: Surroundings): number | undefined =>
  (around.freeBytes ?? freeBytes)(dataDir);

/** Before anything is spent: where the ledger is, and where the tables will be. */
export function mustHaveSpace(options: PlaceOptions & Pick<TableOptions, 'out'>, around: Surroundings): void {
  mustHaveRoom('the data directory', dataDirOf(options, around), around);
  if (options.out !== undefined) mustHaveRoom('the tables (--out)', pathIn(around, options.out), around);
}

function mustHaveRoom(what: string, path: string, around: Surroundings): void {
  const free = freeSpace(path, around);
  if (free === undefined || free >= SPACE.floor) return;
  throw new FileError(`the disk of ${what} ${path} is full: ${megabytes(free)} left`, {
    code: 'DISK_FULL',
    what: 'the disk is full',
    hint: `Free some space there (${megabytes(SPACE.floor)} at the least), then start again. Nothing was spent.`,
  });
}

export const megabytes = (bytes: number): string => `${Math.floor(bytes / MB)} MB`;
