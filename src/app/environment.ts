import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { isLedgerUrlBlank, loadDataDir, loadPlace } from '../config/environment.js';
import { UsageError } from '../domain/errors.js';
import type { Ledger, LedgerOptions, LedgerPlace } from '../ledger/ledger.js';
import { openLedger } from '../ledger/open-ledger.js';
import { isPersonName } from '../ledger/review/review.js';
import { type Clock, systemClock } from '../util/clock.js';

/** What a use case sees of the outside. Nothing is printed: whoever asked gets a view back, and may listen meanwhile. */
export interface AppEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** Told about things that are odd and not wrong. */
  readonly onNote?: ((note: string) => void) | undefined;
  /** What is piped in, to be read once. Absent where a person sits at the terminal. */
  readonly stdin?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Told how far a long file has been read; null when that is over. */
  readonly onReading?: ((progress: ReadingProgress | null) => void) | undefined;
  /** Bytes left where a folder is; without it the file system is asked. */
  readonly freeBytes?: ((path: string) => number | undefined) | undefined;
}

/** `share`: of the file, from 0 to 1; null where nobody knows how much is to come. */
export interface ReadingProgress {
  readonly rows: number;
  readonly share: number | null;
}

/** The process as it is, for scripts. */
export const processEnvironment = (): AppEnvironment => ({
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  ...(isatty(0) ? {} : { stdin: () => process.stdin }),
});

/** What every use case can be told. */
export interface PlaceOptions {
  /**
   * Where the ledger and exports lie; `KYBATCH_DATA_DIR`, else `data`, without it. The ledger is in a database instead
   * where `KYBATCH_LEDGER_URL` names one.
   */
  readonly dataDir?: string | undefined;
}

export const dataDirOf = (options: PlaceOptions, around: AppEnvironment): string => loadDataDir(around, options);

/** Where the ledger lies. It may hold a password: it is for opening the ledger, and for nothing else. */
export function ledgerOf(options: PlaceOptions, around: AppEnvironment): LedgerPlace {
  const { dataDir, ledgerUrl } = loadPlace(around, options);
  return { dataDir, ledgerUrl: ledgerUrl?.reveal() };
}

export const pathIn = (around: AppEnvironment, path: string): string => resolve(around.cwd, path);

/** A ledger for the length of `use`. `abort`: who waits for a database that is away waits no longer. */
export async function withLedger<T>(
  access: LedgerOptions['access'],
  options: PlaceOptions & { readonly abort?: AbortSignal | undefined },
  around: AppEnvironment,
  use: (ledger: Ledger, dataDir: string) => Promise<T>,
): Promise<T> {
  const place = ledgerOf(options, around);
  const { clock, freeBytes, onNote } = around;
  // Who meant a database would buy everything again.
  if (access === 'write' && place.ledgerUrl === undefined && isLedgerUrlBlank(around))
    onNote?.(`KYBATCH_LEDGER_URL is set, but empty: the ledger is the file in ${place.dataDir}`);
  const more = { onNote, giveUp: options.abort, ...(freeBytes === undefined ? {} : { freeBytes }) };
  const ledger = await openLedger({ ...place, now: clock.now(), clock: () => clock.now(), access, ...more });
  try {
    return await use(ledger, place.dataDir);
  } finally {
    await ledger.close();
  }
}

export interface DeciderOptions extends PlaceOptions {
  /** Who decides; the user of this machine without it. */
  readonly by?: string | undefined;
}

export function deciderName({ by }: DeciderOptions, { env }: AppEnvironment): string {
  const named = [by, env.USER, env.LOGNAME, env.USERNAME].find((name) => name !== undefined && name.trim() !== '');
  const name = named?.trim() ?? userInfo().username;
  if (!isPersonName(name))
    throw new UsageError(
      `${JSON.stringify(name)} is nobody's name: there is no letter or digit in it`,
      'Say with --by who decides.',
    );
  return name;
}
