// Backs up, copies and migrates a ledger, and moves answers to a new base URL.

import { ExitCode, FileError, KybatchError, UsageError } from '../../domain/errors.js';
import type { ApiName } from '../../domain/provider.js';
import {
  canonicalBaseUrl,
  hasPassword,
  isLedgerUrl,
  isMeantAsLedgerUrl,
  LedgerUrl,
  shownLedgerUrl,
} from '../../domain/urls.js';
import { type CopiedLedger, type CopyProgress, copyBetween } from '../../ledger/db/copy-ledger.js';
import type { MovedProvider } from '../../ledger/erase/housekeeping.js';
import type { BackedUp, BackupProgress, LedgerPlace } from '../../ledger/ledger.js';
import { backUpLedger, ledgerBytes, migrateLedger } from '../../ledger/open-ledger.js';
import { bytesInWords } from '../../util/message-parts.js';
import { Secret } from '../../util/secret.js';
import {
  type AppEnvironment,
  ledgerOf,
  type PlaceOptions,
  pathIn,
  processEnvironment,
  withLedger,
} from '../environment.js';
import { mustBeOutsideDataDir } from '../output-paths.js';
import { isSandboxName, urlVariable, withProvider } from '../provider/provider.js';
import { freeSpace } from '../run/guards.js';
import { CHECK_SETUP, checkApi, saveCostlyChecks } from './doctor-provider.js';

export interface BackupOptions extends PlaceOptions {
  /** The folder for the copy, which must not have a ledger yet. */
  readonly to: string;
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined;
}

export interface BackupView extends BackedUp {
  readonly folder: string;
  readonly ms: number;
}

/** Copies the ledger while other processes may use it. The copy's folder can be used as a data directory. */
export async function backup(
  options: BackupOptions,
  environment: AppEnvironment = processEnvironment(),
): Promise<BackupView> {
  if (options.to.trim() === '')
    throw new UsageError('BACKUP_FOLDER_EMPTY', 'the folder is empty', 'Name the folder of the backup.');
  const place = ledgerOf(options, environment);
  const folder = pathIn(environment, options.to);
  if (place.ledgerUrl === undefined) {
    mustBeOutsideDataDir(folder, place.dataDir);
    mustHaveRoomFor(ledgerBytes(place.dataDir) ?? 0, folder, environment);
  }
  const began = environment.clock.now();
  const copied = await backUpLedger(place, folder, options.onProgress);
  return { ...copied, folder, ms: environment.clock.now() - began };
}

function mustHaveRoomFor(bytes: number, folder: string, environment: AppEnvironment): void {
  const free = freeSpace(folder, environment);
  if (free === undefined || free > bytes) return;
  throw new FileError(
    `the backup needs ${bytesInWords(bytes)}, and the disk of ${folder} has ${bytesInWords(free)} left`,
    {
      code: 'DISK_FULL',
      what: 'the disk is full',
      hint: 'Free some space, or choose a folder on another disk.',
    },
  );
}

export interface CopyLedgerOptions extends PlaceOptions {
  /** A data directory, or a database address without its password. One of the two defaults to the configured ledger. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
}

export interface CopyLedgerView extends CopiedLedger {
  /** For people: a data directory, or a database without its password. */
  readonly from: string;
  readonly to: string;
  readonly kind: 'file' | 'postgres';
  /** The environment already names the copy. */
  readonly isNamed: boolean;
  readonly ms: number;
}

/** Copies a ledger to PostgreSQL or back. Nothing is sent or spent, and the source stays unchanged. */
export async function copyLedger(
  options: CopyLedgerOptions,
  environment = processEnvironment(),
): Promise<CopyLedgerView> {
  const { clock } = environment;
  const named = ledgerOf(options, environment);
  if (options.from === undefined && options.to === undefined)
    throw new UsageError(
      'COPY_TARGET_MISSING',
      'neither --to nor --from is given',
      'Name the new ledger with --to. If KYBATCH_LEDGER_URL names it, name the old one with --from.',
    );
  const from = placeGiven('--from', options.from, environment) ?? named;
  const to = placeGiven('--to', options.to, environment) ?? named;
  mustDiffer(from, to);
  const began = clock.now();
  const copied = await copyBetween(from, to, { now: clock.now(), onProgress: options.onProgress });
  return {
    ...copied,
    from: ledgerName(from),
    to: ledgerName(to),
    kind: to.ledgerUrl === undefined ? 'file' : 'postgres',
    isNamed: options.to === undefined,
    ms: clock.now() - began,
  };
}

function placeGiven(flag: string, given: string | undefined, environment: AppEnvironment): LedgerPlace | undefined {
  if (given === undefined) return undefined;
  if (!isMeantAsLedgerUrl(given)) {
    if (given.trim() === '')
      throw new UsageError('FLAG_EMPTY', `${flag} is empty`, 'Name a data directory, or a database.');
    return { dataDir: pathIn(environment, given) };
  }
  // The value is not shown because it may contain a password.
  if (!isLedgerUrl(given))
    throw new UsageError(
      'LEDGER_URL_INVALID',
      `${flag} is not the address of a PostgreSQL database`,
      'For example postgres://user@host:5432/database, without a password.',
    );
  if (hasPassword(given)) {
    // Registers the password, so that it is hidden in all output from here on.
    new LedgerUrl(given);
    throw new UsageError(
      'PASSWORD_IN_FLAG',
      `${flag} contains a password, which every user of this machine can read in the list of processes`,
      'Leave it out, and use PGPASSWORD or ~/.pgpass. Or put the address into KYBATCH_LEDGER_URL, and give only the other ledger with --from or --to.',
    );
  }
  const password = environment.env.PGPASSWORD;
  if (password !== undefined && password !== '') new Secret(password);
  return { dataDir: '', ledgerUrl: given };
}

