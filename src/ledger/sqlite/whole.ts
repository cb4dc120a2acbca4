import { type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { systemFailure } from '../../domain/system-failure.js';
import { DamagedLedger } from './damaged-ledger.js';
import { readWal } from './wal.js';
import { readWalIndex } from './wal-index.js';

/** No SQLite file is shorter than its header, and a ledger takes its name only when it is made (`new-ledger.ts`). */
const SHORTEST_BYTES = 100;

/** The newest part of a ledger lies beside it until SQLite brings it in. */
export const newestBytes = (path: string): number => sizeOf(`${path}-wal`);

/** Refuses what is left of a ledger where the rest of it is gone: taken for none at all, all would be bought again. */
export function mustNotBeRemains(path: string, found: Stats | undefined): void {
  const name = basename(path);
  if (found !== undefined && found.size < SHORTEST_BYTES)
    throw new DamagedLedger(
      path,
      `${name} has ${found.size} bytes, and no database has so few`,
      `Restore a copy. Only where nothing was ever bought with it can ${path} be removed.`,
    );
  if (found === undefined && newestBytes(path) > 0)
    throw new DamagedLedger(
      path,
      `${name} is gone, and its newest part, ${name}-wal, is there`,
      `Restore a copy. Only where nothing was ever bought with it can ${path}-wal be removed.`,
    );
}

/** The same where the file is there, and all that was in it has not come back. */
export const noSchema = (path: string): DamagedLedger =>
  new DamagedLedger(
    path,
    `nothing is in ${basename(path)}, and its newest part, ${basename(path)}-wal, does not fit it`,
    'Restore a copy of both.',
  );

/**
 * Refuses a ledger whose newest part is damaged, before SQLite opens it: SQLite drops what comes after a damaged frame
 * without a word, and what was bought there would be bought again. For whoever holds the lock, or where nobody does.
 */
export function mustHaveItsNewest(path: string): void {
  const lost = whatIsLost(path);
  if (lost === undefined) return;
  throw new DamagedLedger(
    path,
    lost,
    `Restore a copy of ${path} and ${path}-wal. Without one, move ${path}-wal and ${path}-shm away: the ledger is then as it was before, and what was bought after that is paid for again.`,
  );
}

function whatIsLost(path: string): string | undefined {
  const name = `${basename(path)}-wal`;
  const bytes = newestBytes(path);
  try {
    const wal = bytes === 0 ? undefined : readWal(`${path}-wal`);
    if (wal?.kind === 'broken') return `${name}: ${wal.what}`;
    const index = sizeOf(`${path}-shm`) === 0 ? undefined : readWalIndex(`${path}-shm`);
    if (index === undefined) return undefined;
    if (wal === undefined)
      return index.frames > index.inDatabase
        ? `${name}, with what was written last, is ${statSync(`${path}-wal`, { throwIfNoEntry: false }) === undefined ? 'gone' : 'empty'}`
        : undefined;
    return wal.salts.equals(index.salts) && index.frames > wal.committedFrames
      ? `${name}: of ${index.frames} frames that were written, ${wal.committedFrames} can be read`
      : undefined;
  } catch (error) {
    // Another user's may be closed to us: that says nothing about it.
    if (systemFailure(error)?.code === 'NO_PERMISSION' || (error as NodeJS.ErrnoException).code === 'ENOENT')
      return undefined;
    throw error;
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
