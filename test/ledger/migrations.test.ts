import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/domain/errors.js';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import { look, openAt, withDataDir, writeOldLedger } from './sqlite-support.js';
import { doubtful, KEY, keyOf, NOW } from './support.js';

test('a ledger from before binary keys keeps its calls and stored answers', async () => {
  await withDataDir(async (dataDir) => {
    const body = Buffer.from('{"id":"7"}');
    const sha256 = hash('sha256', body);
    writeOldLedger(
      dataDir,
      2,
      `INSERT INTO environments VALUES (1, 'v1', 'live');
      INSERT INTO calls (id, token, environment_id, operation, request_key, attempt, started_at, settled_at, charge, units_charged, raw_sha256)
        VALUES (5, 't', 1, 'fullKyb', '${KEY}', 1, ${NOW}, ${NOW}, 'charged', 1, '${sha256}'),
          (6, 't', 1, 'liteKyb', '${keyOf('lost')}', 1, ${NOW}, ${NOW}, 'unknown', NULL, NULL);
      INSERT INTO bodies VALUES ('${sha256}', 'identity', ${body.length}, x'${body.toString('hex')}', ${NOW});
      INSERT INTO answers VALUES (1, '${KEY}', 'fullKyb', '{"id":"7"}', '${sha256}', 5, ${NOW});`,
    );
    const ledger = await openAt(dataDir, 'existing');
    expect(await ledger.calls.findAnswer(1, KEY, NOW)).toEqual({ callId: 5, rawSha256: sha256, fetchedAt: NOW });
    expect(await ledger.calls.readBody(sha256)).toEqual(body);
    expect(await ledger.calls.unknownCharges(doubtful(1, keyOf('lost')))).toMatchObject({
      lost: 1,
      answered: 0,
      lastEndedAt: NOW,
    });
    await ledger.close();
    expect(look(dataDir, 'SELECT id, params, subject_space, subject_id FROM calls')).toEqual([
      { id: 5, params: '{"id":"7"}', subject_space: 'v1', subject_id: '7' },
      { id: 6, params: null, subject_space: null, subject_id: null },
    ]);
    expect(look(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });
});

test('members of a ledger from before dated matches keep their changes', async () => {
  await withDataDir(async (dataDir) => {
    writeOldLedger(
      dataDir,
      16,
      `INSERT INTO environments VALUES (1, 'v1', 'live');
      INSERT INTO portfolios (id, name, providers, created_at, input_path, columns, seen_at) VALUES (1, 'p', 'x', 10, '/in', '[]', 10);
      INSERT INTO runs (id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, created_at, portfolio_id)
        VALUES ('r', '/in', 'f', 'n', 'p', '{}', '[]', 'finished', 10, 1);
      INSERT INTO run_environments VALUES ('r', 'v1', 1);
      INSERT INTO rows (run_id, row, line, input_values, fields, outcome, member_id)
        VALUES ('r', 1, 2, '[]', '{"id":"a"}', 'complete', 1), ('r', 2, 3, '[]', '{"id":"b"}', 'complete', 2);
      INSERT INTO row_ids (run_id, row, space, id) VALUES ('r', 1, 'v1', '7'), ('r', 2, 'v1', '7');
      INSERT INTO members (id, portfolio_id, known_by, says, cells, row, line, first_seen, run_id, run_row, says_since)
        VALUES (1, 1, 'a', x'', x'', 1, 2, 10, 'r', 1, NULL), (2, 1, 'b', x'', x'', 2, 3, 10, 'r', 2, 20);
      INSERT INTO changes (call_id, environment_id, subject_space, subject_id, changed_at, noted_at, old_sha256, new_sha256, items)
        VALUES (1, 1, 'v1', '7', 10, 11, x'', x'', '[]'), (2, 1, 'v1', '7', 20, 21, x'', x'', '[]');`,
    );
    const ledger = await openAt(dataDir, 'existing');
    const { changes } = await ledger.changes.list({ limit: 10 });
    expect(changes.map(({ changedAt, inputId, ids }) => [changedAt, inputId, ids.v1])).toEqual([
      [10, 'a', '7'],
      [20, 'a', '7'],
      [20, 'b', '7'],
    ]);
    await ledger.close();
  });
});

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
