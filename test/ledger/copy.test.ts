/** @module-tag long */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KybatchError } from '../../src/domain/errors.js';
import { addRecord, type CopyTarget, type StoredRecord } from '../../src/ledger/db/copy-format.js';
import { type CopiedLedger, copyBetween, copyTables } from '../../src/ledger/db/copy-ledger.js';
import { openPostgresTarget } from '../../src/ledger/db/postgres/copy.js';
import { grantTo } from '../../src/ledger/db/postgres/migrate.js';
import { LOCK } from '../../src/ledger/db/postgres/writer.js';
import { acquireLock, type Connection, connect } from '../../src/ledger/db/sqlite/connection.js';
import { copiedTables, openSqliteSource, openSqliteTarget } from '../../src/ledger/db/sqlite/copy.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { withFolder } from '../helpers/cli.js';
import { withClient, withEmptyDatabase, withPostgres } from '../postgres/server.js';

const NOW = 1_760_000_000_000;

/** Every kind of value, more than one batch of a table, and values that are easily lost on the way. */
const FILL = `
  INSERT INTO environments VALUES (3, 'v1', 'https://a.example'), (7, 'v2', 'https://b.example');
  INSERT INTO runs (rowid, id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, created_at)
    VALUES (5, 'zulu', '/in.csv', 'x', 'p', 'y', '{}', '[]', 'open', 1), (9, 'alpha', '/in.csv', 'x', 'p', 'y', '{}', '[]', 'finished', 1);
  INSERT INTO rows (run_id, row, line, input_values, fields, outcome)
    VALUES ('zulu', 1, 2, '["Bröd & Smör ""AB""","\\n, {}","😀",""]', '{}', 'pending'), ('zulu', 2, 3, '', char(9) || '\\N' || char(10), 'complete');
  INSERT INTO closures VALUES (3, NULL, 'scope', NULL, 'no', 1, 1), (3, NULL, 'scope', NULL, 'no', 1, 1), (3, '', 'allowance', -1, 'no', 1, 1);
  INSERT INTO bodies VALUES (x'00ff', 'identity', 0, x'', 1), (x'ff', 'brotli', 9007199254740991, randomblob(5000), 1), (x'0a', 'brotli', 1, randomblob(3000), 1);
  INSERT INTO starts (id, begun_at, lease_until, ended_at) VALUES (4, 1, 2, 2), (90, 1, 2, 2);
  DELETE FROM starts WHERE id = 90;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4500)
    INSERT INTO errors (id, run_id, class, code, message, attempts, at) SELECT i * 2, 'zulu', 'retry', 'X', 'message ' || i, 1, 1 FROM n;
`;

/** A ledger in a file with all of these values. */
async function withFilled<T>(
  use: (dataDir: string, change: (sql: string) => void) => Promise<T>,
  fill = FILL,
): Promise<T> {
  return await withFolder(async (folder) => {
    const dataDir = join(folder, 'data');
    await (await openLedger({ dataDir, now: NOW, access: 'write' })).close();
    const change = (sql: string) => inFile(dataDir, (database) => database.exec(sql));
    change(fill);
    return await use(dataDir, change);
  });
}

function inFile<T>(dataDir: string, use: (database: Connection) => T): T {
  const database = connect(join(dataDir, 'kybatch.db'));
  try {
    return use(database);
  } finally {
    database.close();
  }
}

/** Comparing megabytes one by one would take minutes. */
const readable = (record: StoredRecord) =>
  record.map((value) => (value instanceof Uint8Array ? createHash('sha256').update(value).digest('hex') : value));

const copy = (from: object, to: object): Promise<CopiedLedger> =>
  copyBetween({ dataDir: '', ...from }, { dataDir: '', ...to }, { now: NOW });

async function refusal(
  work: Promise<unknown>,
): Promise<{ readonly exit: number; readonly code: string; readonly words: string }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof KybatchError)) throw new Error(`not refused, but: ${String(error)}`);
  return { exit: error.exit, code: error.code, words: `${error.message} | ${error.hint ?? ''}` };
}

