// Opens, migrates and checks a PostgreSQL ledger, and sends signals between its processes.

import pg from 'pg';
import { UsageError } from '../../../domain/errors.js';
import { shownLedgerUrl } from '../../../domain/urls.js';
import { type Clock, systemClock } from '../../../util/clock.js';
import { type DeepHealth, findDamagedAnswers, type ServerHealth, SKEW_MS } from '../../health.js';
import { composeLedger, type Ledger, type LedgerOptions, type Migrated } from '../../ledger.js';
import { resetFutureTimes } from '../../rows/attempts.js';
import type { Signal, Signals } from '../../rows/claims.js';
import type { Database } from '../database.js';
import { isRecord, parseStored } from '../stored-json.js';
import type { ClaimStore } from './claims.js';
import { postgresClaims } from './claims.js';
import { postgresDatabase } from './database.js';
import { clocksApart, LedgerAwayError, toLedgerError } from './failures.js';
import {
  grantRole,
  measureRoundTrip,
  migratePostgres,
  mustBeMigrated,
  mustBeRole,
  mustTakeLedger,
  postgresHealth,
  postgresSchemaOf,
} from './migrate.js';
import { Session } from './session.js';

export { currentPostgresSchema } from './migrate.js';

/** How long the database may be away while rows are processed. */
const PATIENCE_MS = 5 * 60_000;

/** At the beginning of a command an unreachable database is reported soon. */
const FIRST_CONNECT_MS = 5000;

/**
 * Opens a ledger that `kybatch ledger migrate` created. It takes no exclusive lock: attempts see each other by their leases.
 */
export async function openPostgresLedger(options: LedgerOptions & { readonly ledgerUrl: string }): Promise<Ledger> {
  const { ledgerUrl: url, access, now, onNote = () => {}, patienceMs = PATIENCE_MS, giveUp } = options;
  const name = shownLedgerUrl(url);
  await withClient(url, async (client) => {
    await mustBeMigrated(client);
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
    if (access === 'write' || access === 'existing') await database.write(() => resetFutureTimes(database, now));
    const ledger = await composeLedger(database, options);
    return access === 'read'
      ? ledger
      : withOthers(
          ledger,
          postgresClaims(database, options.clock ?? (() => now)),
          postgresSignals(database, url, systemClock),
        );
  } catch (error) {
    await database.close();
    throw toLedgerError(error, name);
  }
}

/**
 * With a wrong clock a process takes living workers for dead, or is taken for dead itself: leases are compared across
 * machines.
 */
async function mustAgreeOnTime(client: pg.Client): Promise<void> {
  const { clockAheadMs } = await measureRoundTrip(client, () => Date.now());
  if (Math.abs(clockAheadMs) > SKEW_MS) throw clocksApart(clockAheadMs);
}

/** The stores are created on access, so they must not be copied: that would prepare them all. */
const withOthers = (ledger: Ledger, claims: ClaimStore, signals: Signals): Ledger =>
  Object.defineProperties(ledger, {
    claims: { value: claims, enumerable: true },
    signals: { value: signals, enumerable: true },
  });

/** 0: no ledger yet. */
export const postgresSchema = (url: string): Promise<number> => withClient(url, postgresSchemaOf);

/** Creates or migrates the ledger. Then grants a role that may not create tables the right to work with it. */
export const migratePostgresLedger = (url: string, now: number, grant: string | undefined): Promise<Migrated> =>
  withClient(url, async (client) => {
    if (grant !== undefined) await mustBeRole(client, grant);
    const made = await migratePostgres(client, now);
    if (grant !== undefined) await grantRole(client, grant);
    return made;
  });

/** The state of the server. Throws a readable error if it cannot be reached or its ledger is incomplete. */
export const checkPostgresServer = (url: string, now: () => number): Promise<ServerHealth> =>
  withClient(url, async (client) => {
    const health = await postgresHealth(client, url, now);
    if (health.ledger.has === 0) await mustTakeLedger(client);
    return health;
  });

/** Compares every stored answer with its digest, without changes. */
export async function checkPostgresDeeply(url: string, _now: number): Promise<DeepHealth> {
  await withClient(url, (client) => mustBeMigrated(client));
  const name = shownLedgerUrl(url);
  const given = { url, name, readonly: true, clock: systemClock, patienceMs: PATIENCE_MS, onNote: () => {} };
  const database = postgresDatabase(given);
  try {
    return await database.read(() => findDamagedAnswers(database));
  } finally {
    await database.close();
  }
}

/** A connection for one purpose. Failures are worded without the password. */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  let client: pg.Client | undefined;
  try {
    client = await connect(url);
    await mustKeepSettings(client, () => connect(url, { query_timeout: FIRST_CONNECT_MS }));
    return await use(client);
  } catch (error) {
    throw toLedgerError(error, shownLedgerUrl(url));
  } finally {
    await client?.end().catch(() => undefined);
  }
}

