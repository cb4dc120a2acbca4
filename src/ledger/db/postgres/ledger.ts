// Opens, migrates and checks a PostgreSQL ledger, sends signals between its processes, and shares rows among them.

import pg from 'pg';
import { TakenOverError, UsageError } from '../../../domain/errors.js';
import { shownLedgerUrl } from '../../../domain/urls.js';
import { type Clock, systemClock } from '../../../util/clock.js';
import { type Message, message } from '../../../util/message-parts.js';
import { aheadInWords, isRecentFinding, noteAhead } from '../../clock-ahead.js';
import { type DeepHealth, damagedAnswers, damagedRecords, type ServerHealth, SKEW_MS } from '../../health.js';
import { composeLedger, type Ledger, type LedgerOptions, type Migrated } from '../../ledger.js';
import { NEW_ROW, RANK_BEGUN, RELEASE_PARKED, WAITING_ROW } from '../../rows/run-store.js';
import {
  type ClaimKind,
  type ClaimStore,
  FREE_CLAIMS,
  LedElsewhereError,
  type LedRun,
  resetFutureTimes,
  type Signal,
  type Signals,
} from '../../rows/workers.js';
import type { Database } from '../database.js';
import { isRecord, parseStored } from '../stored-json.js';
import { postgresDatabase } from './database.js';
import { clocksApart, LedgerAwayError, toLedgerError } from './failures.js';
import {
  grantRole,
  measureRoundTrip,
  migratePostgres,
  mustBeCurrent,
  mustBeRole,
  mustBeWhole,
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

async function lookAround(database: Database, now: number, onNote: (note: Message) => void): Promise<void> {
  const ahead = await database.write(function* () {
    yield* resetFutureTimes(database, now);
    return yield* noteAhead(database, now);
  });
  if (ahead !== null && isRecentFinding(ahead, now)) onNote(message('CLOCK_AHEAD', aheadInWords(ahead, now)));
}

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
    // Missing rights are reported first.
    if (health.ledger.has === health.ledger.needs && health.rightsMissing.length === 0) await mustBeWhole(client);
    return health;
  });

/** Compares every stored answer with its digest and reads every record, without changes. */
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

/** Deferred rows start a little later, because clocks differ. */
const LATE_MS = 1000;

/** No lock is needed: the attempt's ID fences the write. */
const BESIDE = { environments: [] };

interface FoundRun extends Omit<LedRun, 'leaderIsAlive' | 'isReady' | 'isElsewhere'> {
  readonly alive: 0 | 1;
  readonly leaseUntil: number;
  readonly ready: 0 | 1;
  readonly elsewhere: 0 | 1;
}

interface Claimant {
  readonly runId: string;
  /** It shares the limits of the leader. */
  readonly shares: 0 | 1 | null;
  readonly resumeAt: number | null;
}

