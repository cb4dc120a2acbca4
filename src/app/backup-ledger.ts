import { FileError, UsageError } from '../domain/errors.js';
import { backUpLedger, ledgerBytes } from '../ledger/open-ledger.js';
import type { BackedUp, BackupProgress } from '../ledger/options.js';
import { freeSpace, megabytes } from './free-space.js';
import { mustNotBeOurs } from './own-place.js';
import { here, ledgerOf, type PlaceOptions, pathIn, type Surroundings } from './surroundings.js';

export interface BackupOptions extends PlaceOptions {
  /** The folder that the copy is put into. It has no ledger yet. */
  readonly to: string;
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined;
}

export interface BackupView extends BackedUp {
  readonly folder: string;
  readonly ms: number;
}

/** Copies the ledger while others may work with it. The folder of the copy can be used as a data directory. */
export async function backup(options: BackupOptions, around: Surroundings = here()): Promise<BackupView> {
  if (options.to.trim() === '') throw new UsageError('the folder is empty', 'Name the folder of the backup.');
  const place = ledgerOf(options, around);
  const folder = pathIn(around, options.to);
  if (place.ledgerUrl === undefined) {
    mustNotBeOurs(folder, place.dataDir);
    mustHaveRoomFor(ledgerBytes(place.dataDir) ?? 0, folder, around);
  }
  const began = around.clock.now();
  const copied = await backUpLedger(place, folder, options.onProgress);
  return { ...copied, folder, ms: around.clock.now() - began };
}

function mustHaveRoomFor(bytes: number, folder: string, around: Surroundings): void {
  const free = freeSpace(folder, around);
  if (free === undefined || free > bytes) return;
  throw new FileError(`the backup needs ${megabytes(bytes)}, and the disk of ${folder} has ${megabytes(free)} left`, {
    code: 'DISK_FULL',
    what: 'the disk is full',
    hint: 'Free some space there, or name a folder on another disk.',
  });
}
