/** @module-tag long */
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KybatchError, LedgerError } from '../../src/domain/errors.js';
import type { Script } from '../../src/ledger/db/database.js';
import { Session } from '../../src/ledger/db/postgres/session.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { begin, buy, call, intend, keyOf, NO_LIMITS, settlement } from '../ledger/support.js';
import { until, upTo, withOpened, withPlace } from './outage-support.js';
import { withPostgres } from './server.js';
import { type Fate, type Message, withWire } from './wire.js';

const LOCKED = `SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database AND datname = current_database()
  WHERE relation = 'kybatch.writers'::regclass AND mode = 'RowExclusiveLock' AND granted`;

const isCommit = ({ text }: Message) => text === 'COMMIT';
const isBegin = ({ text }: Message) => text.startsWith('BEGIN');

describe('a commit whose answer is lost', () => {
  test.each<[string, Fate]>([
    ['and that was made is found, and not made again', 'done'],
    ['and that never arrived is made again', 'lost'],
  ])('%s', async (_, fate) => {
    await withPlace(async ({ url, written }) => {
      await withWire(url, (wire) =>
        withOpened(wire.url, async ({ write, notes }) => {
          await write(1);
          const met = wire.meet(isCommit, fate);
          await Promise.all([write(2), write(3)]);
          await met;
          await write(4);
          expect(await written()).toEqual(['a 1', 'a 2', 'a 3', 'a 4']);
          expect(notes).toEqual([]);
        }),
      );
    });
  });

  test('is awaited while the server may still make it', async () => {
    await withPlace(async ({ url, written, sql }) => {
      await withWire(url, (wire) =>
        withOpened(wire.url, async ({ write }) => {
          await write(1);
          // The server has processed everything before the commit.
          const begun = () => until(async () => (await sql(LOCKED)).length > 0);
          const met = wire.meet(isCommit, 'late', begun);
          let isTold = false;
          const told = write(2).then(() => {
            isTold = true;
          });
          await met;
          await sleep(300);
          expect(isTold).toBe(false);
          await wire.release();
          await told;
          expect(await written()).toEqual(['a 1', 'a 2']);
        }),
      );
    });
  });

  test('has no effect if the server processes it after it was repeated', async () => {
    await withPlace(async ({ url, written }) => {
      await withWire(url, (wire) =>
        withOpened(wire.url, async ({ write }) => {
          await write(1);
          // All of the transaction has been sent, and nothing has arrived.
          const met = wire.meet(isBegin, 'late');
          await write(2);
          await met;
          await wire.release();
          expect(await written()).toEqual(['a 1', 'a 2']);
          await write(3);
          expect(await written()).toEqual(['a 1', 'a 2', 'a 3']);
        }),
      );
    });
  });

  test('during a settlement: the call is settled once, and its answer is stored', async () => {
    await withPostgres((url) =>
      withWire(url, async (wire) => {
        for (const fate of ['done', 'lost'] as const) {
          const ledger = await openLedger({
            dataDir: 'nowhere',
            ledgerUrl: wire.url,
            now: Date.now(),
            access: 'write',
          });
          const place = await begin(ledger);
          const intent = await intend(ledger, call(place, { requestKey: keyOf(fate) }));
          const met = wire.meet(isCommit, fate);
          expect(await ledger.calls.settle(intent, settlement())).toBe(true);
          await met;
          expect(await ledger.calls.settle(intent, settlement())).toBe(false);
          expect(await ledger.calls.findAnswer(place.environmentId, keyOf(fate), 0)).toBeDefined();
          await ledger.close();
        }
      }),
    );
  });

  test('is not guessed if a server has lost confirmed writes', async () => {
    await withPlace(async ({ url, sql, kill, written }) => {
      await withOpened(url, async ({ database, write }) => {
        await write(1);
        await sql('UPDATE kybatch.writers SET batch = 0');
        await kill('kybatch writer');
        await expect(write(2)).rejects.toMatchObject({ code: 'LEDGER_WENT_BACK', exit: 1 });
        expect(database.broken).toBeInstanceOf(LedgerError);
        expect(await written()).toEqual(['a 1']);
      });
    });
  });
});

