import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LedgerError, UsageError } from '../../src/domain/errors.js';
import type { Database } from '../../src/ledger/db/database.js';
import { LockedError } from '../../src/ledger/db/sqlite/connection.js';
import { sqliteDatabase, Writer } from '../../src/ledger/db/sqlite/database.js';
import { openForWriting } from '../../src/ledger/db/sqlite/open.js';
import { describeLedger } from './contract.js';
import { look, openAt, openSqlite, withDataDir, withLedger } from './sqlite-support.js';
import { begin, buy, call, flush, intend, keyOf, NOW, openRun, rowSettlement, settlement } from './support.js';

describeLedger('a ledger in SQLite', openSqlite);

/** The base of the stores, without them. */
const withDatabase = (use: (database: Database, dataDir: string) => Promise<void>): Promise<void> =>
  withDataDir(async (dataDir) => {
    const database = sqliteDatabase(openForWriting(dataDir, NOW), { dataDir, onClose: () => {} });
    try {
      await use(database, dataDir);
    } finally {
      await database.close();
    }
  });

describe('group commit', () => {
  test('writes resolve after the commit, and the writes of one turn share it', async () => {
    await withLedger(async ({ calls, reading }, dataDir) => {
      await flush({ reading });
      const told: string[] = [];
      const writes = ['a', 'b', 'c'].map((name) => calls.environment('v1', name).then(() => told.push(name)));
      await Promise.resolve();
      expect(told).toEqual([]);
      expect(look(dataDir, 'SELECT * FROM environments')).toEqual([]);
      await writes[0];
      expect(look(dataDir, 'SELECT * FROM environments')).toHaveLength(3);
      await Promise.all(writes);
    });
  });

  test('reads see confirmed writes, and nothing uncommitted', async () => {
    await withLedger(async (ledger) => {
      const run = await openRun(ledger, 1);
      const written = ledger.runs.settleRow(run, 1, rowSettlement({ outcome: 'complete' }));
      expect((await ledger.runs.row(run, 1))?.outcome).toBe('pending');
      await written;
      expect((await ledger.runs.row(run, 1))?.outcome).toBe('complete');
    });
  });

  test('writes resolve after the log is synced, and later writes wait for the next commit', async () => {
    await withDataDir(async (dataDir) => {
      const connection = openForWriting(dataDir, NOW);
      const syncs: (() => void)[] = [];
      const writer = new Writer(connection, () => new Promise((synced) => syncs.push(synced)));
      const events: string[] = [];
      const first = writer.write(() => events.push('write 1')).then(() => events.push('told 1'));
      await new Promise(setImmediate);
      const second = writer.write(() => events.push('write 2')).then(() => events.push('told 2'));
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      expect(events).toEqual(['write 1']);
      syncs[0]?.();
      await first;
      await new Promise(setImmediate);
      expect([...events, syncs.length]).toEqual(['write 1', 'told 1', 'write 2', 2]);
      const closed = writer.close();
      syncs[1]?.();
      await second;
      await new Promise(setImmediate);
      syncs[2]?.();
      await closed;
      expect(events).toEqual(['write 1', 'told 1', 'write 2', 'told 2']);
      connection.close();
    });
  });

  test('a log that cannot be synced breaks the ledger: no write is confirmed', async () => {
    await withDataDir(async (dataDir) => {
      const connection = openForWriting(dataDir, NOW);
      const full = () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
      const writer = new Writer(connection, full);
      await expect(writer.write(() => 1)).rejects.toThrow(LedgerError);
      expect(writer.broken).toBeInstanceOf(LedgerError);
      await writer.close();
      connection.close();
    });
  });

  test('a write sees the earlier writes of its turn', async () => {
    await withDatabase(async (database) => {
      const insert = database.prepare('INSERT INTO environments (api, name) VALUES (?, ?)');
      const count = database.prepare<[], number>('SELECT count(*) FROM environments').pluck();
      const first = database.write(() => insert.run('v1', 'a'));
      const seen = database.write(() => count.get());
      await first;
      expect(await seen).toBe(1);
    });
  });

  test('one failed write fails its whole commit, and the next one works again', async () => {
    await withDatabase(async (database, dataDir) => {
      const insert = database.prepare('INSERT INTO environments (api, name) VALUES (?, ?)');
      const write = (name: string | null) => database.write(() => insert.run('v1', name));
      const ends = await Promise.allSettled([write('a'), write(null), write('c')]);
      expect(ends.map((end) => end.status)).toEqual(['rejected', 'rejected', 'rejected']);
      expect(ends[0]?.status === 'rejected' && ends[0].reason).toBeInstanceOf(LedgerError);
      await write('b');
      expect(look(dataDir, 'SELECT name FROM environments')).toEqual([{ name: 'b' }]);
    });
  });
});

