import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LedgerError, UsageError } from '../../src/domain/errors.js';
import { LockedError } from '../../src/ledger/locked-error.js';
import { connect } from '../../src/ledger/sqlite/driver.js';
import { openExistingLedger, openLedger, openLedgerForReading } from '../../src/ledger/sqlite/ledger.js';
import { ledgerPath, openForWriting } from '../../src/ledger/sqlite/open.js';
import { Writer } from '../../src/ledger/sqlite/writer.js';
import { checkpoint, intent, KEY, look, NOW, settlement, withDataDir, withLedger, withRows } from './support.js';

describe('group commit', () => {
  test('nobody is told before the commit, and the writes of one turn share it', async () => {
    await withLedger(async (ledger, dataDir) => {
      await ledger.flush();
      const told: string[] = [];
      const writes = ['a', 'b', 'c'].map((name) => ledger.environment('v1', name).then(() => told.push(name)));
      await Promise.resolve();
      expect(told).toEqual([]);
      expect(look(dataDir, 'SELECT * FROM environments')).toEqual([]);
      await writes[0];
      expect(look(dataDir, 'SELECT * FROM environments')).toHaveLength(3);
      await Promise.all(writes);
    });
  });

  test('reads see every write that was asked for before them', async () => {
    await withLedger(async (ledger) => {
      const run = await withRows(ledger, 1);
      const written = ledger.checkpoint(run, 1, checkpoint({ outcome: 'complete' }));
      expect((await ledger.row(run, 1))?.outcome).toBe('complete');
      await written;
    });
  });

  test('one failed write fails its whole commit, and the next one is whole again', async () => {
    await withDataDir(async (dataDir) => {
      const database = openForWriting(dataDir, NOW);
      const writer = new Writer(database);
      const insert = database.prepare('INSERT INTO environments (api, name) VALUES (?, ?)');
      const write = (name: string | null) => writer.write(() => void insert.run('v1', name));
      const ends = await Promise.allSettled([write('a'), write(null), write('b')]);
      expect(ends.map((end) => end.status)).toEqual(['rejected', 'rejected', 'fulfilled']);
      expect(ends[0]?.status === 'rejected' && ends[0].reason).toBeInstanceOf(LedgerError);
      expect(look(dataDir, 'SELECT name FROM environments')).toEqual([{ name: 'b' }]);
      database.close();
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

  test('and all that lies beside it is the owner’s alone, whatever the umask', async () => {
    await withLedger(async (ledger, dataDir) => {
      await ledger.environment('v1', 'x');
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
      const files = readdirSync(dataDir);
      expect(files).toEqual(expect.arrayContaining(['kybatch.db', 'kybatch.db-wal', 'kybatch.lock']));
      for (const file of files) expect([file, statSync(join(dataDir, file)).mode & 0o777]).toEqual([file, 0o600]);
    });
  });

  test('is not made by who only wants to go on', async () => {
    await withDataDir(async (dataDir) => {
      expect(() => openExistingLedger(dataDir, NOW)).toThrow('there is no ledger');
      expect(existsSync(dataDir)).toBe(false);
    });
  });

  test('a ledger of the schema before keys were bytes keeps its calls, and what it owns', async () => {
    await withDataDir(async (dataDir) => {
      const body = Buffer.from('{"id":"7"}');
      const sha256 = hash('sha256', body);
      mkdirSync(dataDir);
      const old = connect(ledgerPath(dataDir));
      for (const name of ['001-foundation.sql', '002-questions.sql'])
        old.exec(readFileSync(resolve('src/ledger/sqlite/migrations', name), 'utf8'));
      old.exec(`CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;
        INSERT INTO schema_migrations VALUES (1, '001-foundation.sql', 1), (2, '002-questions.sql', 1);
        INSERT INTO environments VALUES (1, 'v1', 'live');
        INSERT INTO calls (id, token, environment_id, operation, request_key, attempt, started_at, settled_at, charge, units_charged, raw_sha256)
          VALUES (5, 't', 1, 'fullKyb', '${KEY}', 1, ${NOW}, ${NOW}, 'charged', 1, '${sha256}'),
            (6, 't', 1, 'liteKyb', '${'cd'.repeat(32)}', 1, ${NOW}, ${NOW}, 'unknown', NULL, NULL);
        INSERT INTO bodies VALUES ('${sha256}', 'identity', ${body.length}, x'${body.toString('hex')}', ${NOW});
        INSERT INTO answers VALUES (1, '${KEY}', 'fullKyb', '{"id":"7"}', '${sha256}', 5, ${NOW});`);
      old.close();
      expect(() => openLedgerForReading(dataDir)).toThrow('written by an older kybatch');
      const ledger = openExistingLedger(dataDir, NOW);
      expect(await ledger.findAnswer(1, KEY, NOW)).toEqual({ callId: 5, rawSha256: sha256, fetchedAt: NOW });
      expect(await ledger.readBody(sha256)).toEqual(body);
      expect(await ledger.inDoubt(1, 'cd'.repeat(32))).toEqual({
        lost: 1,
        answered: 0,
        lastStartedAt: NOW,
        lastEndedAt: NOW,
      });
      await ledger.close();
      expect(look(dataDir, 'SELECT id, params FROM calls')).toEqual([
        { id: 5, params: '{"id":"7"}' },
        { id: 6, params: null },
      ]);
      expect(look(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    });
  });

  test('migrations are applied once', async () => {
    await withDataDir(async (dataDir) => {
      await openLedger(dataDir, NOW).close();
      await openLedger(dataDir, NOW + 1).close();
      const applied = look<{ version: number; applied_at: number }>(dataDir, 'SELECT * FROM schema_migrations');
      expect(applied.length).toBeGreaterThan(0);
      expect(new Set(applied.map(({ version }) => version)).size).toBe(applied.length);
      for (const { applied_at } of applied) expect(applied_at).toBe(NOW);
    });
  });

  test('of a newer kybatch is refused, for writing and for reading, and left unlocked', async () => {
    await withDataDir(async (dataDir) => {
      await openLedger(dataDir, NOW).close();
      const database = connect(ledgerPath(dataDir));
      database.exec("INSERT INTO schema_migrations VALUES (999, 'from the future', 0)");
      database.close();
      expect(() => openLedger(dataDir, NOW)).toThrow(UsageError);
      expect(() => openLedger(dataDir, NOW)).toThrow(/newer kybatch/);
      expect(() => openLedgerForReading(dataDir)).toThrow(/newer kybatch/);
    });
  });

  test('that is not there, or of an older kybatch, is refused for reading in words', async () => {
    await withDataDir(async (dataDir) => {
      expect(() => openLedgerForReading(dataDir)).toThrow(/no ledger/);
      await openLedger(dataDir, NOW).close();
      const database = connect(ledgerPath(dataDir));
      database.exec('DELETE FROM schema_migrations WHERE version > 1');
      database.close();
      expect(() => openLedgerForReading(dataDir)).toThrow(/older kybatch/);
    });
  });

  test.skipIf(process.getuid?.() === 0)('in a folder that cannot be written is a usage error', async () => {
    await withDataDir(async (dataDir) => {
      mkdirSync(dataDir);
      chmodSync(dataDir, 0o500);
      expect(() => openLedger(dataDir, NOW)).toThrow(UsageError);
      chmodSync(dataDir, 0o700);
    });
  });
});

describe('the lock', () => {
  test('is held by one, seen by the second, and given back on closing', async () => {
    await withDataDir(async (dataDir) => {
      const ledger = openLedger(dataDir, NOW);
      expect(() => openLedger(dataDir, NOW)).toThrow(LockedError);
      await openLedgerForReading(dataDir).close();
      await ledger.close();
      await openLedger(dataDir, NOW).close();
    });
  });

  test('goes with the process that held it, however that dies', async () => {
    await withDataDir(async (dataDir) => {
      const lock = resolve(import.meta.dirname, '../../dist/ledger/sqlite/lock.js');
      const script = `import(${JSON.stringify(lock)}).then((m) => { m.acquireLock(${JSON.stringify(dataDir)}); console.log('held'); setInterval(() => {}, 1000); })`;
      const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      await new Promise((held) => child.stdout.once('data', held));
      expect(() => openLedger(dataDir, NOW)).toThrow(LockedError);
      child.kill('SIGKILL');
      await new Promise((closed) => child.once('close', closed));
      await openLedger(dataDir, NOW).close();
    });
  });
});

describe('calls', () => {
  test('a settlement is fenced: another token, or a second time, changes nothing', async () => {
    await withLedger(async (ledger, dataDir) => {
      const environment = await ledger.environment('v1', 'x');
      const ours = await ledger.intend(intent(environment));
      const stranger = { ...ours, token: 'stranger' };
      expect(await ledger.settle(stranger, settlement({ body: Buffer.from('theirs') }))).toBe(false);
      expect(look(dataDir, 'SELECT * FROM bodies')).toEqual([]);
      expect(await ledger.settle(ours, settlement({ requestId: 'one' }))).toBe(true);
      expect(await ledger.settle(ours, settlement({ requestId: 'two' }))).toBe(false);
      expect(look(dataDir, 'SELECT request_id FROM calls')).toEqual([{ request_id: 'one' }]);
    });
  });

  test('V1-5 intents of a process that died become unknown; its own stay open; it can no longer settle them', async () => {
    await withDataDir(async (dataDir) => {
      const first = openLedger(dataDir, NOW);
      const environment = await first.environment('v1', 'x');
      const lost = await first.intend(intent(environment));
      expect(await first.flagLostIntents(NOW)).toBe(0);
      await first.close();
      const second = openLedger(dataDir, NOW);
      expect(await second.flagLostIntents(NOW)).toBe(1);
      expect(await second.settle(lost, settlement())).toBe(false);
      expect(await second.inDoubt(environment, KEY)).toEqual({
        lost: 1,
        answered: 0,
        lastStartedAt: NOW,
        lastEndedAt: NOW,
      });
      expect(look(dataDir, 'SELECT charge, error_code FROM calls')).toEqual([
        { charge: 'unknown', error_code: 'PROCESS_DIED' },
      ]);
      await second.close();
    });
  });

  test('what was lost, or failed, before an answer is in doubt no longer, and still unknown', async () => {
    await withLedger(async (ledger) => {
      const environment = await ledger.environment('v1', 'x');
      const failed = { charge: 'unknown', unitsCharged: null, body: null, answer: null } as const;
      for (const how of [
        { httpStatus: null, settledAt: NOW + 5 },
        { httpStatus: 503, settledAt: NOW + 7 },
      ])
        await ledger.settle(await ledger.intend(intent(environment)), settlement({ ...failed, ...how }));
      expect(await ledger.inDoubt(environment, KEY)).toEqual({
        lost: 1,
        answered: 1,
        lastStartedAt: NOW,
        lastEndedAt: NOW + 7,
      });
      await ledger.settle(await ledger.intend(intent(environment)), settlement());
      expect(await ledger.inDoubt(environment, KEY)).toMatchObject({ lost: 0, answered: 0 });
      expect(await ledger.unknownCharges(environment)).toHaveLength(2);
    });
  });

  test('V1-5 a budget counts a lost v1 call as charged; reconciling settles it either way', async () => {
    await withLedger(async (ledger) => {
      const v1 = await ledger.environment('v1', 'x');
      const v2 = await ledger.environment('v2', 'x');
      const run = await withRows(ledger, 1);
      const lost = { charge: 'unknown', unitsCharged: null, body: null, answer: null } as const;
      const ids: number[] = [];
      for (const environment of [v1, v1, v2]) {
        const call = await ledger.intend(intent(environment, { runId: run, row: 1 }));
        await ledger.settle(call, settlement(lost));
        ids.push(call.id);
      }
      expect(await ledger.unitsOfRun(run)).toBe(2);
      await ledger.reconcile(v1, ids.slice(0, 1), 'charged', 'because');
      await ledger.reconcile(v1, ids.slice(1, 2), 'free', 'because');
      await ledger.reconcile(v1, ids.slice(0, 1), 'free', 'twice');
      expect(await ledger.unitsOfRun(run)).toBe(1);
      expect((await ledger.row(run, 1))?.unitsCharged).toBe(1);
    });
  });

  test('V1-29 bodies come back byte for byte, and the same bytes are kept once', async () => {
    await withLedger(async (ledger, dataDir) => {
      const environment = await ledger.environment('v1', 'x');
      const seen = new Set<string>();
      const body = fc.oneof(
        fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
        fc.integer({ min: 0, max: 400 }).map((count) => Buffer.from('{"a": 1.10, "ü": null}'.repeat(count))),
      );
      await fc.assert(
        fc.asyncProperty(body, fc.nat(5), async (bytes, key) => {
          const requestKey = hash('sha256', String(key));
          await ledger.settle(await ledger.intend(intent(environment, { requestKey })), settlement({ body: bytes }));
          const answer = await ledger.findAnswer(environment, requestKey, 0);
          expect((await ledger.readBody(answer?.rawSha256 ?? ''))?.equals(bytes)).toBe(true);
          seen.add(answer?.rawSha256 ?? '');
        }),
        { numRuns: 60 },
      );
      expect(look(dataDir, 'SELECT 1 FROM bodies')).toHaveLength(seen.size);
    });
  });

  test('an answer is as fresh as its fetching, to the millisecond', async () => {
    await withLedger(async (ledger) => {
      const environment = await ledger.environment('v1', 'x');
      await ledger.settle(await ledger.intend(intent(environment)), settlement());
      expect(await ledger.findAnswer(environment, KEY, NOW)).toBeDefined();
      expect(await ledger.findAnswer(environment, KEY, NOW + 1)).toBeUndefined();
      expect(await ledger.findAnswer(environment + 1, KEY, 0)).toBeUndefined();
    });
  });
});

describe('rows', () => {
  test('V1-17 IDs are text: leading zeros and more digits than a double holds survive', async () => {
    await withLedger(async (ledger) => {
      const run = await withRows(ledger, 1);
      const ids = {
        v1CompanyId: '9007199254740993123',
        v2CompanyId: '007',
        creditSourceId: '1e5',
        creditReportId: '0x10',
      };
      await ledger.checkpoint(run, 1, checkpoint(ids));
      expect(await ledger.row(run, 1)).toMatchObject(ids);
    });
  });

  test('releasing touches only what it names: parked rows, or failed ones with their failed stages', async () => {
    await withLedger(async (ledger) => {
      const run = await withRows(ledger, 5);
      const other = await withRows(ledger, 1, 'other');
      const failed = checkpoint({
        outcome: 'failed',
        errorCode: 'X',
        stages: { record: 'done', financials: 'failed' },
      });
      await ledger.checkpoint(run, 1, failed);
      await ledger.checkpoint(other, 1, failed);
      await ledger.checkpoint(run, 2, checkpoint({ hold: 'parked', holdReason: 'budget', nextAt: 5 }));
      await ledger.checkpoint(run, 3, checkpoint({ hold: 'waiting', nextAt: 7 }));
      await ledger.checkpoint(run, 4, checkpoint({ outcome: 'needs_review' }));
      expect(await ledger.releaseParked(run)).toBe(1);
      expect((await ledger.pendingRows(run, 0, 10)).map(({ row }) => row)).toEqual([2, 5]);
      expect(await ledger.releaseFailed(run)).toBe(1);
      expect(await ledger.row(run, 1)).toMatchObject({
        outcome: 'pending',
        errorCode: null,
        stages: { record: 'done', financials: 'pending' },
      });
      expect(await ledger.row(run, 3)).toMatchObject({ hold: 'waiting', nextAt: 7 });
      expect(await ledger.row(run, 4)).toMatchObject({ outcome: 'needs_review' });
      expect(await ledger.row(other, 1)).toMatchObject({ outcome: 'failed' });
    });
  });

  test('those that wait are due in the order of their times', async () => {
    await withLedger(async (ledger) => {
      const run = await withRows(ledger, 3);
      for (const [row, nextAt] of [
        [1, 30],
        [2, 10],
        [3, 20],
      ] as const)
        await ledger.checkpoint(run, row, checkpoint({ hold: 'waiting', nextAt }));
      expect((await ledger.dueRows(run, 20, 9)).map(({ row }) => row)).toEqual([2, 3]);
      expect(await ledger.nextDue(run)).toBe(10);
      expect(await ledger.nextDue(run, 20)).toBe(30);
      expect(await ledger.nextDue(run, 30)).toBeUndefined();
    });
  });

  test('taken in a second time stay as they are, and outcomes add up to the rows', async () => {
    await withLedger(async (ledger) => {
      const run = await withRows(ledger, 3);
      await ledger.checkpoint(run, 2, checkpoint({ outcome: 'complete' }));
      await ledger.addRows(run, [{ row: 2, line: 3, values: [], fields: {}, problem: { code: 'X', message: '' } }]);
      const { byOutcome } = await ledger.progress(run);
      expect(byOutcome).toMatchObject({ pending: 2, complete: 1, invalid: 0 });
    });
  });
});
