import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Script } from '../../src/ledger/db/database.js';
import { postgresDatabase } from '../../src/ledger/db/postgres/database.js';
import { withClient } from '../../src/ledger/db/postgres/ledger.js';
import { Session } from '../../src/ledger/db/postgres/session.js';
import { postgresSql, translate } from '../../src/ledger/db/postgres/statement.js';
import { systemClock } from '../../src/util/clock.js';
import { withClient as withPlainClient, withPostgres } from './server.js';

const sql = postgresSql();
const echo = sql.prepare<[number, string | null], { number: number; text: string | null }>(
  'SELECT CAST(? AS BIGINT) AS number, CAST(? AS TEXT) AS text',
);
const divide = sql.prepare<[number], { result: number }>('SELECT 10 / CAST(? AS BIGINT) AS result');
const pair = sql.prepare<[], [number, boolean, Buffer, null]>("SELECT 7, true, CAST('ab' AS BYTEA), NULL").raw();

const withSession = <T>(use: (session: Session) => Promise<T>): Promise<T> =>
  withPostgres(async (url) => {
    const session = await Session.open({ url, applicationName: 'test' });
    try {
      return await use(session);
    } finally {
      await session.end();
    }
  });

test('each statement of one turn has its own answer', async () => {
  await withSession(async (session) => {
    for (let round = 1; round <= 2; round++) {
      const answers = await Promise.all([
        session.run(echo.all(1, 'one')),
        session.run(divide.all(5)),
        session.run(echo.all(2, null)),
        session.run(pair.all()),
      ]);
      expect(answers).toEqual([
        [{ number: 1, text: 'one' }],
        [{ result: 2 }],
        [{ number: 2, text: null }],
        [[7, 1, Buffer.from('ab'), null]],
      ]);
    }
  });
});

test('in a transaction the first failure is the reason of all, outside of one it fails alone', async () => {
  await withSession(async (session) => {
    const before = session.run(echo.all(1, 'before'));
    const failed = session.run(divide.all(0));
    const after = session.run(pair.all());
    const [first, second, third] = await Promise.allSettled([before, failed, after]);
    expect(first).toEqual({ status: 'fulfilled', value: [{ number: 1, text: 'before' }] });
    expect(second).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
    expect(third).toEqual({ status: 'fulfilled', value: [[7, 1, Buffer.from('ab'), null]] });
    session.send('BEGIN');
    await session.run(divide.run(0));
    await expect(session.run(pair.all())).rejects.toMatchObject({ code: '22012' });
    await expect(session.commit()).rejects.toMatchObject({ code: '22012' });
    expect(await session.run(divide.all(5))).toEqual([{ result: 2 }]);
  });
});

test('a read is not failed by a simultaneous read', async () => {
  await withPostgres(async (url) => {
    const database = postgresDatabase({
      url,
      name: 'test',
      readonly: true,
      clock: systemClock,
      patienceMs: 1000,
      onNote: () => {},
    });
    try {
      const reads: Promise<unknown>[] = [];
      const read = (script: () => Script<unknown>) => reads.push(database.read(script));
      read(() => divide.all(0));
      for (let number = 1; number <= 20; number++) read(() => echo.all(number, null));
      const [failed, ...others] = await Promise.allSettled(reads);
      expect(failed).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
      expect(others).toEqual(
        others.map((_, index) => ({ status: 'fulfilled', value: [{ number: index + 1, text: null }] })),
      );
    } finally {
      await database.close();
    }
  });
});

test('settings of the database or of the role do not affect kybatch, on any connection', () =>
  withPostgres(async (url) => {
    const ours = { statement_timeout: '0', lock_timeout: '0', array_nulls: 'on' };
    await withPlainClient(url, async (client) => {
      for (const [name, theirs] of Object.entries({ statement_timeout: '9s', lock_timeout: '9s', array_nulls: 'off' }))
        await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${name} = '${theirs}'`);
    });
    const ask = `SELECT ${Object.keys(ours)
      .map((name) => `current_setting('${name}') AS ${name}`)
      .join(', ')}`;
    const session = await Session.open({ url, applicationName: 'test' });
    expect(await session.command(ask)).toEqual([ours]);
    await session.end();
    expect(await withClient(url, async (client) => (await client.query(ask)).rows)).toEqual([ours]);
  }));

test('hexadecimal digits are sent as bytes, and invalid ones as null', () => {
  const { text, values } = translate(
    'SELECT 1 WHERE a = unhex(@key) AND b = @key AND c = unhex(@other) AND d = unhex(b)',
  );
  expect(text(['bytea', 'text', 'bytea'])).toBe(
    'SELECT 1 WHERE a = $1::bytea AND b = $2::text AND c = $3::bytea AND d = unhex(b)',
  );
  expect(values([{ key: 'aB01', other: 'xy' }])).toEqual([Buffer.from([0xab, 1]), 'aB01', null]);
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const places = translate('SELECT unhex(?), ?');
      const hex = Buffer.from(bytes).toString('hex');
      expect(places.values([hex, hex])).toEqual([Buffer.from(bytes), hex]);
      expect(places.values([`${hex}0`, null])).toEqual([null, null]);
    }),
  );
});

test('rows of a list are looked up, not scanned', () => {
  const { text } = translate(
    'SELECT 1 FROM rows WHERE row IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND id NOT IN (SELECT value FROM json_each(@ids))',
  );
  expect(text(['text', 'text'])).toBe(
    'SELECT 1 FROM rows WHERE row = ANY (ARRAY(SELECT CAST(value AS BIGINT) FROM json_each($1::text))) AND id <> ALL (ARRAY(SELECT value FROM json_each($2::text)))',
  );
});