describe('the file', () => {
  test('is written with synchronous=FULL in WAL mode', async () => {
    await withDataDir(async (dataDir) => {
      const database = openForWriting(dataDir, NOW);
      expect(database.pragma('synchronous', { simple: true })).toBe(2);
      expect(database.pragma('journal_mode', { simple: true })).toBe('wal');
      database.close();
    });
  });

  test('and all files beside it are readable only by the owner, with any umask', async () => {
    await withLedger(async ({ calls }, dataDir) => {
      await calls.environment('v1', 'x');
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
      const files = readdirSync(dataDir);
      expect(files).toEqual(expect.arrayContaining(['kybatch.db', 'kybatch.db-wal', 'kybatch.lock']));
      for (const file of files) expect([file, statSync(join(dataDir, file)).mode & 0o777]).toEqual([file, 0o600]);
    });
  });

  test.each([
    ['with only files of kybatch becomes private to its owner', 0o777, [], 0o700],
    ['with a foreign file stays unchanged', 0o777, ['theirs.txt'], 0o777],
    ['that is shared with a sticky bit stays as it is', 0o1777, [], 0o1777],
    ['that a group may read stays as it is', 0o750, [], 0o750],
  ])('a data directory %s', async (_, mode, files, after) => {
    await withDataDir(async (folder) => {
      const dataDir = join(folder, 'data');
      mkdirSync(dataDir, { recursive: true });
      chmodSync(dataDir, mode);
      for (const file of files) writeFileSync(join(dataDir, file), '');
      await (await openAt(dataDir)).close();
      expect(statSync(dataDir).mode & 0o7777).toBe(after);
    });
  });

  test('is not created by a command that only continues', async () => {
    await withDataDir(async (dataDir) => {
      await expect(openAt(dataDir, 'existing')).rejects.toMatchObject({ code: 'NO_LEDGER_YET' });
      expect(existsSync(dataDir)).toBe(false);
    });
  });

  test('stores equal bytes once', async () => {
    await withLedger(async (ledger, dataDir) => {
      const place = await begin(ledger);
      for (const [request, body] of [
        ['1', 'same'],
        ['2', 'same'],
        ['3', 'other'],
      ] as const)
        await buy(ledger, call(place, { requestKey: keyOf(request) }), settlement({ body: Buffer.from(body) }));
      expect(look(dataDir, 'SELECT 1 FROM bodies')).toHaveLength(2);
    });
  });

  test.skipIf(process.getuid?.() === 0)('in a folder that cannot be written is a usage error', async () => {
    await withDataDir(async (dataDir) => {
      mkdirSync(dataDir);
      chmodSync(dataDir, 0o500);
      await expect(openAt(dataDir)).rejects.toThrow(UsageError);
      chmodSync(dataDir, 0o700);
    });
  });
});

describe('the lock', () => {
  test('is held by one, seen by the second, and released on closing', async () => {
    await withDataDir(async (dataDir) => {
      const ledger = await openAt(dataDir);
      await expect(openAt(dataDir)).rejects.toThrow(LockedError);
      await (await openAt(dataDir, 'read')).close();
      await ledger.close();
      await (await openAt(dataDir)).close();
    });
  });

  test('survives garbage collection, and ends with its process after any death', async () => {
    await withDataDir(async (dataDir) => {
      const lock = resolve(import.meta.dirname, '../../build/ledger/db/sqlite/connection.js');
      const script = `import(${JSON.stringify(lock)}).then((m) => { m.acquireLock(${JSON.stringify(dataDir)}); setImmediate(() => { gc(); setImmediate(() => console.log('held')); }); setInterval(() => {}, 1000); })`;
      const child = spawn(process.execPath, ['--expose-gc', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      const closed = new Promise((done) => child.once('close', done));
      try {
        await new Promise((held) => child.stdout.once('data', held));
        await expect(openAt(dataDir)).rejects.toThrow(LockedError);
      } finally {
        child.kill('SIGKILL');
        await closed;
      }
      await (await openAt(dataDir)).close();
    });
  });

  test('proves that its holder is alone: every earlier attempt is over, with any lease', async () => {
    await withDataDir(async (dataDir) => {
      const first = await openAt(dataDir);
      const place = await begin(first);
      await intend(first, call(place));
      expect(await first.calls.markCallsOfDeadAttempts(NOW)).toBe(0);
      await first.close();
      const second = await openAt(dataDir);
      expect(await second.calls.renew(place.attemptId, NOW + 60_000)).toBe(false);
      expect(await second.calls.markCallsOfDeadAttempts(NOW)).toBe(1);
      expect(look(dataDir, 'SELECT charge, error_code FROM calls')).toEqual([
        { charge: 'unknown', error_code: 'PROCESS_DIED' },
      ]);
      await second.close();
    });
  });
});
