import { LedgerError, systemFailure } from '../domain/errors.js';
import { Packer } from './answers/bodies.js';
import { openSnapshot } from './answers/snapshot-store.js';
import { believedTimes, type Times } from './clock-ahead.js';
import type { Database } from './db/database.js';
import type { Housekeeping } from './erase/housekeeping.js';
import { housekeepingStore } from './erase/housekeeping-store.js';
import { mustBeNumbered } from './health.js';
import { callStore } from './money/call-store.js';
import type { CallStore } from './money/calls.js';
import { type UnknownChargeStore, unknownChargeStore } from './money/unknown-charges.js';
import { changeStore } from './portfolio/change-store.js';
import type { ChangeStore } from './portfolio/changes.js';
import { portfolioStore } from './portfolio/portfolio-store.js';
import type { PortfolioStore } from './portfolio/portfolios.js';
import { type WatchStore, watchStore } from './portfolio/watches.js';
import { type LedgerQueries, ledgerQueries } from './queries.js';
import type { ReviewStore } from './review/review.js';
import { reviewStore } from './review/review-store.js';
import { runFinder, runStore } from './rows/run-store.js';
import type { RunStore } from './rows/runs.js';
import type { JobStore, Signals } from './rows/workers.js';

/**
 * The store of everything that was paid for and everything that was decided, cut along its transactions. Every method
 * that writes is one transaction; it is asynchronous although SQLite is not: a write resolves when it is on disk, many
 * writes share one commit, and a database on another machine can stand behind the same interface. Reads see every
 * write that was asked for before them, but for a settlement whose body is still being packed.
 */
export interface Ledger {
  /** Money: starts, intents, settlements, owned answers, allowances. */
  readonly calls: CallStore;
  /** Calls whose charge nobody knows. */
  readonly doubts: UnknownChargeStore;
  /** Runs, their rows, and what each row has come to. */
  readonly runs: RunStore;
  /** Lists of companies that are kept up to date. */
  readonly portfolios: PortfolioStore;
  /** What new answers say otherwise than those before them. */
  readonly changes: ChangeStore;
  /** Companies that the provider watches, and what it says has changed. */
  readonly watches: WatchStore;
  /** Questions for people, and what they decided. */
  readonly review: ReviewStore;
  /** What commands that look want to know; nothing is changed. */
  readonly reading: LedgerQueries;
  readonly housekeeping: Housekeeping;
  /** Where several can work on one run: who works on what. Undefined: one process has it for itself. */
  readonly jobs?: JobStore | undefined;
  /** And what they tell each other. */
  readonly signals?: Signals | undefined;
  /** What is believed of the times in it. */
  readonly times: Times;
  close(): Promise<void>;
}

/** Where what was bought is kept. */
export interface LedgerPlace {
  readonly dataDir: string;
  /** Without it: SQLite in the data directory. */
  readonly ledgerUrl?: string | undefined;
}

export interface LedgerOptions extends LedgerPlace {
  readonly now: number;
  /** For whoever has it open for days; without it, time stands still. */
  readonly clock?: (() => number) | undefined;
  /**
   * - `write`: for the one process that works here; created where there is none, and brought up to date.
   * - `existing`: the same, for commands that have nothing to do where there is none.
   * - `note`: for a look that leaves a note: the ledger is whole and of this version, and nothing else in it is touched.
   * - `read`: for commands that only look; it may be in use meanwhile.
   */
  readonly access: 'write' | 'existing' | 'note' | 'read';
  /** Told about things that are odd and not wrong. */
  readonly onNote?: ((note: string) => void) | undefined;
  /** How many large bodies are packed on the first thread before a second one is started. */
  readonly packAlone?: number;
  /** Pages the file may have: SQLite then says that the disk is full. */
  readonly pagesAtMost?: number;
  /** For so long a database on a server may be away before whoever needs it gives up. */
  readonly patienceMs?: number;
  /** Whoever waits for it gives up when this is aborted. */
  readonly giveUp?: AbortSignal | undefined;
  /** Bytes left where a file is; without it the file system is asked. */
  readonly freeBytes?: (path: string) => number | undefined;
}

export interface Migrated {
  /** The schema that the ledger had, and has. */
  readonly from: number;
  readonly to: number;
  /** The tables from which work is handed out were made, or made anew. */
  readonly madeJobs: boolean;
}

/** A copy of a ledger in a file, as it was when the copying began. */
export interface BackedUp {
  readonly path: string;
  readonly bytes: number;
  readonly schema: number;
  readonly calls: number;
  readonly units: number;
  readonly answers: number;
  readonly decisions: number;
}

/** In pages. */
export interface BackupProgress {
  readonly done: number;
  readonly of: number;
}

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
    return opened && withLedgerErrors(opened, name);
  };
  // Each is prepared when it is first asked for: every command opens a ledger, a start three times, and few need all of it.
  const store = <T extends object>(make: () => T) => once(() => withLedgerErrors(make(), name));
  const calls = store<CallStore>(money);
  const doubts = store(() => unknownChargeStore(database));
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
    reading: withLedgerErrors<LedgerQueries>({ ...ledgerQueries(database, now, clock), snapshot }, name),
    housekeeping: withLedgerErrors<Housekeeping>(housekeepingStore(database, now, flush), name),
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

type Method = (...args: readonly unknown[]) => unknown;

/**
 * The same store, whose every method tells a failing machine (a full disk, a damaged file) as a LedgerError: a row that
 * reads when the file breaks must not be taken for a row that failed. Defects pass as they are.
 */
function withLedgerErrors<T extends object>(store: T, path: string): T {
  const told = (cause: unknown): unknown =>
    systemFailure(cause) === undefined || cause instanceof LedgerError ? cause : new LedgerError(cause, path);
  const wrap =
    (method: Method): Method =>
    (...args) => {
      const result = method(...args);
      if (result instanceof Promise)
        return result.catch((cause: unknown) => {
          throw told(cause);
        });
      return isIterable(result) ? read(result, told) : result;
    };
  const members = Object.entries(store).map(([name, member]) => [
    name,
    typeof member === 'function' ? wrap(member as Method) : member,
  ]);
  return Object.fromEntries(members) as T;
}

async function* read<T>(items: AsyncIterable<T>, told: (cause: unknown) => unknown): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (cause) {
    throw told(cause);
  }
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
