import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { long } from '../helpers/long.js';
import { numbered, send, v1, v2, withSandbox } from './support.js';

const search = { location: 'GB', name: 'limited' };

long('the journal keeps units, reports, reveals and watches from one process to the next, and no key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const journal = join(folder, 'deep', 'journal.ndjson');
  const clock = new ManualClock('2026-03-01T10:00:00Z');
  const options = {
    journal,
    clock,
    plan: 'free',
    reportDelayMs: 60_000,
    v2Limits: { kyb_search: { daily: 1 } },
  } as const;
  try {
    let requestId: unknown;
    await withSandbox(options, async (sandbox) => {
      const { v2Id, sourceId } = numbered(sandbox);
      await v1(sandbox, '/kyb/search', { body: search });
      sandbox.script('searchKyb', 'lostAnswer');
      await v1(sandbox, '/kyb/search', { body: search }).catch(() => undefined);
      await v2(sandbox, '/kyb/search', { body: search });
      requestId = (await v2(sandbox, '/credit-report', { body: { source_id: sourceId, country: 'GB' } })).body.id;
      await v2(sandbox, `/companies/${v2Id}/watch`, { method: 'POST' });
      await sandbox.changeCompany(v2Id, 'name', 'Changed');
      expect(sandbox.dashboardUnlock()).toBe(true);
    });
    for (const line of [
      'null',
      '[]',
      '5',
      '{"type":"charge"}',
      '{"type":"report","report":null}',
      '{"type":"charge","cha',
    ])
      appendFileSync(journal, `${line}\n`);
    clock.advance(60_000);
    await withSandbox(options, async (sandbox) => {
      const { v2Id } = numbered(sandbox);
      expect((await v1(sandbox, '/kyb/search', { body: search })).body.error?.code).toBe('ALLOWANCE_EXHAUSTED');
      expect(sandbox.chargeLog.map((charge) => [charge.operation, charge.delivered])).toEqual([
        ['searchKyb', true],
        ['searchKyb', false],
        ['kybSearch', true],
        ['creditReportGenerate', true],
        ['watchAdd', true],
      ]);
      expect((await v2(sandbox, '/kyb/search', { body: search })).body.error_guard).toBe('limits.daily');
      expect((await v2(sandbox, `/credit-report/${requestId}/status`)).text).toBe('true');
      expect((await v2(sandbox, `/companies/${v2Id}/watch/history`)).body.total_results).toBe(1);
      clock.advance(86_400_000);
      const next = await v1(sandbox, '/kyb/search', { body: search });
      expect(next.status).toBe(200);
      expect(new Set(sandbox.chargeLog.map((charge) => charge.requestId)).size).toBe(sandbox.chargeLog.length);
      const text = readFileSync(journal, 'utf8');
      for (const key of [sandbox.keys.v1, sandbox.keys.v2]) expect(text).not.toContain(key);
    });
    await withSandbox(options, async (sandbox) => {
      expect(sandbox.chargeLog).toHaveLength(6);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the request log keeps the last requests with the scheme and without the key', () =>
  withSandbox({ requestLogSize: 2 }, async (sandbox) => {
    await v1(sandbox, '/kyb/1/lite');
    await v1(sandbox, '/kyb/search?x=1', { body: search });
    await send(`http://127.0.0.1:${sandbox.port}/elsewhere`, { key: sandbox.keys.v1, scheme: 'Bearer' });
    expect(
      sandbox.requestLog.map(({ api, operation, path, query, body }) => ({ api, operation, path, query, body })),
    ).toEqual([
      { api: 'v1', operation: 'searchKyb', path: '/api/v1/kyb/search', query: 'x=1', body: JSON.stringify(search) },
      { api: 'none', operation: undefined, path: '/elsewhere', query: '', body: '' },
    ]);
    expect(sandbox.requestLog[0]?.headers.authorization).toBe('Bearer');
    expect(JSON.stringify(sandbox.requestLog)).not.toContain(sandbox.keys.v1);
    expect(Object.fromEntries(sandbox.requests)).toEqual({ liteKyb: 1, searchKyb: 1, unknown: 1 });
  }));

test('a seed always gives its own keys, another seed gives others, and keys can be given', () =>
  withSandbox({ seed: 5 }, async (one) => {
    await withSandbox({ seed: 5 }, async (two) => {
      expect([two.keys.v1, two.keys.v2]).toEqual([one.keys.v1, one.keys.v2]);
    });
    await withSandbox({ seed: 6, keys: { v2: 'my own key' } }, async (three) => {
      expect(three.keys.v1).not.toBe(one.keys.v1);
      expect((await v2(three, '/metrics', { key: 'my own key' })).status).toBe(200);
    });
  }));

test('a pipe instead of the journal is refused without waiting', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const journal = join(folder, 'journal.ndjson');
  try {
    execFileSync('mkfifo', [journal]);
    await expect(withSandbox({ journal }, async () => {})).rejects.toThrow(`${journal} is not a regular file`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
