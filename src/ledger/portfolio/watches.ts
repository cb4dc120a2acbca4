import { hash } from 'node:crypto';
import { type Database, type Script, type Sql, statements } from '../db/database.js';
import { readCell, watchFields } from '../db/stored-json.js';
import { callSummer } from '../money/usage.js';
import { STILL_KNOWN } from './members.js';

export type WatchStore = ReturnType<typeof watchStore>;

export interface WantedWatches {
  readonly portfolioIds: readonly number[];
  /** Null: the account's default. */
  readonly fields: readonly string[] | null;
}

export interface WatchToSettle {
  readonly companyId: string;
  /** 1: the provider has it. For one to be added: with other fields. */
  readonly registered: 0 | 1;
}

export interface WatchSelection {
  /** Only companies of these portfolios. Null: all. */
  readonly portfolioIds: readonly number[] | null;
  /** Only companies that callbacks named. */
  readonly hinted: boolean;
  /** In addition, companies not read since then. */
  readonly notSince: number;
}

export interface WatchToRead {
  readonly companyId: string;
  /** Earlier changes are known or do not matter. */
  readonly since: number;
  /** 1: the last request failed. */
  readonly hasFailed: 0 | 1;
}

export interface EventPage {
  readonly environmentId: number;
  readonly companyId: string;
  readonly events: readonly ReceivedEvent[];
  readonly heardAt: number;
  readonly rawSha256: string;
}

export interface ReceivedEvent {
  readonly eventType: string | null;
  readonly status: string | null;
  readonly message: string | null;
  readonly dateCreated: string | null;
  /** JSON. Null: nothing else. */
  readonly extra: string | null;
}

export interface WatchRecord {
  readonly environment: string;
  readonly companyId: string;
  readonly fields: readonly string[] | null;
  readonly ours: boolean;
  /** Null: not confirmed. */
  readonly registeredAt: number | null;
  readonly readAt: number | null;
  readonly hintedAt: number | null;
  readonly events: number;
}

export interface WatchEvent extends ReceivedEvent {
  readonly id: number;
  readonly environment: string;
  readonly companyId: string;
  readonly heardAt: number;
  readonly runId: string | null;
  readonly rawSha256: string;
}

