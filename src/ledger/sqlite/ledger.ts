import type { Ledger } from '../ledger.js';
import { callStore } from './calls.js';
import { evidenceStore } from './evidence.js';
import { openSnapshot } from './export-reads.js';
import { acquireLock } from './lock.js';
import { type Connection, openForReading, openForWriting } from './open.js';
import { Packer } from './packer.js';
import { purge } from './purge.js';
import { reviewStore } from './review.js';
import { rowStore } from './rows.js';
import { runStore } from './runs.js';
import { statusReads } from './status-reads.js';
import { Writer } from './writer.js';

/** The ledger of a data directory, for the one process that holds its lock. Throws LockedError if another does. */
export function openLedger(dataDir: string, now: number): Ledger {
  const lock = acquireLock(dataDir);
  try {
    return compose(openForWriting(dataDir, now), () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The same ledger for commands that only look; it may be in use meanwhile. */
export function openLedgerForReading(dataDir: string): Ledger {
  return compose(openForReading(dataDir), () => {});
}

function compose(database: Connection, onClose: () => void): Ledger {
  const writer = new Writer(database);
  const packer = new Packer();
  return {
    ...runStore(database, writer),
    ...rowStore(database, writer),
    ...callStore(database, writer, packer),
    ...evidenceStore(database, writer),
    ...reviewStore(database, writer),
    ...statusReads(database),
    async purge(request) {
      await writer.flush();
      return purge(database, request);
    },
    async snapshot(runId) {
      await writer.flush();
      return await openSnapshot(database.name, runId);
    },
    flush: () => writer.flush(),
    async close() {
      await writer.flush();
      database.close();
      await packer.close();
      onClose();
    },
  };
}