/** Fails after this many batches. */
const killedAfter = (target: CopyTarget, batches: number): CopyTarget => {
  let left = batches;
  return {
    ...target,
    async add(table, records) {
      if (left === 0) throw new Error('broken off');
      left -= 1;
      await target.add(table, records);
    },
  };
};

describe('a ledger copied to PostgreSQL', () => {
  test('is unchanged there, and back in a file, and its numbers continue', () =>
    withFilled((dataDir, change) =>
      withPostgres(async (ledgerUrl) => {
        change(
          "INSERT INTO bodies VALUES (x'01', 'brotli', 1, randomblob(5000000), 1), (x'02', 'brotli', 1, randomblob(3000000), 1)",
        );
        const there = await copy({ dataDir }, { ledgerUrl });
        expect(there).toMatchObject({ isWhole: true });
        expect(there.tables.find(({ name }) => name === 'errors')).toEqual({
          name: 'errors',
          records: 4500,
          isSame: true,
        });
        const back = join(dataDir, '../back');
        expect(await copy({ ledgerUrl }, { dataDir: back })).toEqual(there);
        const all = (folder: string) =>
          inFile(folder, (database) => [
            ...copiedTables().map(({ name, columns }) =>
              database
                .prepare<[], StoredRecord>(
                  `SELECT ${columns.map((column) => column.name).join()} FROM "${name}" ORDER BY 1, 2`,
                )
                .raw()
                .all()
                .map(readable),
            ),
            database.prepare('SELECT name, seq FROM sqlite_sequence ORDER BY name').all(),
            database.prepare('SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name').all(),
          ]);
        expect(all(back)).toEqual(all(dataDir));
        await withClient(ledgerUrl, async (client) => {
          await client.query('SET search_path = kybatch');
          const ids = async (sql: string) => (await client.query<{ id: string }>(sql)).rows.map(({ id }) => id);
          expect(await ids('INSERT INTO starts (begun_at, lease_until) VALUES (1, 1) RETURNING id')).toEqual(['91']);
          expect(await ids("INSERT INTO environments (api, name) VALUES ('v1', 'x') RETURNING id")).toEqual(['8']);
          expect(await ids('SELECT id FROM runs ORDER BY rowid')).toEqual(['zulu', 'alpha']);
          const run = "'new', '', '', '', '', '{}', '[]', 'open', 1";
          expect(
            await ids(
              `INSERT INTO runs (id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, created_at) VALUES (${run}) RETURNING rowid AS id`,
            ),
          ).toEqual(['10']);
        });
      }),
    ));

  test.each([0, 1, 4, 7])('leaves nothing if it is interrupted after %i batches, and begins again', (batches) =>
    withFilled((dataDir, change) =>
      withPostgres(async (ledgerUrl) => {
        const tables = copiedTables();
        const source = openSqliteSource(dataDir);
        const target = await openPostgresTarget(ledgerUrl);
        await expect(copyTables(source, killedAfter(target, batches), { tables })).rejects.toThrow('broken off');
        await Promise.all([source.close(), target.close()]);
        await isUntouched(ledgerUrl);
        change("UPDATE environments SET name = 'https://c.example' WHERE id = 3");
        expect(await copy({ dataDir }, { ledgerUrl })).toMatchObject({ isWhole: true });
        await (await openLedger({ dataDir: 'x', ledgerUrl, now: NOW, access: 'write' })).close();
      }),
    ),
  );

  test('and back, begins again in the same way, and gets its name when complete', () =>
    withFilled((dataDir) =>
      withPostgres(async (ledgerUrl) => {
        await copy({ dataDir }, { ledgerUrl });
        const back = join(dataDir, '../back');
        mkdirSync(back);
        writeFileSync(join(back, 'kybatch.db.copy'), 'a part');
        for (const access of ['read', 'write'] as const) {
          const { exit, code, words } = await refusal(openLedger({ dataDir: back, now: NOW, access }));
          expect([exit, code]).toEqual([2, 'LEDGER_COPY_PARTIAL']);
          expect(words).toContain(` ${back} `);
        }
        expect(await copy({ ledgerUrl }, { dataDir: back })).toMatchObject({ isWhole: true });
        expect(existsSync(join(back, 'kybatch.db.copy'))).toBe(false);
        await (await openLedger({ dataDir: back, now: NOW, access: 'write' })).close();
        expect((await refusal(copy({ ledgerUrl }, { dataDir: back }))).code).toBe('LEDGER_EXISTS');
      }),
    ));

  test('that fails is removed from its folder', () =>
    withFilled(async (dataDir) => {
      const source = openSqliteSource(dataDir);
      const back = join(dataDir, '../back');
      const file = openSqliteTarget(back, NOW);
      await expect(copyTables(source, killedAfter(file, 3), { tables: copiedTables() })).rejects.toThrow('broken off');
      await Promise.all([source.close(), file.close()]);
      expect(readdirSync(back)).toEqual(['kybatch.lock']);
    }));

  test('is discarded if something differs in the end', () =>
    withFilled((dataDir) =>
      withPostgres(async (ledgerUrl) => {
        const source = openSqliteSource(dataDir);
        const target = await openPostgresTarget(ledgerUrl);
        const altering: CopyTarget = {
          ...target,
          add: (table, records) =>
            target.add(
              table,
              records.map((record) => record.map((value) => (value === 'message 4001' ? 'message 4002' : value))),
            ),
        };
        const done = await copyTables(source, altering, { tables: copiedTables() });
        await Promise.all([source.close(), target.close()]);
        expect(done.isWhole).toBe(false);
        expect(done.tables.filter(({ isSame }) => !isSame)).toEqual([{ name: 'errors', records: 4500, isSame: false }]);
        await isUntouched(ledgerUrl);
      }),
    ));
});

