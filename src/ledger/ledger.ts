import { LedgerError, systemFailure } from '../domain/errors.js';
import type { Message } from '../util/message-parts.js';
import { Packer } from './answers/bodies.js';
import { openSnapshot } from './answers/snapshot-store.js';
import type { Database } from './db/database.js';
import type { ClaimStore } from './db/postgres/claims.js';
import { type Housekeeping, housekeepingStore } from './erase/housekeeping-store.js';
import { type CallStore, callStore } from './money/call-store.js';
import { type UnknownChargeStore, unknownChargeStore } from './money/unknown-charges.js';
import { type ChangeStore, changeStore } from './portfolio/change-store.js';
import { type PortfolioStore, portfolioStore } from './portfolio/portfolio-store.js';
import { type WatchStore, watchStore } from './portfolio/watches.js';
import { type LedgerQueries, ledgerQueries } from './queries.js';
import { type ReviewStore, reviewStore } from './review/review-store.js';
import type { Signals } from './rows/claims.js';
import { type RowFinder, rowFinder } from './rows/find-rows.js';
import { type RunStore, runFinder, runStore } from './rows/run-store.js';

/**
 * The store of everything bought and decided, split along its transactions. Every method that writes is one
 * transaction. It resolves when the write is on disk, and many writes share a commit. Methods are asynchronous, so that
 * a database server fits the same interface. Reads see all earlier writes, except settlements whose body is still being
 * packed.
 */
export interface Ledger {
  /** Attempts, intents, settlements, stored answers and allowances. */
  readonly calls: CallStore;
  readonly unknownCharges: UnknownChargeStore;
  readonly runs: RunStore;
  readonly portfolios: PortfolioStore;
  /** Differences between new answers and those they replace. */
  readonly changes: ChangeStore;
  /** Companies that the provider watches, and their events. */
  readonly watches: WatchStore;
  readonly review: ReviewStore;
  /** Rows for display: by company, or by search and filters. */
  readonly rows: RowFinder;
  readonly reading: LedgerQueries;
  readonly housekeeping: Housekeeping;
  /** Commits that were made here and are missing: it is an older copy. */
  readonly lostCommits: number;
  /** From now on the ledger counts as complete. */
  acceptLoss(): void;
  /** The rows that workers have, if several can share a run. Undefined: one process has the ledger for itself. */
  readonly claims?: ClaimStore | undefined;
  /** Messages between those workers. */
  readonly signals?: Signals | undefined;
  close(): Promise<void>;
}

export interface LedgerPlace {
  readonly dataDir: string;
  /** Absent: SQLite in the data directory. */
  readonly ledgerUrl?: string | undefined;
}

export interface LedgerOptions extends LedgerPlace {
  readonly now: number;
  /** For a process that keeps the ledger open for days. Without it, `now` stays fixed. */
  readonly clock?: (() => number) | undefined;
  /**
   * - `write`: for the one process that works here. Creates or migrates the ledger.
   * - `existing`: the same, but for commands that need an existing ledger.
   * - `annotate`: for a query that stores a note. The ledger has this version and nothing else is changed.
   * - `read`: for commands that only read. Others may write meanwhile.
   */
  readonly access: 'write' | 'existing' | 'annotate' | 'read';
  /** Called for unusual findings that are no errors. */
  readonly onNote?: ((note: Message) => void) | undefined;
  /** The number of large bodies packed on the main thread before a second thread starts. */
  readonly packAlone?: number;
  /** Maximum number of pages of the file, after which SQLite reports a full disk. For tests. */
  readonly pagesAtMost?: number;
  /** How long to wait for a database server that is down. */
  readonly patienceMs?: number;
  /** Ends the wait. */
  readonly giveUp?: AbortSignal | undefined;
  /** Free bytes at a path. Absent: asks the file system. */
  readonly freeBytes?: (path: string) => number | undefined;
}

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** A copy of a ledger file, as of when the copying began. */
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

/** Builds all stores on one database of any engine. */
export async function composeLedger(database: Database, options: ComposeOptions): Promise<Ledger> {
  const { access, now, clock, packAlone, onNote } = options;
  const { name } = database;
  const packer = new Packer(packAlone);
  const money = once(() => callStore(database, packer, onNote));
  const flush = async () => {
    if (access !== 'read') await money().allSettled();
    await database.flush();
  };
  const snapshot: LedgerQueries['snapshot'] = async (runId, part) => {
    await flush();
    const opened = await openSnapshot(await database.snapshot(), runId, part);
    return opened && withLedgerErrors(opened, name);
  };
  const ledger = {
    get lostCommits() {
      return database.lostCommits;
    },
    acceptLoss: () => database.acceptLoss(),
    reading: withLedgerErrors<LedgerQueries>({ ...ledgerQueries(database, now, clock), snapshot }, name),
    housekeeping: withLedgerErrors<Housekeeping>(housekeepingStore(database, now, flush), name),
    async close() {
      try {
        await flush();
      } finally {
        // The file and the lock are released even if a write failed.
        await database.close();
        await packer.close();
      }
    },
  };
  const composed = withStores(ledger, name, {
    calls: (): CallStore => money(),
    unknownCharges: () => unknownChargeStore(database),
    runs: () => runStore(database),
    portfolios: () => portfolioStore(database, runFinder(database)),
    changes: () => changeStore(database),
    watches: () => watchStore(database),
    review: () => reviewStore(database),
    rows: () => rowFinder(database),
  });
  // A file that does not fit is refused before any spending.
  if (access !== 'read') void [composed.calls, composed.unknownCharges, composed.runs];
  return composed;
}

/** Each store is prepared on first use: every command opens a ledger, an attempt three times, and few need all stores. */
function withStores<T extends object, Makers extends Readonly<Record<string, () => object>>>(
  ledger: T,
  name: string,
  makers: Makers,
): T & { readonly [Store in keyof Makers]: ReturnType<Makers[Store]> } {
  for (const [store, make] of Object.entries(makers))
    Object.defineProperty(ledger, store, { enumerable: true, get: once(() => withLedgerErrors(make(), name)) });
  return ledger as T & { readonly [Store in keyof Makers]: ReturnType<Makers[Store]> };
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
 * Wraps every method so that a system failure (full disk, damaged file) becomes a LedgerError. Otherwise a row that
 * reads while the file breaks would count as failed. Other errors pass unchanged.
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