/** Members are found from their portfolios, because the table of IDs is larger. */
export function watchStore(database: Database) {
  const { count, row, rows, run } = statements(database);
  const counts = row<[string], { listed: number; without: number }>(
    `SELECT count(*) AS listed, count(*) FILTER (WHERE row_ids.id IS NULL) AS without FROM members
     LEFT JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row AND space = 'v2'
     WHERE left_at IS NULL AND ${IN_PORTFOLIOS}`,
  );
  const ask = run<[number, string, string | null, number]>(
    `INSERT INTO watches (environment_id, company_id, fields, ours, asked_at) VALUES (?, ?, ?, 1, ?)
     ON CONFLICT (environment_id, company_id) DO UPDATE SET fields = excluded.fields, ours = 1, asked_at = excluded.asked_at, registered_at = NULL`,
  );
  const register = run('UPDATE watches SET registered_at = ? WHERE environment_id = ? AND company_id = ?');
  const hint = database.prepare(
    'UPDATE watches SET hinted_at = ? WHERE company_id IN (SELECT value FROM json_each(?))',
  );
  const read = run(
    `UPDATE watches SET read_at = @askedAt, failed_at = NULL,
       hinted_at = CASE WHEN hinted_at <= @askedAt THEN NULL ELSE hinted_at END
     WHERE environment_id = @environmentId AND company_id = @companyId`,
  );
  const failed = run('UPDATE watches SET failed_at = ? WHERE environment_id = ? AND company_id = ?');
  const toAdd = rows<[object], WatchToSettle>(
    `SELECT DISTINCT row_ids.id AS companyId, registered_at IS NOT NULL AS registered ${CONFIRMED}
     LEFT JOIN watches ON watches.environment_id = @environmentId AND watches.company_id = row_ids.id
     WHERE left_at IS NULL AND ${AMONG_PORTFOLIOS} AND (registered_at IS NULL OR (ours = 1 AND fields IS DISTINCT FROM @fields))
     ORDER BY 1`,
  );
  const toRemove = rows<[object], WatchToSettle>(
    `SELECT company_id AS companyId, registered_at IS NOT NULL AS registered FROM watches WHERE environment_id = @environmentId AND company_id IN (
       SELECT company_id FROM watches WHERE environment_id = @environmentId AND ours = 1
       EXCEPT SELECT row_ids.id ${CONFIRMED} WHERE left_at IS NULL
         AND EXISTS (SELECT 1 FROM run_environments WHERE run_environments.run_id = members.run_id AND environment_id = @environmentId))
     ORDER BY company_id`,
  );
  const inLists = `company_id IN (SELECT row_ids.id ${CONFIRMED} WHERE left_at IS NULL AND ${AMONG_PORTFOLIOS})`;
  const since = 'coalesce(read_at, registered_at)';
  const toReadOf = (which: string) =>
    rows<[object], WatchToRead>(
      `SELECT company_id AS companyId, ${since} AS since, failed_at IS NOT NULL AS hasFailed FROM watches
       WHERE environment_id = @environmentId AND registered_at IS NOT NULL
         AND (hinted_at IS NOT NULL OR (@hinted = 0 AND coalesce(read_at, 0) <= @notSince)) ${which}
       ORDER BY failed_at IS NOT NULL, hinted_at IS NULL, coalesce(failed_at, ${since}), company_id`,
    );
  const toRead = toReadOf('');
  const toReadInLists = toReadOf(`AND ${inLists}`);
  const list = database.prepare<[], ListedWatch>(
    `SELECT watches.id, name AS environment, company_id AS companyId, fields, ours, registered_at AS registeredAt, read_at AS readAt,
       hinted_at AS hintedAt, (SELECT count(*) FROM watch_events AS heard
         WHERE heard.environment_id = watches.environment_id AND heard.company_id = watches.company_id) AS events
     FROM watches JOIN environments ON environments.id = environment_id ORDER BY name, company_id`,
  );
  return {
    ...watchEvents(database),
    /** The number of members of these portfolios, and of those without a v2 match. */
    members: async (portfolioIds: readonly number[]) =>
      (await counts(JSON.stringify(portfolioIds))) ?? { listed: 0, without: 0 },
    /**
     * Adopts the provider's list: requested companies on it are registered, others are not. Companies of these
     * portfolios that someone else registered are recorded as not ours. Returns those whose answer was lost.
     */
    reconcile: (environmentId: number, listed: readonly string[], { portfolioIds }: WantedWatches, now: number) =>
      database.write(function* () {
        const found = yield* reconcile(database, environmentId, listed, portfolioIds, now);
        return found.map(({ id, companyId, fields }) => ({
          companyId,
          fields: fields === null ? null : readCell(watchFields, fields, { id }),
        }));
      }),
    /** Companies of these portfolios that are not registered, or with other fields, ordered by ID. */
    toAdd: (environmentId: number, { portfolioIds, fields }: WantedWatches) =>
      toAdd({ environmentId, portfolios: JSON.stringify(portfolioIds), fields: storedFields(fields) }),
    /** Registered companies that are in no list any more. */
    toRemove: (environmentId: number) => toRemove({ environmentId }),
    /** Written before the request: if its answer is lost, the provider's list shows that it is ours. */
    asked: (environmentId: number, companyId: string, fields: WantedWatches['fields'], now: number) =>
      ask(environmentId, companyId, storedFields(fields), now),
    registered: (environmentId: number, companyId: string, now: number) => register(now, environmentId, companyId),
    removed: run<[environmentId: number, companyId: string]>(
      'DELETE FROM watches WHERE environment_id = ? AND company_id = ?',
    ),
    /** Records that callbacks named these companies, at any provider. Returns the number of watches. */
    hint: (companyIds: readonly string[], now: number) =>
      database.write(() => hint.change(now, JSON.stringify(companyIds))),
    /**
     * Companies whose history to read: named by callbacks first, then those not read for longest. Companies that failed
     * last come at the end, so that permanent failures do not block others.
     */
    toRead: (environmentId: number, { portfolioIds, hinted, notSince }: WatchSelection) => {
      const wish = { environmentId, hinted: hinted ? 1 : 0, notSince };
      return portfolioIds === null
        ? toRead(wish)
        : toReadInLists({ ...wish, portfolios: JSON.stringify(portfolioIds) });
    },
    /** The history of a company was read, as of this moment. */
    read: (environmentId: number, companyId: string, askedAt: number) => read({ environmentId, companyId, askedAt }),
    failed: (environmentId: number, companyId: string, askedAt: number) => failed(askedAt, environmentId, companyId),
    watched: count<[environmentId: number]>(
      'SELECT count(*) FROM watches WHERE environment_id = ? AND registered_at IS NOT NULL',
    ),
    list: () =>
      database.read(function* () {
        return (yield* list.all()).map(
          ({ id, fields, ours, ...watch }): WatchRecord => ({
            ...watch,
            fields: fields === null ? null : readCell(watchFields, fields, { id }),
            ours: ours === 1,
          }),
        );
      }),
  };
}

