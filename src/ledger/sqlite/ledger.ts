import { asPlaceError } from '../../domain/errors.js';
import { aheadInWords, isNews } from '../clock-ahead.js';
import type { Housekeeping } from '../housekeeping.js';
import type { Ledger } from '../ledger.js';
import type { LedgerOptions } from '../options.js';
import type { Reading } from '../reading.js';
import { callStore } from './calls.js';
import { changeStore } from './changes.js';
import { doubtStore } from './doubts.js';
import type { Connection } from './driver.js';
import { inWords } from './in-words.js';
import { acquireLock } from './lock.js';
import { ledgerPath, mustExist, openForReading, openForWriting } from './open.js';
import { Packer } from './packer.js';
import { portfolioStore } from './portfolios.js';
import { previewPrune, prune } from './prune.js';
import { goOnPurge, previewPurge, purge } from './purge.js';
import { searchEverywhere } from './purge-proof.js';
import { readings } from './reading.js';
import { dropPortfolio, dropRun } from './remove-runs.js';
import { reviewStore } from './review.js';
import { Room } from './room.js';
import { mustBeNumbered } from './row-numbers.js';
import { runStore } from './runs.js';
import { signsOfLoss } from './signs-of-loss.js';
import { openSnapshot } from './snapshot.js';
import { bringForward, endOtherStarts } from './starts.js';
import { BelievedTimes, noteAhead } from './times.js';
import { forgetPurge } from './unfinished-purges.js';
import { watchStore } from './watches.js';
import { newestBytes } from './whole.js';
import { Writer } from './writer.js';

export function openSqliteLedger(options: LedgerOptions): Ledger {
  const { dataDir, access } = options;
  try {
    if (access === 'read') {
      const { database, remove } = openForReading(dataDir, options.now, options.onNote);
      return compose(database, options, remove);
    }
    if (access !== 'write') mustExist(dataDir);
    return openLocked(options);
  } catch (error) {
    throw asPlaceError(error, `the ledger ${ledgerPath(dataDir)}`);
  }
}

function openLocked(options: LedgerOptions): Ledger {
  const { dataDir, access, now, pagesAtMost, onNote } = options;
  const lock = acquireLock(dataDir);
  try {
    const hadNewest = newestBytes(ledgerPath(dataDir)) > 0;
    const database = openForWriting(dataDir, now, pagesAtMost);
    if (access === 'note') return compose(database, options, () => lock.release());
    const loss = signsOfLoss(database, dataDir, hadNewest);
    if (loss !== undefined) onNote?.(loss);
    endOtherStarts(database, now);
    bringForward(database, now);
    const ahead = noteAhead(database, now);
    if (ahead !== null && isNews(ahead, now)) onNote?.(aheadInWords(ahead, now));
    return compose(database, options, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

function compose(database: Connection, options: LedgerOptions, onClose: () => void): Ledger {
  const { dataDir, now, clock, packAlone, freeBytes, onNote } = options;
  const path = database.name;
  const writer = new Writer(database);
  const times = new BelievedTimes(database, now, clock);
  const packer = new Packer(packAlone);
  const { allSettled, ...calls } = callStore(database, writer, times, packer, new Room(path, freeBytes), onNote);
  const { findNow, ...runs } = runStore(database, writer, times);
  const flush = async () => {
    await allSettled();
    await writer.flush();
  };
  const settled = async <T>(work: () => T): Promise<Awaited<T>> => {
    await flush();
    return await work();
  };
  const snapshot = async (runId: string) => {
    const opened = await openSnapshot(path, runId, times);
    return opened && inWords(opened, path);
  };
  // What money and rows need is prepared at once, so that a file that does not fit is refused before anything is bought; the
  // rest when it is first asked for: every command opens a ledger, and few need all of it.
  const portfolios = once(() => inWords(portfolioStore(database, writer, times, findNow), path));
  const changes = once(() => inWords(changeStore(database, writer), path));
  const watches = once(() => inWords(watchStore(database, writer, times), path));
  const review = once(() => inWords(reviewStore(database, writer), path));
  return {
    times,
    calls: inWords(calls, path),
    doubts: inWords(doubtStore(database, writer, dataDir), path),
    runs: inWords(
      {
        ...runs,
        async mustBeReadable(runId) {
          await runs.mustBeReadable(runId);
          mustBeNumbered(database, runId);
        },
      },
      path,
    ),
    get portfolios() {
      return portfolios();
    },
    get changes() {
      return changes();
    },
    get watches() {
      return watches();
    },
    get review() {
      return review();
    },
    reading: inWords<Reading>(
      { ...readings(database, dataDir, now), snapshot: (runId) => settled(() => snapshot(runId)) },
      path,
    ),
    housekeeping: inWords<Housekeeping>(
      {
        purge: (request, itemIds) => settled(() => purge(database, request, itemIds, now)),
        goOnPurge: (request) => settled(() => goOnPurge(database, request)),
        purgeProved: (request) => settled(() => forgetPurge(database, request)),
        previewPurge: (request, itemIds) => settled(() => previewPurge(database, request, itemIds, now)),
        prune: (before) => settled(() => prune(database, before)),
        previewPrune: (before) => settled(() => previewPrune(database, before)),
        dropRun: (runId) => settled(() => dropRun(database, runId)),
        dropPortfolio: (portfolioId) => settled(() => dropPortfolio(database, portfolioId)),
        searchEverywhere: (identifiers) => settled(() => searchEverywhere(database, identifiers)),
        flush,
      },
      path,
    ),
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
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
