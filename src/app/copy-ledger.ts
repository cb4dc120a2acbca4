import { UsageError } from '../domain/errors.js';
import { hasPassword, isLedgerUrl, isMeantAsLedgerUrl, LedgerUrl, shownLedgerUrl } from '../domain/ledger-url.js';
import { copyBetween } from '../ledger/copy-between.js';
import type { CopiedLedger, CopyProgress } from '../ledger/copy-ledger.js';
import type { LedgerPlace } from '../ledger/options.js';
import { Secret } from '../util/secret.js';
import { here, ledgerOf, type PlaceOptions, pathIn, type Surroundings } from './surroundings.js';

export interface CopyLedgerOptions extends PlaceOptions {
  /** A data directory, or the address of a database without its password. One of both is the ledger that the environment names. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Begins again where an earlier copy was broken off and the ledger was changed since. */
  readonly anew?: boolean | undefined;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

export interface CopyLedgerView extends CopiedLedger {
  /** For people: a data directory, or a database without its password. */
  readonly from: string;
  readonly to: string;
  /** Where the copy lies: in a file, or in PostgreSQL. */
  readonly kind: 'file' | 'postgres';
  /** The environment names the copy already. */
  readonly isNamed: boolean;
  readonly ms: number;
}

/** Moves a ledger to PostgreSQL, or back. Nothing is sent, nothing is spent; the one that it is copied from stays as it is. */
export async function copyLedger(options: CopyLedgerOptions, around = here()): Promise<CopyLedgerView> {
  const { clock } = around;
  const named = ledgerOf(options, around);
  if (options.from === undefined && options.to === undefined)
    throw new UsageError(
      'where is the ledger to be copied?',
      'Name the copy with --to, or with --from the ledger that is copied to the one that KYBATCH_LEDGER_URL names.',
    );
  const from = placeGiven('--from', options.from, around) ?? named;
  const to = placeGiven('--to', options.to, around) ?? named;
  mustDiffer(from, to);
  const began = clock.now();
  const { anew, onProgress } = options;
  const copied = await copyBetween(from, to, { now: () => clock.now(), anew, onProgress });
  return {
    ...copied,
    from: nameOf(from),
    to: nameOf(to),
    kind: to.ledgerUrl === undefined ? 'file' : 'postgres',
    isNamed: options.to === undefined,
    ms: clock.now() - began,
  };
}

function placeGiven(flag: string, given: string | undefined, around: Surroundings): LedgerPlace | undefined {
  if (given === undefined) return undefined;
  if (!isMeantAsLedgerUrl(given)) {
    if (given.trim() === '') throw new UsageError(`${flag} is empty`, 'Name a data directory, or a database.');
    return { dataDir: pathIn(around, given) };
  }
  // The value itself is not shown: it may hold a password.
  if (!isLedgerUrl(given))
    throw new UsageError(
      `${flag} is not the address of a PostgreSQL database`,
      'For example postgres://user@host:5432/database, without a password.',
    );
  if (hasPassword(given)) {
    // From here on it is hidden wherever it would be shown.
    new LedgerUrl(given);
    throw new UsageError(
      `${flag} holds a password: everybody who lists the processes of this machine can read it`,
      'Leave it out, and set PGPASSWORD or write it into ~/.pgpass. Or name that database in KYBATCH_LEDGER_URL or KYBATCH_LEDGER_URL_FILE, and the other ledger with --from or --to alone.',
    );
  }
  const password = around.env.PGPASSWORD;
  if (password !== undefined && password !== '') new Secret(password);
  return { dataDir: '', ledgerUrl: given };
}

function mustDiffer(from: LedgerPlace, to: LedgerPlace): void {
  if (from.ledgerUrl === undefined && to.ledgerUrl === undefined)
    throw new UsageError(
      `both ledgers are files, in ${from.dataDir} and ${to.dataDir}`,
      'Copied are ledgers from a file to PostgreSQL, and back. While nothing runs, a data directory can be copied like any other folder.',
    );
  if (from.ledgerUrl !== undefined && to.ledgerUrl !== undefined)
    throw new UsageError(
      `both ledgers are databases, ${shownLedgerUrl(from.ledgerUrl)} and ${shownLedgerUrl(to.ledgerUrl)}`,
      'Copied are ledgers from a file to PostgreSQL, and back. KYBATCH_LEDGER_URL names a ledger too: say with --from which data directory is meant. From one database to another pg_dump does it.',
    );
}

const nameOf = ({ dataDir, ledgerUrl }: LedgerPlace): string =>
  ledgerUrl === undefined ? dataDir : shownLedgerUrl(ledgerUrl);