/** Members with their v2 match. */
const CONFIRMED = `FROM members JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row AND row_ids.space = 'v2'`;
const IN_PORTFOLIOS = 'portfolio_id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))';
const AMONG_PORTFOLIOS = IN_PORTFOLIOS.replace('?', '@portfolios');

/** Returns requested companies without an answer that the provider has. */
function* reconcile(
  database: Sql,
  environmentId: number,
  listed: readonly string[],
  portfolioIds: readonly number[],
  now: number,
): Script<readonly Found[]> {
  const given = { environmentId, listed: JSON.stringify(listed), portfolios: JSON.stringify(portfolioIds), now };
  const isListed = 'IN (SELECT value FROM json_each(@listed))';
  const run = (sql: string) => database.prepare(sql).run(given);
  yield* run(
    `UPDATE watches SET registered_at = NULL WHERE environment_id = @environmentId AND ours = 1 AND company_id NOT ${isListed}`,
  );
  yield* run(`DELETE FROM watches WHERE environment_id = @environmentId AND ours = 0 AND company_id NOT ${isListed}`);
  const found = yield* database
    .prepare<[typeof given], Found>(
      `UPDATE watches SET registered_at = @now WHERE environment_id = @environmentId AND registered_at IS NULL AND company_id ${isListed}
       RETURNING id, company_id AS companyId, fields`,
    )
    .all(given);
  yield* run(
    `INSERT INTO watches (environment_id, company_id, ours, asked_at, registered_at)
       SELECT DISTINCT @environmentId, row_ids.id, 0, @now, @now ${CONFIRMED} WHERE left_at IS NULL AND ${AMONG_PORTFOLIOS} AND row_ids.id ${isListed}
     ON CONFLICT DO NOTHING`,
  );
  return found;
}

interface Found {
  readonly id: number;
  readonly companyId: string;
  readonly fields: string | null;
}

/** The order of fields does not matter. */
const storedFields = (fields: readonly string[] | null): string | null =>
  fields === null ? null : JSON.stringify([...fields].sort());

type ListedWatch = Omit<WatchRecord, 'fields' | 'ours'> & {
  readonly id: number;
  readonly fields: string | null;
  readonly ours: number;
};

/** Notifications are not signed: only the history makes a company due (V2-13). */
const IS_CONFIRMED = `coalesce(watch_events.extra, '') NOT LIKE '{"notification":%'`;

