import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { isLedgerUrlBlank, loadDataDir, loadPlace, loadPrices } from '../config/environment.js';
import { ExitCode, KybatchError, UsageError } from '../domain/errors.js';
import type { Prices } from '../domain/prices.js';
import type { Ledger, LedgerOptions, LedgerPlace } from '../ledger/ledger.js';
import { KeptCalls } from '../ledger/money/usage.js';
import { openLedger } from '../ledger/open-ledger.js';
import { isPersonName } from '../ledger/review/second-person.js';
import { type Clock, systemClock } from '../util/clock.js';
import { type Message, message } from '../util/message-parts.js';

/** The environment of every use case. Use cases print nothing: they return a view and call listeners. */
export interface AppEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** Called with remarks that are no errors. */
  readonly onNote?: ((note: Message) => void) | undefined;
  /** Standard input, which can be read once. Absent at a terminal. */
  readonly stdin?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Called with the progress through a long file. Null at its end. */
  readonly onReading?: ((progress: ReadingProgress | null) => void) | undefined;
  /** For a process that shows the same again and again: counts of rows and calls are kept (`keptUntilCommit`). */
  readonly keepsCounts?: boolean | undefined;
  /** Free bytes of a folder's disk. Default: from the file system. */
  readonly freeBytes?: ((path: string) => number | undefined) | undefined;
}

/** `share`: of the file, from 0 to 1. Null if its size is unknown. */
export interface ReadingProgress {
  readonly rows: number;
  readonly share: number | null;
}

export const processEnvironment = (): AppEnvironment => ({
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  ...(isatty(0) ? {} : { stdin: () => process.stdin }),
});

export interface PlaceOptions {
  /** Of the ledger and the exports. Default: `KYBATCH_DATA_DIR`, else `data`. `KYBATCH_LEDGER_URL` moves the ledger. */
  readonly dataDir?: string | undefined;
}

export const dataDirOf = (options: PlaceOptions, environment: AppEnvironment): string =>
  loadDataDir(environment, options);

/** An environment with its ledger open. */
export interface Workplace extends AppEnvironment {
  readonly ledger: Ledger;
  readonly dataDir: string;
}

/** Where the ledger is. It may contain a password, so use it only to open the ledger. */
export function ledgerOf(options: PlaceOptions, environment: AppEnvironment): LedgerPlace {
  const { dataDir, ledgerUrl } = loadPlace(environment, options);
  return { dataDir, ledgerUrl: ledgerUrl?.reveal() };
}

export const pathIn = (environment: AppEnvironment, path: string): string => resolve(environment.cwd, path);

/** The prices of a pipeline, else those of the environment. Null: neither sets any. */
export const pricesOf = (pipeline: { readonly prices: Prices | null } | undefined, environment: AppEnvironment) =>
  pipeline?.prices ?? loadPrices(environment);

/** `abort` ends the wait for a database that is down. `waitMs`: how long to wait for another process. */
export async function withLedger<T>(
  access: LedgerOptions['access'],
  options: PlaceOptions & { readonly abort?: AbortSignal | undefined; readonly waitMs?: number },
  environment: AppEnvironment,
  use: (ledger: Ledger, workplace: Workplace) => Promise<T>,
): Promise<T> {
  const place = ledgerOf(options, environment);
  const { clock, freeBytes, onNote } = environment;
  // If a database was intended, an empty ledger file would buy everything again.
  if (access === 'write' && place.ledgerUrl === undefined && isLedgerUrlBlank(environment))
    onNote?.(
      message('LEDGER_URL_EMPTY', `KYBATCH_LEDGER_URL is set, but empty: the ledger is the file in ${place.dataDir}`),
    );
  const more = { onNote, giveUp: options.abort, ...(freeBytes === undefined ? {} : { freeBytes }) };
  const open = () => openLedger({ ...place, now: clock.now(), clock: () => clock.now(), access, ...more });
  const ledger = await untilFree(open, options, environment);
  // An error at closing must not replace the one that says what was spent.
  let hasFailed = true;
  try {
    const isKept = environment.keepsCounts === true && access === 'read';
    const opened = isKept ? withKeptCounts(ledger, place.dataDir) : ledger;
    const result = await use(opened, { ...environment, ledger: opened, dataDir: place.dataDir });
    hasFailed = false;
    return result;
  } finally {
    await ledger.close().catch((error: unknown) => {
      if (!hasFailed) throw error;
    });
    // What a person has just changed is shown at once.
    if (access !== 'read') forgetKept();
  }
}

