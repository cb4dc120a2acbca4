import { asPlaceError } from '../../domain/errors.js';
import type { CallStore } from '../calls.js';
import { aheadInWords, isNews } from '../clock-ahead.js';
import type { Housekeeping } from '../housekeeping.js';
import type { Ledger } from '../ledger.js';
import type { LedgerOptions } from '../options.js';
import type { Reading } from '../reading.js';
import type { RunStore } from '../runs.js';
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
import { runFinder, runStore } from './runs.js';
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
  const { dataDir, access, now, clock, packAlone, freeBytes, onNote } = options;
  const path = database.name;
  const writer = new Writer(database);
  const times = new BelievedTimes(database, now, clock);
  const packer = new Packer(packAlone);
  const money = once(() => callStore(database, writer, times, packer, new Room(path, freeBytes), onNote));
  const flush = async () => {
    if (access !== 'read') await money().allSettled();
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
  // Each is prepared when it is first asked for: every command opens a ledger, a start three times, and few need all of it.
  const store = <T extends object>(make: () => T) => once(() => inWords(make(), path));
  const calls = store<CallStore>(money);
  const doubts = store(() => doubtStore(database, writer, dataDir));
  const runs = store<RunStore>(() => {
    const all = runStore(database, writer, times);
    return {
      ...all,
      async mustBeReadable(runId) {
        await all.mustBeReadable(runId);
        mustBeNumbered(database, runId);
      },
    };
  });
  const portfolios = store(() => portfolioStore(database, writer, times, runFinder(database)));
  const changes = store(() => changeStore(database, writer));
  const watches = store(() => watchStore(database, writer, times));
  const review = store(() => reviewStore(database, writer));
  // But a file that does not fit is refused before anything is bought.
  if (access !== 'read') for (const needed of [calls, doubts, runs]) needed();
  return {
    times,
    get calls() {
      return calls();
    },
    get doubts() {
      return doubts();
    },
    get runs() {
      return runs();
    },
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
