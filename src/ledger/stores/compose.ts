import type { CallStore } from '../calls.js';
import type { Database } from '../database.js';
import type { Housekeeping } from '../housekeeping.js';
import type { Ledger } from '../ledger.js';
import type { LedgerOptions } from '../options.js';
import type { Reading } from '../reading.js';
import type { RunStore } from '../runs.js';
import { callStore } from './calls.js';
import { changeStore } from './changes.js';
import { doubtStore } from './doubts.js';
import { housekeepingStore } from './housekeeping.js';
import { inWords } from './in-words.js';
import { Packer } from './packer.js';
import { portfolioStore } from './portfolios.js';
import { readings } from './reading.js';
import { reviewStore } from './review.js';
import { mustBeNumbered } from './row-numbers.js';
import { runFinder, runStore } from './runs.js';
import { openSnapshot } from './snapshot.js';
import { believedTimes } from './times.js';
import { watchStore } from './watches.js';

type ComposeOptions = Pick<LedgerOptions, 'access' | 'now' | 'clock' | 'packAlone' | 'onNote'>;

/** All stores on one database, whichever engine that is. */
export async function composeLedger(database: Database, options: ComposeOptions): Promise<Ledger> {
  const { access, now, clock, packAlone, onNote } = options;
  const { name } = database;
  const times = await database.read(() => believedTimes(database, now, clock));
  const packer = new Packer(packAlone);
  const money = once(() => callStore(database, times, packer, onNote));
  const flush = async () => {
    if (access !== 'read') await money().allSettled();
    await database.flush();
  };
  const snapshot = async (runId: string) => {
    await flush();
    const opened = await openSnapshot(await database.snapshot(), runId, times);
    return opened && inWords(opened, name);
  };
  // Each is prepared when it is first asked for: every command opens a ledger, a start three times, and few need all of it.
  const store = <T extends object>(make: () => T) => once(() => inWords(make(), name));
  const calls = store<CallStore>(money);
  const doubts = store(() => doubtStore(database));
  const runs = store<RunStore>(() => {
    const all = runStore(database, times);
    return {
      ...all,
      async mustBeReadable(runId) {
        await all.mustBeReadable(runId);
        await database.read(() => mustBeNumbered(database, runId));
      },
    };
  });
  const portfolios = store(() => portfolioStore(database, times, runFinder(database)));
  const changes = store(() => changeStore(database));
  const watches = store(() => watchStore(database, times));
  const review = store(() => reviewStore(database));
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
    reading: inWords<Reading>({ ...readings(database, now, clock), snapshot }, name),
    housekeeping: inWords<Housekeeping>(housekeepingStore(database, now, flush), name),
    async close() {
      try {
        await flush();
      } finally {
        // Whatever could not be written: the file and the lock are let go.
        await database.close();
        await packer.close();
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
