import { asPlaceError } from '../../domain/errors.js';
import type { Ledger } from '../ledger.js';
import { callStore } from './calls.js';
import { evidenceStore } from './evidence.js';
import { openSnapshot } from './export-reads.js';
import { inWords } from './in-words.js';
import { acquireLock } from './lock.js';
import { type Connection, ledgerPath, mustExist, type OpenLimits, openForReading, openForWriting } from './open.js';
import { Packer } from './packer.js';
import { previewPurge, purge } from './purge.js';
import { searchEverywhere } from './purge-proof.js';
import { reviewStore } from './review.js';
import { Room } from './room.js';
import { rowStore } from './rows.js';
import { runStore } from './runs.js';
import { statusReads } from './status-reads.js';
import { Writer } from './writer.js';

/** The ledger of a data directory, for the one process that holds its lock. Throws LockedError if another does. */
export function openLedger(dataDir: string, now: number, packer = new Packer(), limits: OpenLimits = {}): Ledger {
  const lock = acquireLock(dataDir);
  try {
    return compose(openForWriting(dataDir, now, limits), packer, () => lock.release(), limits);
  } catch (error) {
    lock.release();
    throw asPlaceError(error, `the ledger ${ledgerPath(dataDir)}`);
  }
}

/** The same, for commands that have nothing to do where there is no ledger: none is created. */
export function openExistingLedger(dataDir: string, now: number): Ledger {
  mustExist(dataDir);
  return openLedger(dataDir, now);
}

/** The same ledger for commands that only look; it may be in use meanwhile. */
export function openLedgerForReading(dataDir: string): Ledger {
  try {
    return compose(openForReading(dataDir), new Packer(), () => {});
  } catch (error) {
    throw asPlaceError(error, `the ledger ${ledgerPath(dataDir)}`);
  }
}

function compose(database: Connection, packer: Packer, onClose: () => void, limits: OpenLimits = {}): Ledger {
  const writer = new Writer(database);
  const { allSettled, ...calls } = callStore(database, writer, packer, new Room(database.name, limits.freeBytes));
  const flush = async () => {
    await allSettled();
    await writer.flush();
  };
  const ledger: Ledger = {
    ...runStore(database, writer),
    ...rowStore(database, writer),
    ...calls,
    ...evidenceStore(database, writer),
    ...reviewStore(database, writer),
    ...statusReads(database),
    async purge(request) {
      await flush();
      return purge(database, request);
    },
    async previewPurge(request) {
      await flush();
      return previewPurge(database, request);
    },
    async searchEverywhere(identifiers) {
      await flush();
      return searchEverywhere(database, identifiers);
    },
    async snapshot(runId) {
      await flush();
      const snapshot = await openSnapshot(database.name, runId);
      return snapshot && inWords(snapshot, database.name);
    },
    flush,
    async close() {
      try {
        await flush();
      } finally {
        // Whatever could not be written: the file and the lock are let go.
        database.close();
        await packer.close();
        onClose();
      }
    },
  };
  return inWords(ledger, database.name);
}
