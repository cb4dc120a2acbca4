import type { Ledger } from '../ledger.js';
import { callStore } from './calls.js';
import { evidenceStore } from './evidence.js';
import { openSnapshot } from './export-reads.js';
import { acquireLock } from './lock.js';
import { type Connection, mustExist, openForReading, openForWriting } from './open.js';
import { Packer } from './packer.js';
import { previewPurge, purge } from './purge.js';
import { searchEverywhere } from './purge-proof.js';
import { reviewStore } from './review.js';
import { rowStore } from './rows.js';
import { runStore } from './runs.js';
import { statusReads } from './status-reads.js';
import { Writer } from './writer.js';

/** The ledger of a data directory, for the one process that holds its lock. Throws LockedError if another does. */
export function openLedger(dataDir: string, now: number, packer = new Packer()): Ledger {
  const lock = acquireLock(dataDir);
  try {
    return compose(openForWriting(dataDir, now), packer, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The same, for commands that have nothing to do where there is no ledger: none is created. */
export function openExistingLedger(dataDir: string, now: number): Ledger {
  mustExist(dataDir);
  return openLedger(dataDir, now);
}

/** The same ledger for commands that only look; it may be in use meanwhile. */
export function openLedgerForReading(dataDir: string): Ledger {
  return compose(openForReading(dataDir), new Packer(), () => {});
}

function compose(database: Connection, packer: Packer, onClose: () => void): Ledger {
  const writer = new Writer(database);
  const { allSettled, ...calls } = callStore(database, writer, packer);
  const flush = async () => {
    await allSettled();
    await writer.flush();
  };
  return {
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
      return await openSnapshot(database.name, runId);
    },
    flush,
    async close() {
      await flush();
      database.close();
      await packer.close();
      onClose();
    },
  };
}
