import pg from 'pg';
import { shownLedgerUrl } from '../../domain/ledger-url.js';
import { systemClock } from '../../util/clock.js';
import { aheadInWords, isNews } from '../clock-ahead.js';
import type { Database } from '../database.js';
import { type DeepHealth, type ServerHealth, SKEW_MS } from '../health.js';
import type { JobStore } from '../jobs.js';
import type { Ledger } from '../ledger.js';
import type { LedgerOptions, Migrated } from '../options.js';
import type { Signals } from '../signals.js';
import { composeLedger } from '../stores/compose.js';
import { damagedAnswers } from '../stores/damaged-bodies.js';
import { damagedRecords } from '../stores/damaged-records.js';
import { bringForward } from '../stores/starts.js';
import { noteAhead } from '../stores/times.js';
import { postgresDatabase } from './database.js';
import { clocksApart, inPlainWords } from './failures.js';
import { grantRole, mustBeRole } from './grant.js';
import { postgresHealth, wayTo } from './health.js';
import { postgresJobs } from './jobs.js';
import { migratePostgres, mustBeCurrent, mustBeWhole, mustTakeLedger, postgresSchemaOf } from './migrate.js';
import { mustKeepSettings } from './pooler.js';
import { postgresSignals } from './signals.js';

export { currentPostgresSchema } from './migrate.js';

/** For so long a database may be away while rows are worked on. */
const PATIENCE_MS = 5 * 60_000;
/** One that cannot be reached when a command begins is told at once. */
const FIRST_CONNECT_MS = 5000;

/** Opens a ledger that `kybatch migrate` has made. Nobody is locked out: starts know each other by their leases. */
export async function openPostgresLedger(options: LedgerOptions & { readonly ledgerUrl: string }): Promise<Ledger> {
  const { ledgerUrl: url, access, now, onNote = () => {}, patienceMs = PATIENCE_MS, giveUp } = options;
  const name = shownLedgerUrl(url);
  await withClient(url, async (client) => {
    await mustBeCurrent(client);
    if (access === 'write' || access === 'existing') await mustAgreeOnTime(client);
  });
  const database = postgresDatabase({
    url,
    name,
    readonly: access === 'read',
    clock: systemClock,
    patienceMs,
    giveUp,
    onNote,
  });
  try {
    if (access === 'write' || access === 'existing') await lookAround(database, now, onNote);
    const ledger = await composeLedger(database, options);
    return access === 'read'
      ? ledger
      : withOthers(
          ledger,
          postgresJobs(database, options.clock ?? (() => now)),
          postgresSignals(database, url, systemClock),
        );
  } catch (error) {
    await database.close();
    throw inPlainWords(error, name);
  }
}

/** Whose clock is off takes the living for dead, or is taken for dead: leases are compared across machines. */
async function mustAgreeOnTime(client: pg.Client): Promise<void> {
  const { clockAheadMs } = await wayTo(client, () => Date.now());
  if (Math.abs(clockAheadMs) > SKEW_MS) throw clocksApart(clockAheadMs);
}

/** Its members are read when they are asked for: a copy of them would prepare them all. */
const withOthers = (ledger: Ledger, jobs: JobStore, signals: Signals): Ledger =>
  Object.defineProperties(ledger, {
    jobs: { value: jobs, enumerable: true },
    signals: { value: signals, enumerable: true },
  });

async function lookAround(database: Database, now: number, onNote: (note: string) => void): Promise<void> {
  const ahead = await database.write(function* () {
    yield* bringForward(database, now);
    return yield* noteAhead(database, now);
  });
  if (ahead !== null && isNews(ahead, now)) onNote(aheadInWords(ahead, now));
}

/** 0: there is none yet. */
export const postgresSchema = (url: string): Promise<number> => withClient(url, postgresSchemaOf);

/** Makes the ledger, or brings it to this version; then lets a role work with it that may make no tables. */
export const migratePostgresLedger = (url: string, now: number, grant: string | undefined): Promise<Migrated> =>
  withClient(url, async (client) => {
    if (grant !== undefined) await mustBeRole(client, grant);
    const made = await migratePostgres(client, now);
    if (grant !== undefined) await grantRole(client, grant);
    return made;
  });

/** What it is found to be, where it can be reached. Throws in words where it cannot, or is not whole. */
export const checkPostgresServer = (url: string, now: () => number): Promise<ServerHealth> =>
  withClient(url, async (client) => {
    const health = await postgresHealth(client, url, now);
    if (health.ledger.has === 0) await mustTakeLedger(client);
    // Who may not look at all of it is told that first.
    if (health.ledger.has === health.ledger.needs && health.rightsMissing.length === 0) await mustBeWhole(client);
    return health;
  });

/** Unpacks every stored answer and compares it with its digest, and reads every record; changes nothing. */
export async function checkPostgresDeeply(url: string, _now: number): Promise<DeepHealth> {
  await withClient(url, mustBeCurrent);
  const name = shownLedgerUrl(url);
  const given = { url, name, readonly: true, clock: systemClock, patienceMs: PATIENCE_MS, onNote: () => {} };
  const database = postgresDatabase(given);
  try {
    const answers = await database.read(() => damagedAnswers(database));
    return { ...answers, records: await database.read(() => damagedRecords(database, database.stored)) };
  } finally {
    await database.close();
  }
}

/** A connection for one thing; what fails is told in words, without the password. */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  let client: pg.Client | undefined;
  try {
    client = await connect(url);
    await mustKeepSettings(client, () => connect(url, { query_timeout: FIRST_CONNECT_MS }));
    return await use(client);
  } catch (error) {
    throw inPlainWords(error, shownLedgerUrl(url));
  } finally {
    await client?.end().catch(() => undefined);
  }
}

async function connect(url: string, more: pg.ClientConfig = {}): Promise<pg.Client> {
  // It reads the certificates that the URL names, and may not find them.
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: FIRST_CONNECT_MS,
    application_name: 'kybatch',
    ...more,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    // Limits and habits of others, of the role or of the database, are none of ours.
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0; SET array_nulls = on');
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}