describe('a database that is away', () => {
  test('is awaited: writes made meanwhile happen once, in order, and resolve when stored', async () => {
    await withPlace(async ({ url, written }) => {
      await withWire(url, (wire) =>
        withOpened(wire.url, async ({ write, notes, database }) => {
          await write(0);
          await wire.refuse();
          const told: number[] = [];
          const asked = upTo(100).map((n) => write(n + 1).then(() => told.push(n + 1)));
          const read = database.read(() => database.prepare<[], number>('SELECT count(*) FROM told').pluck().get());
          await sleep(1200);
          expect(told).toEqual([]);
          expect(await written()).toEqual(['a 0']);
          await wire.open();
          await Promise.all(asked);
          expect(told).toEqual(upTo(100).map((n) => n + 1));
          expect(await written()).toEqual(upTo(101).map((n) => `a ${n}`));
          expect(await read).toBeGreaterThan(0);
          expect(notes).toEqual([
            {
              code: 'LEDGER_AWAY',
              text: expect.stringMatching(/postgres:\/\/here\/db .*127\.0\.0\.1:\d+ \(ECONNREFUSED\)/),
            },
            { code: 'LEDGER_BACK', text: expect.stringContaining('postgres://here/db') },
          ]);
        }),
      );
    });
  });

  test('for longer than the patience: no intent follows, and calls bought before are still stored', async () => {
    await withPostgres((url) =>
      withWire(url, async (wire) => {
        const options = { dataDir: 'nowhere', ledgerUrl: wire.url, now: Date.now(), patienceMs: 700 };
        const ledger = await openLedger({ ...options, access: 'write' });
        const place = await begin(ledger);
        const intent = await intend(ledger, call(place));
        await wire.refuse();
        const begun = Date.now();
        const failed = await Promise.all(
          upTo(100).map((n) =>
            ledger.calls.intend(call(place, { requestKey: keyOf(`${n}`) }), NO_LIMITS).catch((error: unknown) => error),
          ),
        );
        expect(Date.now() - begun).toBeLessThan(5000);
        expect(new Set(failed.map((error) => (error as KybatchError).code))).toEqual(new Set(['LEDGER_AWAY']));
        expect(failed[0]).toBeInstanceOf(LedgerError);
        expect(failed[0]).toMatchObject({ exit: 6 });
        await wire.open();
        await expect(ledger.calls.intend(call(place), NO_LIMITS)).rejects.toMatchObject({ code: 'LEDGER_AWAY' });
        expect(await ledger.calls.settle(intent, settlement())).toBe(true);
        await ledger.close();
      }),
    );
  });

  test('and read-only for a while, as a standby, is awaited', async () => {
    await withPlace(async ({ url, sql, kill, written }) => {
      await withOpened(url, async ({ write, notes, database }) => {
        await write(1);
        await sql(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
        await kill('kybatch writer');
        const asked = write(2);
        await until(() => notes.length > 0);
        expect(notes[0]?.code).toBe('LEDGER_AWAY');
        expect(await database.read(() => database.prepare<[], number>('SELECT count(*) FROM told').pluck().get())).toBe(
          1,
        );
        await sql(
          `BEGIN READ WRITE; ALTER DATABASE ${new URL(url).pathname.slice(1)} RESET default_transaction_read_only; COMMIT`,
        );
        await asked;
        expect(await written()).toEqual(['a 1', 'a 2']);
      });
    });
  });

  test('without a response is detected while an answer is due, but not while a session waits for a lock', async () => {
    await withPlace(async ({ url }) => {
      await withWire(url, async (wire) => {
        const open = (to: string, lookMs: number) => Session.open({ url: to, applicationName: 'kybatch test', lookMs });
        const held = await open(wire.url, 200);
        wire.hold();
        await expect(held.command('SELECT 1')).rejects.toThrow();
        expect(held.isLost).toBe(true);
        await held.end();
        const [first, second] = [await open(url, 5000), await open(url, 400)];
        await first.command('SELECT pg_advisory_lock(1)');
        const waits = second.command('SELECT pg_advisory_lock(1)');
        await sleep(1500);
        await first.end();
        await waits;
        expect(second.isLost).toBe(false);
        await second.end();
      });
    });
  });

  test('without a response does not delay an interrupt', async () => {
    await withPlace(async ({ url }) => {
      await withWire(url, async (wire) => {
        const enough = new AbortController();
        await withOpened(
          wire.url,
          async ({ write }) => {
            await write(1);
            wire.hold();
            const waits = [write(2), write(3)].map((written) =>
              expect(written).rejects.toMatchObject({ code: 'LEDGER_AWAY' }),
            );
            const begun = Date.now();
            enough.abort();
            await Promise.all(waits);
            // Without that it takes half a minute.
            expect(Date.now() - begun).toBeLessThan(20_000);
          },
          { giveUp: enough.signal },
        );
      });
    });
  });

  test('without a response does not delay closing', async () => {
    await withPlace(async ({ url }) => {
      await withWire(url, async (wire) => {
        let begun = 0;
        await withOpened(wire.url, async ({ write, database }) => {
          await write(1);
          await database.read(() => database.prepare('SELECT 1').all());
          wire.hold();
          begun = Date.now();
        });
        expect(Date.now() - begun).toBeLessThan(6000);
      });
    });
  });
});

describe('a killed backend', () => {
  test('of the writer, at rest and in a transaction, has no visible effect', async () => {
    await withPlace(async ({ url, kill, written }) => {
      await withOpened(url, async ({ write, database, notes }) => {
        await write(1);
        expect(await kill('kybatch writer')).toBe(1);
        await write(2);
        const nap = database.prepare<[], unknown>('SELECT pg_sleep(0.5)');
        const insert = database.prepare<[number], never>("INSERT INTO told (writer, n) VALUES ('a', ?)");
        let runs = 0;
        const asked = database.write(function* (): Script<void> {
          runs += 1;
          yield* insert.run(3);
          yield* nap.get();
          yield* insert.run(4);
        });
        await until(() => runs === 1);
        await sleep(100);
        await kill('kybatch writer');
        await asked;
        expect(runs).toBe(2);
        expect(await written()).toEqual(['a 1', 'a 2', 'a 3', 'a 4']);
        expect(notes).toEqual([]);
      });
    });
  });

  test('of the reader: the query is repeated from its beginning', async () => {
    await withPlace(async ({ url, kill }) => {
      await withOpened(url, async ({ database, notes }) => {
        const read = () =>
          database.read(function* () {
            const [begun] = yield* database.prepare<[], number>('SELECT 1').pluck().all();
            yield* database.prepare('SELECT pg_sleep(0.4)').get();
            const seen: number[] = [];
            yield* database
              .prepare<[], number>('SELECT generate_series(1, 5000)')
              .pluck()
              .walk((n) => seen.push(n));
            return [begun, seen.length];
          });
        const asked = [read(), read()];
        await sleep(150);
        await kill('kybatch reader');
        expect(await Promise.all(asked)).toEqual([
          [1, 5000],
          [1, 5000],
        ]);
        await kill('kybatch reader');
        expect(await read()).toEqual([1, 5000]);
        expect(notes).toEqual([]);
      });
    });
  });

  test('of a snapshot ends the reading with an error: never a short table', async () => {
    await withPlace(async ({ url, kill }) => {
      await withOpened(url, async ({ database }) => {
        const snapshot = await database.snapshot();
        const seen: unknown[] = [];
        const reading = (async () => {
          for await (const rows of snapshot.batches('SELECT generate_series(1, 5000) AS n', [], 1000)) {
            seen.push(...rows);
            if (seen.length === 2000) await kill('kybatch snapshot');
          }
        })();
        await expect(reading).rejects.toMatchObject({
          code: 'LEDGER_READ_BROKEN',
          exit: 6,
          message: expect.stringContaining('postgres://here/db '),
        });
        await expect(snapshot.read(() => snapshot.prepare('SELECT 1').all())).rejects.toBeInstanceOf(LedgerError);
        await snapshot.close();
      });
    });
  });

  test('loses the temporary tables: the command ends with an error, and nothing is compared with a part', async () => {
    await withPlace(async ({ url, kill }) => {
      await withOpened(url, async ({ database }) => {
        const insert = database.prepare<[number], never>('INSERT INTO temp.laid (n) VALUES (?)');
        await database.withTempTables(function* () {
          yield* database.exec('CREATE TEMP TABLE laid (n bigint)');
          yield* insert.run(1);
        });
        await kill('kybatch writer');
        await expect(database.withTempTables(() => insert.run(2))).rejects.toMatchObject({
          code: 'LEDGER_COMPARE_BROKEN',
          exit: 6,
          message: expect.stringContaining('postgres://here/db '),
        });
      });
    });
  });
});

describe('refusals by the database', () => {
  test('because its disk is full are reported at once, and end all spending', async () => {
    await withPlace(async ({ url, sql, written }) => {
      await sql(`CREATE FUNCTION kybatch.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '53100'; END $$`);
      await withOpened(url, async ({ write, database }) => {
        await write(1);
        await sql(
          'CREATE TRIGGER no_room BEFORE INSERT ON kybatch.told FOR EACH ROW EXECUTE FUNCTION kybatch.no_room()',
        );
        const begun = Date.now();
        await expect(write(2)).rejects.toMatchObject({
          name: 'LedgerError',
          code: 'DISK_FULL',
          exit: 1,
          message: expect.stringMatching(/postgres:\/\/here\/db .*\(53100\)/),
          hint: expect.stringContaining('PostgreSQL'),
        });
        expect(Date.now() - begun).toBeLessThan(2000);
        expect(database.broken).toMatchObject({ code: 'DISK_FULL' });
        await sql('DROP TRIGGER no_room ON kybatch.told');
        await write(3);
        expect(await written()).toEqual(['a 1', 'a 3']);
      });
    });
  });

  test('because of a deadlock are repeated, by both', async () => {
    await withPlace(async ({ url, sql }) => {
      await sql(
        'CREATE TABLE kybatch.counters (id bigint, n bigint); INSERT INTO kybatch.counters VALUES (1, 0), (2, 0)',
      );
      const add = (order: readonly number[], writer: string) =>
        withOpened(
          url,
          async ({ database }) => {
            const one = database.prepare<[number], never>('UPDATE counters SET n = n + 1 WHERE id = ?');
            const nap = database.prepare<[], unknown>('SELECT pg_sleep(0.3)');
            await database.write(
              function* (): Script<void> {
                for (const id of order) {
                  yield* one.run(id);
                  yield* nap.get();
                }
              },
              { environments: [] },
            );
          },
          { writer },
        );
      await Promise.all([add([1, 2], 'a'), add([2, 1], 'b')]);
      expect(await sql('SELECT n FROM kybatch.counters ORDER BY id')).toEqual([{ n: '2' }, { n: '2' }]);
    });
  });

  test('because of a defect fail their own write, and the next transaction is a new one', async () => {
    await withPlace(async ({ url, written }) => {
      await withOpened(url, async ({ write, database }) => {
        const bad = database.prepare<[], never>('INSERT INTO told (writer, n) VALUES (NULL, 1)');
        const insert = database.prepare<[number], never>("INSERT INTO told (writer, n) VALUES ('a', ?)");
        // No caller waits for it, and more writes follow.
        await expect(
          database.write(function* () {
            yield* insert.run(1);
            yield* bad.run();
            yield* insert.run(2);
          }),
        ).rejects.toThrow('null value in column "writer"');
        await expect(
          database.write(function* () {
            yield* insert.run(3);
            throw new Error('of the script itself');
          }),
        ).rejects.toThrow('of the script itself');
        // The script swallows it: PostgreSQL rolls everything back and calls that a success.
        await expect(
          database.write(function* () {
            yield* insert.run(4);
            try {
              yield* bad.all();
            } catch {
              return;
            }
          }),
        ).rejects.toThrow();
        expect(database.broken).toBeUndefined();
        await write(5);
        expect(await written()).toEqual(['a 5']);
        await expect(database.read(() => insert.run(6))).rejects.toThrow();
      });
    });
  });

  test('because of lost prepared statements are repeated on a new connection', async () => {
    await withPlace(async ({ url, written }) => {
      await withOpened(url, async ({ write, database }) => {
        await write(1);
        const count = () =>
          database.read(() => database.prepare<[], number>('SELECT count(*) FROM told').pluck().get());
        expect(await count()).toBe(1);
        await database.write(() => database.exec('DEALLOCATE ALL'));
        await database.read(() => database.exec('DEALLOCATE ALL'));
        await write(2);
        expect(await count()).toBe(2);
        expect(await written()).toEqual(['a 1', 'a 2']);
      });
    });
  });
});

describe('settings of the server', () => {
  test('do not affect kybatch: time limits, isolation, byte format', async () => {
    await withPlace(async ({ url, sql }) => {
      const name = new URL(url).pathname.slice(1);
      for (const setting of [
        "statement_timeout = '50ms'",
        "lock_timeout = '50ms'",
        "idle_in_transaction_session_timeout = '50ms'",
        "default_transaction_isolation = 'serializable'",
        "bytea_output = 'escape'",
        "client_encoding = 'LATIN1'",
        'extra_float_digits = -5',
      ])
        await sql(`SET statement_timeout = 0; ALTER DATABASE ${name} SET ${setting}`);
      const ledger = await openLedger({ dataDir: 'nowhere', ledgerUrl: url, now: Date.now(), access: 'write' });
      const place = await begin(ledger);
      const body = Buffer.from('{"name":"Zażółć gęślą jaźń\\\\ 東京"}');
      await buy(ledger, call(place), settlement({ body }));
      const answer = await ledger.calls.findAnswer(place.environmentId, call(place).requestKey, 0);
      expect(await ledger.calls.readBody(answer?.rawSha256 ?? '')).toEqual(body);
      await ledger.close();
      await withOpened(url, async ({ database }) => {
        const nap = () =>
          database.write(
            function* (): Script<string> {
              yield* database.prepare('SELECT pg_sleep(0.2)').get();
              return (yield* database.prepare<[], string>('SHOW transaction_isolation').pluck().get()) ?? '';
            },
            { environments: [place.environmentId] },
          );
        await withOpened(url, async ({ database: other }) => {
          const waits = other.write(() => other.prepare<[], string>('SHOW synchronous_commit').pluck().get(), {
            environments: [place.environmentId],
          });
          expect(await nap()).toBe('read committed');
          expect(await waits).toBe('on');
        });
      });
    });
  });
});

describe('a first connection that fails', () => {
  const open = async (ledgerUrl: string): Promise<KybatchError> => {
    const begun = Date.now();
    try {
      await (await openLedger({ dataDir: 'nowhere', ledgerUrl, now: 0, access: 'read' })).close();
    } catch (error) {
      if (!(error instanceof KybatchError)) throw error;
      expect(Date.now() - begun).toBeLessThan(8000);
      expect(`${error.message} ${error.hint} ${error.stack}`).not.toContain('geheim');
      return error;
    }
    throw new Error('it was opened');
  };

  test.each<[string, (url: URL) => void, number, string, RegExp]>([
    [
      'no listener',
      (url) => {
        url.port = '1';
      },
      6,
      'LEDGER_AWAY',
      / 127\.0\.0\.1:1 \(ECONNREFUSED\)$/,
    ],
    [
      'there is no such machine',
      (url) => {
        url.hostname = 'nowhere.invalid';
      },
      6,
      'LEDGER_AWAY',
      / nowhere\.invalid.* \((?:ENOTFOUND|EAI_AGAIN)\)$/,
    ],
    [
      'the password is wrong',
      (url) => {
        url.password = 'geheim';
      },
      2,
      'LEDGER_LOGIN_REFUSED',
      /\(28P01\)$/,
    ],
    [
      'there is no password',
      (url) => {
        url.password = '';
      },
      2,
      // If a message would have to be sent through the ledger, it is not even asked.
      'LEDGER_LOGIN_REFUSED',
      /^/,
    ],
    [
      'there is no such database',
      (url) => {
        url.pathname = '/nothing';
      },
      2,
      'LEDGER_DATABASE_MISSING',
      /\(3D000\)$/,
    ],
    [
      'it does not speak in secret',
      (url) => {
        url.search = '?sslmode=verify-full';
      },
      2,
      'LEDGER_TLS_FAILED',
      /: The server does not support SSL connections$/,
    ],
    [
      'the certificate of its authority is not there',
      (url) => {
        url.search = '?sslmode=verify-full&sslrootcert=/nowhere/root.crt';
      },
      2,
      'LEDGER_URL_INVALID',
      /: ENOENT: .*'\/nowhere\/root\.crt'$/,
    ],
  ])('%s', async (_, change, exit, code, named) => {
    await withPostgres(async (given) => {
      const url = new URL(given);
      change(url);
      const error = await open(url.href);
      expect(error).toMatchObject({ exit, code, message: expect.stringMatching(named) });
    });
  });

  test('the server accepts the connection and does not respond', async () => {
    const mute = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((listening) => mute.listen(0, '127.0.0.1', listening));
    const { port } = mute.address() as { port: number };
    const error = await open(`postgres://me:geheim@127.0.0.1:${port}/db`);
    expect(error).toMatchObject({ exit: 6, code: 'LEDGER_AWAY' });
    mute.close();
  });
});

describe('backends killed and connections cut at any moment', () => {
  const WRITES = 150;

  interface Blow {
    readonly after: number;
    readonly whose: 0 | 1;
    readonly how: Fate | 'kill';
  }

  const blow = fc.record<Blow>({
    after: fc.nat(WRITES * 2 - 1),
    whose: fc.constantFrom(0, 1),
    how: fc.constantFrom<Blow['how']>('kill', 'kill', 'lost', 'done'),
  });

  test('two writers, 300 writes: each confirmed write is there once, and none twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(blow, { minLength: 5, maxLength: 25 }), async (blows) => {
        await withPlace(async ({ url, kill, written }) => {
          await withWire(url, (one) =>
            withWire(url, async (two) => {
              const wires = [one, two] as const;
              const told: string[] = [];
              const strike = async ({ whose, how }: Blow) => {
                if (how === 'kill') await kill('kybatch writer');
                else void wires[whose].meet(isCommit, how);
              };
              const work = (writer: 'a' | 'b', wire: (typeof wires)[number]) =>
                withOpened(
                  wire.url,
                  async ({ write }) => {
                    const lane = async (lane: number) => {
                      for (let n = lane; n < WRITES; n += 5) {
                        await write(n);
                        told.push(`${writer} ${n}`);
                        const now = told.length;
                        await Promise.all(blows.filter(({ after }) => after === now).map(strike));
                      }
                    };
                    await Promise.all(upTo(5).map(lane));
                  },
                  { writer },
                );
              await Promise.all([work('a', one), work('b', two)]);
              expect([...(await written())].sort()).toEqual([...told].sort());
              expect(new Set(told).size).toBe(WRITES * 2);
            }),
          );
        });
      }),
      { seed: 14, numRuns: 4, endOnFailure: true },
    );
  });
});