async function connect(url: string, more: pg.ClientConfig = {}): Promise<pg.Client> {
  // The constructor reads the certificates named in the URL, which may be missing.
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: FIRST_CONNECT_MS,
    application_name: 'kybatch',
    ...more,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    // Removes limits set for the role or the database.
    await client.query('SET statement_timeout = 0; SET lock_timeout = 0; SET array_nulls = on');
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** Other users of the pooler may be in between once, but hardly each time. */
const ROUNDS = 10;

/**
 * Settings and temporary tables must stay with the connection. A transaction pooler loses both, and queries would miss
 * a table or find another's.
 */
async function mustKeepSettings(client: pg.Client, connect: () => Promise<pg.Client>): Promise<void> {
  if (await isDirect(client)) return;
  const other = await connect();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const ours = `ours ${round}`;
      await client.query(`SET kybatch.whose = '${ours}'`);
      await other.query(`SET kybatch.whose = 'theirs ${round}'`);
      if ((await settingOf(client)) !== ours) throw shared();
    }
  } finally {
    await other.end().catch(() => undefined);
  }
}

/** A pooler reports its own process numbers, because it cannot know which connection it will use. */
async function isDirect(client: pg.Client): Promise<boolean> {
  const { processID: told } = client as pg.Client & { readonly processID?: number | null };
  const { rows } = await client.query<{ backend: number }>('SELECT pg_backend_pid() AS backend');
  return rows[0]?.backend === told;
}

async function settingOf(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ whose: string }>("SELECT current_setting('kybatch.whose', true) AS whose");
  return rows[0]?.whose;
}

const shared = (): UsageError =>
  new UsageError(
    'LEDGER_BEHIND_POOLER',
    'the connection pooler gives each transaction another connection, which loses settings and temporary tables',
    'Connect to PostgreSQL itself, or use session mode (PgBouncer: pool_mode = session). Nothing was spent.',
  );

const CHANNEL = 'kybatch';

/** How soon a lost connection is detected and replaced. */
const LOOK_MS = 1000;

function postgresSignals(database: Database, url: string, clock: Clock): Signals {
  const notify = database.prepare<[string], unknown>(`SELECT pg_notify('${CHANNEL}', ?) AS told`);
  return {
    async tell({ attemptId, ...signal }) {
      const sent: SentSignal = { ...signal, startId: attemptId };
      await database.read(() => notify.get(JSON.stringify(sent)));
    },
    async listen(told) {
      const stopped = new AbortController();
      const open = async (): Promise<Session> => {
        const session = await Session.open({ url, applicationName: 'kybatch listener' }).catch((error: unknown) => {
          throw toLedgerError(error, database.name);
        });
        session.onNotification((channel, payload) => {
          const sent = channel === CHANNEL ? parseStored(payload, isSent) : undefined;
          if (sent === undefined) return;
          const { startId: attemptId, ...signal } = sent;
          told({ ...signal, attemptId });
        });
        await session.command(`LISTEN ${CHANNEL}`);
        return session;
      };
      // Signals are also in the ledger, only later, so a missing listener is no error.
      let session = await open().catch((error: unknown) => {
        if (error instanceof LedgerAwayError) return undefined;
        throw error;
      });
      const watching = (async () => {
        for (;;) {
          await clock.sleep(LOOK_MS, stopped.signal);
          if (session?.isLost !== false) session = await open().catch(() => session);
        }
      })().catch(() => {});
      return async () => {
        stopped.abort();
        await watching;
        await session?.end();
      };
    },
  };
}

/** A signal in the payload of NOTIFY. Other versions listen too, so its names stay. */
type SentSignal = Omit<Signal, 'attemptId'> & { readonly startId: number };

const isSent = (value: unknown): value is SentSignal =>
  isRecord(value) &&
  value.kind === 'slow_down' &&
  ['startId', 'environmentId', 'pauseMs'].every((name) => typeof value[name] === 'number');