/** Readings that pass over all rows or calls of a run, a list or the ledger. */
function withKeptCounts(ledger: Ledger, dataDir: string): Ledger {
  const calls = keptCalls.get(dataDir) ?? new KeptCalls();
  keptCalls.set(dataDir, calls);
  const kept =
    <Given extends readonly unknown[], T>(name: string, read: (...given: Given) => Promise<T>) =>
    (...given: Given) =>
      keptUntilCommit([name, ...given], ledger, dataDir, () => read(...given));
  const { reading, runs, portfolios, rows } = ledger;
  const counting = {
    reading: {
      ...reading,
      usage: kept('usage', () => reading.usage(calls)),
      charged: kept('charged', (of: Parameters<typeof reading.charged>[0]) => reading.charged(of, calls)),
      callsSince: kept('calls since', (since: number) => reading.callsSince(since, calls)),
      knownOf: kept('known', reading.knownOf),
      activity: kept('activity', (run: string, since: number) => reading.activity(run, since, calls)),
      atWork: kept('at work', reading.atWork),
    },
    runs: { ...runs, progress: kept('progress', runs.progress) },
    portfolios: {
      ...portfolios,
      outcomes: kept('outcomes', portfolios.outcomes),
      members: kept('members', portfolios.members),
    },
    rows: { ...rows, countRows: kept('rows', rows.countRows), keysFound: kept('keys', rows.keysFound) },
  };
  return Object.assign(Object.create(ledger, Object.getOwnPropertyDescriptors(counting)) as Ledger);
}

const keptCalls = new Map<string, KeptCalls>();

const isLocked = (error: unknown): boolean => error instanceof KybatchError && error.exit === ExitCode.locked;

async function untilFree<T>(
  open: () => Promise<T>,
  { waitMs = 0, abort }: { readonly abort?: AbortSignal | undefined; readonly waitMs?: number },
  { clock }: AppEnvironment,
): Promise<T> {
  for (const began = clock.now(); ; await clock.sleep(LOCK_STEP_MS, abort)) {
    try {
      return await open();
    } catch (error) {
      if (!isLocked(error) || clock.now() - began >= waitMs) throw error;
    }
  }
}

const LOCK_STEP_MS = 250;

/** A page records an answer within a second, and a run must not end because of it. */
export const RUN_WAITS_MS = 10_000;

export interface DeciderOptions extends PlaceOptions {
  /** The deciding person. Default: the user of this machine. */
  readonly by?: string | undefined;
}

export function deciderName({ by }: DeciderOptions, { env }: AppEnvironment): string {
  const named = [by, env.USER, env.LOGNAME, env.USERNAME].find((name) => name !== undefined && name.trim() !== '');
  const name = named?.trim() ?? userInfo().username;
  if (!isPersonName(name))
    throw new UsageError(
      'PERSON_NAME_INVALID',
      `${JSON.stringify(name)} is not a name: it has no letter or digit`,
      'Name the person who decides with --by.',
    );
  return name;
}

/**
 * The result of `work`, kept until the ledger has a new commit: pages ask again and again while nothing changes.
 * Beside a run that commits all the time, what took long is kept a while, so that counting takes a small share of the
 * time. `question` names the result.
 */
export async function keptUntilCommit<T>(
  question: unknown,
  { review }: { readonly review: { version(): number | null } },
  dataDir: string,
  work: () => Promise<T>,
): Promise<T> {
  const version = review.version();
  if (version === null) return await work();
  const name = JSON.stringify([dataDir, question]);
  const kept = keptResults.get(name);
  const isKept = kept?.version === version || performance.now() < (kept?.until ?? 0);
  if (kept !== undefined && isKept) return (await kept.result) as T;
  const begun = performance.now();
  // Kept from its beginning, so that several readers of one page count once.
  const counted: Kept = { version, result: work(), until: 0 };
  keptResults.delete(name);
  keptResults.set(name, counted);
  const result = (await counted.result.catch((error: unknown) => {
    keptResults.delete(name);
    throw error;
  })) as T;
  const tookMs = performance.now() - begun;
  if (tookMs >= LONG_MS) counted.until = begun + Math.min(KEPT_AT_MOST_MS, tookMs * KEPT_TIMES);
  const [oldest] = keptResults.keys();
  if (keptResults.size > KEPT_RESULTS && oldest !== undefined) keptResults.delete(oldest);
  return result;
}

/** What takes less is counted again after each commit. */
const LONG_MS = 50;
const KEPT_TIMES = 20;
const KEPT_AT_MOST_MS = 5_000;
/** The list of all questions of a large ledger has some 20 MB, counts have little. */
const KEPT_RESULTS = 40;
interface Kept {
  readonly version: number;
  readonly result: Promise<unknown>;
  until: number;
}

const keptResults = new Map<string, Kept>();

/** After a change by a person, which is shown at once. */
export const forgetKept = (): void => keptResults.clear();