function mustDiffer(from: LedgerPlace, to: LedgerPlace): void {
  if (from.ledgerUrl === undefined && to.ledgerUrl === undefined)
    throw new UsageError(
      'COPY_BOTH_FILES',
      `both ledgers are files, in ${from.dataDir} and ${to.dataDir}`,
      '`kybatch ledger copy` copies a file to PostgreSQL, or back. To copy a file to a file: `kybatch ledger backup`',
    );
  if (from.ledgerUrl !== undefined && to.ledgerUrl !== undefined)
    throw new UsageError(
      'COPY_BOTH_DATABASES',
      `both ledgers are databases, ${shownLedgerUrl(from.ledgerUrl)} and ${shownLedgerUrl(to.ledgerUrl)}`,
      '`kybatch ledger copy` copies a file to PostgreSQL, or back. KYBATCH_LEDGER_URL names a database, so add --from with the data directory. Between databases, use pg_dump.',
    );
}

const ledgerName = ({ dataDir, ledgerUrl }: LedgerPlace): string =>
  ledgerUrl === undefined ? dataDir : shownLedgerUrl(ledgerUrl);

export interface ProviderMovedOptions extends PlaceOptions {
  readonly from: string;
  readonly to: string;
  /** Move the answers although the new base URL does not answer as the provider. */
  readonly unchecked?: boolean | undefined;
}

export interface ProviderMovedView extends MovedProvider {
  readonly from: string;
  readonly to: string;
}

/** Moves the answers of one base URL to another, which must answer a free check: a typo would put them out of reach. */
export async function providerMoved(
  options: ProviderMovedOptions,
  environment = processEnvironment(),
): Promise<ProviderMovedView> {
  const [from, to] = [baseUrl('--from', options.from), baseUrl('--to', options.to)];
  if (from === to) throw new UsageError('PROVIDER_SAME_ADDRESS', `--from and --to are the same address: ${from}`);
  const sold = await withLedger('read', options, environment, async ({ reading }) => {
    const known = (await reading.environments()).filter(({ name }) => !isSandboxName(name));
    if (!known.some(({ name }) => name === from)) {
      const names = [...new Set(known.map(({ name }) => name))];
      throw new UsageError(
        'PROVIDER_UNKNOWN',
        `nothing is stored from ${from}`,
        names.length === 0 ? 'Nothing was bought yet.' : `Answers are stored from: ${names.join(', ')}.`,
      );
    }
    const sold = known.filter(({ name, answers }) => name === from && answers > 0).map(({ api }) => api);
    const there = known.find(({ name, api, answers }) => name === to && answers > 0 && !sold.includes(api));
    if (there !== undefined)
      throw new UsageError(
        'PROVIDER_OTHER_API',
        `${to} has answers of ${there.api}, but ${from} has none`,
        'Nothing was moved. Name the new address of the same API.',
      );
    return sold;
  });
  for (const api of options.unchecked === true ? [] : sold) await mustAnswer(api as ApiName, to, options, environment);
  return await withLedger('existing', options, environment, async ({ housekeeping }) => ({
    from,
    to,
    ...(await housekeeping.moveProvider(from, to)),
  }));
}

/** Checks the base URL with the configured key, as `doctor` does. */
async function mustAnswer(api: ApiName, to: string, options: PlaceOptions, environment: AppEnvironment): Promise<void> {
  const there = { ...environment, env: { ...environment.env, [urlVariable(api)]: to } };
  const check = withProvider(
    options,
    there,
    (provider) => checkApi(api, provider, environment.clock.now()),
    CHECK_SETUP,
  );
  const { findings, costly } = await check;
  await saveCostlyChecks(costly, to, { state: 'sound' }, options, environment);
  const fault = findings.find(({ state }) => state === 'fail');
  if (fault === undefined) return;
  throw new KybatchError(`${to} does not answer as the provider. ${fault.detail}`, {
    code: 'PROVIDER_NOT_THERE',
    hint: 'Nothing was moved. Correct a typo in the address. To move the answers unchecked: --unchecked',
    exit: fault.exit ?? ExitCode.usage,
  });
}

function baseUrl(flag: string, text: string): string {
  const name = canonicalBaseUrl(text.trim());
  if (!/^https?:\/\//.test(name))
    throw new UsageError('BASE_URL_INVALID', `${flag} is not a base URL: ${JSON.stringify(text)}`);
  return name;
}

export interface MigrateView {
  readonly dataDir: string;
  /** For people: the data directory, or the database without its password. */
  readonly ledger: string;
  readonly from: number;
  readonly to: number;
}

export interface MigrateOptions extends PlaceOptions {
  /** A database role that will use the ledger without creating tables. */
  readonly grant?: string | undefined;
}

/** Upgrades a ledger to the schema of this version. Nothing is sent or spent. */
export async function migrate(options: MigrateOptions = {}, environment = processEnvironment()): Promise<MigrateView> {
  const place = ledgerOf(options, environment);
  const migrated = await migrateLedger(place, environment.clock.now(), options.grant);
  return { dataDir: place.dataDir, ledger: ledgerName(place), ...migrated };
}