function watchEvents(database: Database) {
  const { run } = statements(database);
  const insert = database.prepare(
    `INSERT INTO watch_events (environment_id, company_id, event_type, status, message, date_created, extra, digest, heard_at, raw_sha256)
     VALUES (?, ?, ?, ?, ?, ?, ?, unhex(?), ?, unhex(?)) ON CONFLICT DO NOTHING`,
  );
  // Events are few and members many: one pass over the members, and only if there are events.
  const lastHeard = `SELECT max(heard_at) FROM member_companies AS known
    JOIN watch_events ON watch_events.environment_id = known.environment_id AND watch_events.company_id = known.id
    WHERE known.member_id = members.id AND known.space = 'v2' AND ${STILL_KNOWN} AND ${IS_CONFIRMED}`;
  const knownSince = `SELECT min(known_since) FROM member_companies AS known WHERE known.member_id = members.id AND ${STILL_KNOWN}`;
  const isAnyHeard = database.prepare<[], 1>('SELECT 1 FROM watch_events LIMIT 1');
  // Earlier events were handled before the member was matched with the company, or belong to another member.
  const mark = database.prepare(
    `UPDATE members SET changed_at = (${lastHeard})
     WHERE left_at IS NULL AND (${lastHeard}) > coalesce(changed_at, 0) AND (${lastHeard}) > (${knownSince})`,
  );
  // The last call stays: it shows that the bytes are in use and that the provider has answered.
  const sumLooks = callSummer(
    database,
    `SELECT id FROM calls INDEXED BY calls_looks WHERE operation = 'watchHistory' AND charge = 'charged' AND raw_sha256 = unhex(@raw)
       AND run_id IS NULL AND reconciled IS NULL
       AND id < (SELECT max(id) FROM calls INDEXED BY calls_looks WHERE operation = 'watchHistory' AND charge = 'charged' AND raw_sha256 = unhex(@raw))`,
  );
  const environments = database.prepare<[], string>('SELECT DISTINCT name FROM environments').pluck();
  // From the newest back, until there are enough.
  const last = database.prepare<[string, number], WatchEvent>(
    `SELECT watch_events.id, name AS environment, company_id AS companyId, event_type AS eventType, status, message,
       date_created AS dateCreated, extra, heard_at AS heardAt, run_id AS runId, lower(hex(raw_sha256)) AS rawSha256
     FROM watch_events CROSS JOIN environments ON environments.id = environment_id
     WHERE environments.name IN (SELECT value FROM json_each(?)) ORDER BY watch_events.id DESC LIMIT ?`,
  );
  return {
    /** Stores one page of a history. Returns the number of new events. */
    hear: ({ environmentId, companyId, events, heardAt, rawSha256 }: EventPage) =>
      database.write(function* () {
        // One call per company and run: empty results would fill most of a ledger.
        if (events.length === 0) yield* sumLooks({ raw: rawSha256 });
        let added = 0;
        for (const event of events) {
          const { eventType, status, message, dateCreated, extra } = event;
          const said = [eventType, status, message, dateCreated, extra];
          added += yield* insert.change(environmentId, companyId, ...said, digestOf(event), heardAt, rawSha256);
        }
        return added;
      }),
    /** Makes members due whose company has changed. Returns their number. Earlier marks are not repeated. */
    markChanged: () =>
      database.write(function* () {
        return (yield* isAnyHeard.get()) === undefined ? 0 : yield* mark.change();
      }),
    /** Assigns events since then to the run that began with them. */
    takenUp: run<[runId: string, since: number]>(
      'UPDATE watch_events SET run_id = ? WHERE heard_at >= ? AND run_id IS NULL',
    ),
    /** Newest first, of these providers. */
    lastEvents: (limit: number, of: (environment: string) => boolean = () => true): Promise<readonly WatchEvent[]> =>
      database.read(function* () {
        const wanted = (yield* environments.all()).filter(of);
        return yield* last.all(JSON.stringify(wanted), limit);
      }),
  };
}

/** Half of the digest: no company has enough events for a collision. */
const digestOf = ({ eventType, status, message, dateCreated, extra }: ReceivedEvent): string =>
  hash('sha256', JSON.stringify([eventType, status, message, dateCreated, extra])).slice(0, 32);
