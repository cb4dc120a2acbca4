import type { Database, Script, Sql } from '../database.js';
import type { WatchRecord, WatchStore, WatchToRead, WatchToSettle } from '../watches.js';
import { Cells, watchFields } from './cells.js';
import type { BelievedTimes } from './times.js';
import { watchEvents } from './watch-events.js';

/** Companies that are watched. Members are found from their portfolios: the table of IDs is larger than any of these. */
export function watchStore(database: Database, times: BelievedTimes): WatchStore {
  const cells = new Cells(database);
  const counts = database.prepare<[string], { listed: number; without: number }>(
    `SELECT count(*) AS listed, count(*) FILTER (WHERE row_ids.id IS NULL) AS without FROM members
     LEFT JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row AND space = 'v2'
     WHERE left_at IS NULL AND ${IN_PORTFOLIOS}`,
  );
  const ask = database.prepare(
    `INSERT INTO watches (environment_id, company_id, fields, ours, asked_at) VALUES (?, ?, ?, 1, ?)
     ON CONFLICT (environment_id, company_id) DO UPDATE SET fields = excluded.fields, ours = 1, asked_at = excluded.asked_at, registered_at = NULL`,
  );
  const register = database.prepare('UPDATE watches SET registered_at = ? WHERE environment_id = ? AND company_id = ?');
  const remove = database.prepare('DELETE FROM watches WHERE environment_id = ? AND company_id = ?');
  const hint = database.prepare(
    'UPDATE watches SET hinted_at = ? WHERE company_id IN (SELECT value FROM json_each(?))',
  );
  const read = database.prepare(
    `UPDATE watches SET read_at = @askedAt, failed_at = NULL,
       hinted_at = CASE WHEN ${times.sql('hinted_at')} <= @askedAt THEN NULL ELSE hinted_at END
     WHERE environment_id = @environmentId AND company_id = @companyId`,
  );
  const failed = database.prepare('UPDATE watches SET failed_at = ? WHERE environment_id = ? AND company_id = ?');
  const toAdd = database.prepare<[Wish], ToSettle>(
    `SELECT DISTINCT row_ids.id AS companyId, registered_at IS NOT NULL AS registered ${CONFIRMED}
     LEFT JOIN watches ON watches.environment_id = @environmentId AND watches.company_id = row_ids.id
     WHERE left_at IS NULL AND ${AMONG_PORTFOLIOS} AND (registered_at IS NULL OR (ours = 1 AND fields IS DISTINCT FROM @fields))
     ORDER BY 1`,
  );
  const toRemove = database.prepare<[{ environmentId: number }], ToSettle>(
    `SELECT company_id AS companyId, registered_at IS NOT NULL AS registered FROM watches WHERE environment_id = @environmentId AND company_id IN (
       SELECT company_id FROM watches WHERE environment_id = @environmentId AND ours = 1
       EXCEPT SELECT row_ids.id ${CONFIRMED} WHERE left_at IS NULL
         AND EXISTS (SELECT 1 FROM run_environments WHERE run_environments.run_id = members.run_id AND environment_id = @environmentId))
     ORDER BY company_id`,
  );
  const inLists = `company_id IN (SELECT row_ids.id ${CONFIRMED} WHERE left_at IS NULL AND ${AMONG_PORTFOLIOS})`;
  // When it was read at a time that has not come is not known: it is read once more, as if it never was.
  const readAt = `CASE WHEN ${times.sql('read_at')} = read_at THEN read_at END`;
  const since = `coalesce(${readAt}, ${times.sql('registered_at')})`;
  const toReadOf = (which: string) =>
    database.prepare<[object], ToRead>(
      `SELECT company_id AS companyId, ${since} AS since, failed_at IS NOT NULL AS hasFailed FROM watches
       WHERE environment_id = @environmentId AND registered_at IS NOT NULL
         AND (hinted_at IS NOT NULL OR (@hinted = 0 AND coalesce(${readAt}, 0) <= @notSince)) ${which}
       ORDER BY failed_at IS NOT NULL, hinted_at IS NULL, coalesce(failed_at, ${since}), company_id`,
    );
  const toRead = toReadOf('');
  const toReadInLists = toReadOf(`AND ${inLists}`);
  const watched = database
    .prepare<[number], number>('SELECT count(*) FROM watches WHERE environment_id = ? AND registered_at IS NOT NULL')
    .pluck();
  const list = database.prepare<[], ListedWatch>(
    `SELECT watches.id, name AS environment, company_id AS companyId, fields, ours, registered_at AS registeredAt, read_at AS readAt,
       hinted_at AS hintedAt, (SELECT count(*) FROM watch_events AS heard
         WHERE heard.environment_id = watches.environment_id AND heard.company_id = watches.company_id) AS events
     FROM watches JOIN environments ON environments.id = environment_id ORDER BY name, company_id`,
  );
  return {
    ...watchEvents(database, times),
    members: async (portfolioIds) =>
      (await database.read(() => counts.get(JSON.stringify(portfolioIds)))) ?? { listed: 0, without: 0 },
    reconcile: (environmentId, listed, { portfolioIds }, now) =>
      database.write(function* () {
        const found = yield* reconcile(database, environmentId, listed, portfolioIds, now);
        return found.map(({ id, companyId, fields }) => ({
          companyId,
          fields: fields === null ? null : cells.read(watchFields, fields, [id]),
        }));
      }),
    toAdd: async (environmentId, { portfolioIds, fields }) => {
      const wish = { environmentId, portfolios: JSON.stringify(portfolioIds), fields: storedFields(fields) };
      return (await database.read(() => toAdd.all(wish))).map(settled);
    },
    toRemove: async (environmentId) => (await database.read(() => toRemove.all({ environmentId }))).map(settled),
    asked: (environmentId, companyId, fields, now) =>
      database.write(() => ask.run(environmentId, companyId, storedFields(fields), now)),
    registered: (environmentId, companyId, now) => database.write(() => register.run(now, environmentId, companyId)),
    removed: (environmentId, companyId) => database.write(() => remove.run(environmentId, companyId)),
    hint: (companyIds, now) => database.write(() => hint.change(now, JSON.stringify(companyIds))),
    toRead: async (environmentId, { portfolioIds, hinted, notSince }) => {
      const wish = { environmentId, hinted: hinted ? 1 : 0, notSince };
      const found = await database.read(() =>
        portfolioIds === null
          ? toRead.all(wish)
          : toReadInLists.all({ ...wish, portfolios: JSON.stringify(portfolioIds) }),
      );
      return found.map(({ hasFailed, ...watch }) => ({ ...watch, hasFailed: hasFailed === 1 }));
    },
    read: (environmentId, companyId, askedAt) => database.write(() => read.run({ environmentId, companyId, askedAt })),
    failed: (environmentId, companyId, askedAt) => database.write(() => failed.run(askedAt, environmentId, companyId)),
    watched: async (environmentId) => (await database.read(() => watched.get(environmentId))) ?? 0,
    list: () =>
      database.read(function* () {
        return (yield* list.all()).map(
          ({ id, fields, ours, ...watch }): WatchRecord => ({
            ...watch,
            fields: fields === null ? null : cells.read(watchFields, fields, [id]),
            ours: ours === 1,
          }),
        );
      }),
  };
}

/** Members and the v2 company of each, where one is confirmed. */
const CONFIRMED = `FROM members JOIN row_ids ON row_ids.run_id = members.run_id AND row_ids.row = members.run_row AND row_ids.space = 'v2'`;
const IN_PORTFOLIOS = 'portfolio_id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))';
const AMONG_PORTFOLIOS = IN_PORTFOLIOS.replace('?', '@portfolios');

/** Returns those that we had asked for without an answer, and that are there. */
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

/** The order in which fields are named is of no account. */
const storedFields = (fields: readonly string[] | null): string | null =>
  fields === null ? null : JSON.stringify([...fields].sort());

interface ToSettle {
  readonly companyId: string;
  readonly registered: number;
}

const settled = ({ companyId, registered }: ToSettle): WatchToSettle => ({ companyId, registered: registered === 1 });

type ToRead = Omit<WatchToRead, 'hasFailed'> & { readonly hasFailed: number };

interface Wish {
  readonly environmentId: number;
  readonly portfolios: string;
  readonly fields: string | null;
}

type ListedWatch = Omit<WatchRecord, 'fields' | 'ours'> & {
  readonly id: number;
  readonly fields: string | null;
  readonly ours: number;
};