/** Each method is one transaction. */
function postgresClaims(database: Database, clock: () => number): ClaimStore {
  const led = database.prepare<[object], FoundRun>(
    `SELECT runs.id AS runId, led_by AS attemptId, worker, lease_until AS leaseUntil, ended_at IS NULL AND lease_until >= @now AS alive,
       coalesce(resume_at <= @now, EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND ${NEW_ROW}))
         OR EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND ${WAITING_ROW} AND next_at <= @now) AS ready,
       EXISTS (SELECT 1 FROM rows WHERE run_id = runs.id AND claimed_by > 0 AND claimed_by <> @attemptId) AS elsewhere,
       least(resume_at, (SELECT min(next_at) FROM rows WHERE run_id = runs.id AND ${WAITING_ROW})) AS nextAt
     FROM runs JOIN starts ON starts.id = led_by
     WHERE (CAST(@runId AS TEXT) IS NULL OR runs.id = @runId) AND state = 'open' AND superseded_by IS NULL
     ORDER BY led_by`,
  );
  const changePurse = database.prepare(
    'UPDATE starts SET purse_id = ? WHERE run_id = ? AND purse_id IS NOT NULL AND ended_at IS NULL AND id <> ?',
  );
  const beginNow = database.prepare('UPDATE starts SET begun_at = ? WHERE id = ?');
  const endLeader = database.prepare(
    'UPDATE starts SET ended_at = lease_until, died = 1 WHERE id = ? AND id <> ? AND ended_at IS NULL',
  );
  const freeClaims = database.prepare(FREE_CLAIMS);
  const setLead = database.prepare('UPDATE runs SET led_by = ?, resume_at = ? WHERE id = ?');
  const resume = database.prepare(
    'UPDATE runs SET resume_at = NULL WHERE id = ? AND resume_at IS NOT NULL AND resume_at <= ?',
  );
  const releaseDue = database.prepare(
    `${RELEASE_PARKED} WHERE run_id = ? AND hold = 'parked' AND next_at <= ? AND claimed_by IS NULL`,
  );
  const rankBegun = database.prepare(RANK_BEGUN);
  const firstHeld = database
    .prepare<[string], number | null>(
      "SELECT min(next_at) FROM rows WHERE run_id = ? AND outcome = 'pending' AND hold IS NOT NULL AND claimed_by IS DISTINCT FROM 0",
    )
    .pluck();
  // Held until the commit: an attempt found dead meanwhile would keep the claim forever.
  const claimant = database.prepare<[number], Claimant>(
    `SELECT runs.id AS runId, led_by = coalesce(purse_id, starts.id) AS shares, resume_at AS resumeAt
     FROM starts JOIN runs ON runs.id = run_id WHERE starts.id = ? AND ended_at IS NULL FOR SHARE OF starts`,
  );
  const claiming = (rows: string, order: string) =>
    database
      .prepare<[object], number>(
        `WITH free AS MATERIALIZED (
           SELECT run_id, row FROM rows WHERE run_id = @runId AND ${rows}
           ORDER BY ${order} LIMIT @limit FOR UPDATE SKIP LOCKED
         ), claimed AS (
           UPDATE rows SET claimed_by = @attemptId FROM free WHERE rows.run_id = free.run_id AND rows.row = free.row RETURNING rows.*
         ) SELECT row FROM claimed ORDER BY ${order}`,
      )
      .pluck();
  const claims: Record<ClaimKind, ReturnType<typeof claiming>> = {
    // Begun rows have a negative rank.
    new: claiming(NEW_ROW, 'rank, row'),
    waiting: claiming(`${WAITING_ROW} AND next_at <= @now`, 'next_at, row'),
  };
  const freeSome = database.prepare(`${FREE_CLAIMS} AND row IN (SELECT CAST(value AS BIGINT) FROM json_each(@rows))`);

  const find = (runId: string | null, attemptId: number) => led.all({ runId, attemptId, now: clock() });

  return {
    lead: ({ runId, attemptId }) =>
      database.write(function* () {
        const [found] = yield* find(runId, attemptId);
        if (found?.alive === 1 && found.attemptId !== attemptId)
          throw new LedElsewhereError(runId, found.worker, found.leaseUntil);
        // Helpers know the limits of the previous leader: they notice at their next call and start over. Spending by others
        // before this moment does not count against the new leader.
        yield* changePurse.run(attemptId, runId, attemptId);
        yield* beginNow.run(clock(), attemptId);
        if (found !== undefined) {
          // If the old leader wakes up, it finds that it was taken over and writes nothing.
          yield* endLeader.run(found.attemptId, attemptId);
          yield* freeClaims.run({ attemptId: found.attemptId });
        }
        yield* setLead.run(attemptId, null, runId);
      }),
    join: (runId) =>
      database.write(function* () {
        const now = clock();
        if ((yield* resume.change(runId, now)) === 0) return;
        yield* releaseDue.run(runId, now);
        yield* rankBegun.run(runId);
      }),
    claim: (attemptId, kind, limit) =>
      database.write(function* () {
        const found = yield* claimant.get(attemptId);
        if (found === undefined) throw new TakenOverError();
        // A helper that began while another took the lead does not share its limits, so it starts over.
        if (found.shares !== 1 || (kind === 'new' && found.resumeAt !== null)) return [];
        const { runId } = found;
        return yield* claims[kind].all({ runId, attemptId, limit, ...(kind === 'new' ? {} : { now: clock() }) });
      }, BESIDE),
    release: (attemptId, rows) =>
      database.write(
        () =>
          rows === undefined ? freeClaims.run({ attemptId }) : freeSome.run({ attemptId, rows: JSON.stringify(rows) }),
        BESIDE,
      ),
    leave: ({ runId, attemptId }, isHeldUp) =>
      database.write(function* () {
        const [found] = yield* find(runId, attemptId);
        if (found === undefined) return false;
        if (found.attemptId !== attemptId && (found.alive === 1 || found.elsewhere === 1)) return false;
        const until = isHeldUp ? ((yield* firstHeld.get(runId)) ?? null) : null;
        yield* setLead.run(...(until === null ? [null, null] : [found.attemptId, until + LATE_MS]), runId);
        return true;
      }),
    runs: async () => (await database.read(() => find(null, -1))).map(toLedRun),
    run: async ({ runId, attemptId }) => (await database.read(() => find(runId, attemptId))).map(toLedRun)[0],
  };
}

const toLedRun = ({ runId, attemptId, worker, nextAt, alive, ready, elsewhere }: FoundRun): LedRun => ({
  runId,
  attemptId,
  worker,
  nextAt,
  leaderIsAlive: alive === 1,
  isReady: ready === 1,
  isElsewhere: elsewhere === 1,
});