const isUntouched = (ledgerUrl: string) =>
  withClient(ledgerUrl, async (client) => {
    const { rows } = await client.query('SELECT (SELECT count(*) FROM kybatch.environments)::int AS n');
    expect(rows).toEqual([{ n: 0 }]);
  });

describe('refused, and nothing is left of the copy', () => {
  test('a text with a NUL', () =>
    withFilled(
      (dataDir) =>
        withPostgres(async (ledgerUrl) => {
          const { exit, code } = await refusal(copy({ dataDir }, { ledgerUrl }));
          expect([exit, code]).toEqual([2, 'CANNOT_BE_KEPT']);
          await isUntouched(ledgerUrl);
        }),
      "INSERT INTO environments VALUES (1, 'v1', 'a' || char(0) || 'b')",
    ));

  test('the replacement character is a text like any other', () =>
    withFilled(
      (dataDir) =>
        withPostgres(async (ledgerUrl) => expect((await copy({ dataDir }, { ledgerUrl })).isWhole).toBe(true)),
      "INSERT INTO environments VALUES (1, 'v1', 'a\u{fffd}b'); INSERT INTO closures VALUES (1, '\u{fffd}', 'scope', NULL, '', 1, 1)",
    ));

  test('a ledger in which others work', () =>
    withFilled((dataDir) =>
      withPostgres(async (ledgerUrl) => {
        const lock = acquireLock(dataDir);
        expect((await refusal(copy({ dataDir }, { ledgerUrl }))).exit).toBe(75);
        lock.release();
        await isUntouched(ledgerUrl);
        await copy({ dataDir }, { ledgerUrl });
        await withClient(ledgerUrl, (client) =>
          client.query('INSERT INTO kybatch.starts (id, begun_at, lease_until) VALUES (100, $1, $2)', [
            NOW,
            NOW + 20_000,
          ]),
        );
        const back = { dataDir: join(dataDir, '../back') };
        const { exit, code, words } = await refusal(copy({ ledgerUrl }, back));
        expect([exit, code]).toEqual([75, 'LOCKED']);
        expect(words).toMatch(/: 1 .* 100 /);
        expect(existsSync(join(back.dataDir, 'kybatch.db.copy'))).toBe(false);
      }),
    ));

  test('a database that another process writes to, while it lasts', () =>
    withPostgres(async (ledgerUrl) => {
      await withClient(ledgerUrl, async (client) => {
        await client.query('BEGIN');
        await client.query(`SELECT pg_advisory_xact_lock_shared(${LOCK})`);
        expect(await refusal(openPostgresTarget(ledgerUrl, 50))).toMatchObject({
          exit: 75,
          code: 'LOCKED',
        });
      });
      await (await openPostgresTarget(ledgerUrl)).close();
      await isUntouched(ledgerUrl);
    }));

  test('a target with other content, one that is not migrated, and one without the right to fill it', () =>
    withFilled((dataDir) =>
      withPostgres(async (ledgerUrl) => {
        await withEmptyDatabase(async (empty) =>
          expect(await refusal(copy({ dataDir }, { ledgerUrl: empty }))).toMatchObject({
            code: 'NO_LEDGER_YET',
            words: expect.stringContaining('KYBATCH_LEDGER_URL'),
          }),
        );
        const role = `copier_${process.pid}_${Date.now()}`;
        await withClient(ledgerUrl, async (client) => {
          await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'a-password'`);
          await client.query(grantTo(role));
        });
        const worker = new URL(ledgerUrl);
        worker.username = role;
        worker.password = 'a-password';
        expect((await refusal(copy({ dataDir }, { ledgerUrl: worker.href }))).code).toBe('LEDGER_NOT_OWNED');
        await withClient(ledgerUrl, (client) =>
          client.query(
            `INSERT INTO kybatch.environments (api, name) VALUES ('v1', 'a'); DROP OWNED BY ${role}; DROP ROLE ${role}`,
          ),
        );
        const { exit, code, words } = await refusal(copy({ dataDir }, { ledgerUrl }));
        expect([exit, code]).toEqual([2, 'LEDGER_NOT_EMPTY']);
        expect(words).toMatch(/: .* 1 .* environments/);
      }),
    ));

  test('a ledger of an older kybatch, which is migrated first', () =>
    withFilled((dataDir, change) =>
      withPostgres(async (ledgerUrl) => {
        change('DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)');
        const { exit, code, words } = await refusal(copy({ dataDir }, { ledgerUrl }));
        expect([exit, code]).toEqual([2, 'LEDGER_TOO_OLD']);
        expect(words).toContain('`kybatch ledger migrate --data-dir ');
        await isUntouched(ledgerUrl);
      }),
    ));
});

describe('the digest', () => {
  const value = fc.oneof(
    fc.constant(null),
    fc.maxSafeInteger(),
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array(),
    fc.constantFrom('', '\0', '0', 0, new Uint8Array(), new Uint8Array([0]), 'x'.repeat(70_000)),
  );
  const records = fc.array(fc.array(value, { minLength: 1, maxLength: 3 }), { maxLength: 4 });
  const of = (all: readonly StoredRecord[]): string => {
    const digest = createHash('sha256');
    for (const record of all) addRecord(digest, record);
    return digest.digest('hex');
  };
  /** The type and the value: -0 is never stored. */
  const told = (all: readonly StoredRecord[]) =>
    JSON.stringify(
      all.map((record) =>
        record.map((each) => (each instanceof Uint8Array ? { bytes: Buffer.from(each).toString('hex') } : each)),
      ),
    );

  test('of two lists of records is equal only if they are', () => {
    fc.assert(
      fc.property(records, records, (one, other) => {
        expect(of(one) === of(other)).toBe(told(one) === told(other));
      }),
      { seed: 14, numRuns: 500 },
    );
  });

  test('depends on the type and position of a value', () => {
    const lists: StoredRecord[][] = [
      [],
      [[null]],
      [['']],
      [[new Uint8Array()]],
      [[0]],
      [['0']],
      [[new Uint8Array([48])]],
      [['a', 'b']],
      [['ab', '']],
      [['', 'ab']],
      [['b', 'a']],
      [['a'], ['b']],
      [['b'], ['a']],
    ];
    expect(new Set(lists.map(of)).size).toBe(lists.length);
  });
});
