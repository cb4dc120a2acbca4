import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/domain/errors.js';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import { look, openAt, withDataDir, writeOldLedger } from './sqlite-support.js';
import { doubtful, KEY, keyOf, NOW } from './support.js';

test('the calls and stored answers of a released ledger are kept', async () => {
  await withDataDir(async (dataDir) => {
    const body = Buffer.from('{"id":"7"}');
    const sha256 = hash('sha256', body);
    writeOldLedger(
      dataDir,
      `INSERT INTO environments VALUES (1, 'v1', 'live');
      INSERT INTO calls (id, token, environment_id, operation, request_key, attempt, started_at, settled_at, charge, units_charged, raw_sha256, params)
        VALUES (5, 't', 1, 'fullKyb', x'${KEY}', 1, ${NOW}, ${NOW}, 'charged', 1, x'${sha256}', '{"id":"7"}'),
          (6, 't', 1, 'liteKyb', x'${keyOf('lost')}', 1, ${NOW}, ${NOW}, 'unknown', NULL, NULL, NULL);
      INSERT INTO bodies VALUES (x'${sha256}', 'identity', ${body.length}, x'${body.toString('hex')}', ${NOW});
      INSERT INTO answers VALUES (1, x'${KEY}', 5);`,
    );
    const ledger = await openAt(dataDir, 'existing');
    expect(await ledger.calls.findAnswer(1, KEY, NOW)).toEqual({ callId: 5, rawSha256: sha256, fetchedAt: NOW });
    expect(await ledger.calls.readBody(sha256)).toEqual(body);
    expect(await ledger.calls.unknownCharges(doubtful(1, keyOf('lost')))).toMatchObject({ lost: 1, lastEndedAt: NOW });
    await ledger.close();
    expect(look(dataDir, 'SELECT id, params, subject_space, subject_id FROM calls')).toEqual([
      { id: 5, params: '{"id":"7"}', subject_space: 'v1', subject_id: '7' },
      { id: 6, params: null, subject_space: null, subject_id: null },
    ]);
    expect(look(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});

test('a migrated ledger has the tables and indexes of a new one', async () => {
  const shape = (dataDir: string) =>
    look(
      dataDir,
      `SELECT m.type, m.name, c.name AS column, c.type AS kind, "notnull", dflt_value, pk FROM sqlite_master AS m
       LEFT JOIN pragma_table_xinfo(m.name) AS c ON m.type = 'table' WHERE m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid`,
    );
  await withDataDir(async (migrated) => {
    writeOldLedger(migrated, '');
    await (await openAt(migrated, 'existing')).close();
    await withDataDir(async (made) => {
      await (await openAt(made)).close();
      expect(shape(migrated)).toEqual(shape(made));
    });
  });
});

test.each([1, 2, 4, 27])(
  'a ledger of schema %i, which was never released, is refused and not changed',
  async (schema) => {
    await withDataDir(async (dataDir) => {
      writeOldLedger(dataDir, `UPDATE schema_migrations SET version = ${schema}`);
      for (const access of ['existing', 'read'] as const)
        await expect(openAt(dataDir, access)).rejects.toMatchObject({ code: 'LEDGER_TOO_OLD' });
      expect(look(dataDir, 'SELECT version FROM schema_migrations')).toEqual([{ version: schema }]);
    });
  },
);

test('migrations are applied once', async () => {
  await withDataDir(async (dataDir) => {
    await (await openAt(dataDir)).close();
    await (await openAt(dataDir, 'write', NOW + 1)).close();
    const applied = look<{ version: number; applied_at: number }>(dataDir, 'SELECT * FROM schema_migrations');
    expect(applied.length).toBeGreaterThan(0);
    expect(new Set(applied.map(({ version }) => version)).size).toBe(applied.length);
    for (const { applied_at } of applied) expect(applied_at).toBe(NOW);
  });
});

test('a ledger of a newer kybatch is refused, for writing and for reading, and left unlocked', async () => {
  await withDataDir(async (dataDir) => {
    await (await openAt(dataDir)).close();
    const database = connect(ledgerPath(dataDir));
    database.exec("INSERT INTO schema_migrations VALUES (999, 'from the future', 0)");
    database.close();
    await expect(openAt(dataDir)).rejects.toThrow(UsageError);
    await expect(openAt(dataDir)).rejects.toMatchObject({ code: 'LEDGER_TOO_NEW' });
    await expect(openAt(dataDir, 'read')).rejects.toMatchObject({ code: 'LEDGER_TOO_NEW' });
  });
});

test('reading a missing ledger is refused with a readable error', async () => {
  await withDataDir(async (dataDir) => {
    await expect(openAt(dataDir, 'read')).rejects.toMatchObject({ code: 'NO_LEDGER_YET' });
  });
});
