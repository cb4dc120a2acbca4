import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { createRun } from '../export/support.js';
import { dropPortfolios } from '../helpers/begin-run.js';
import { cli, withFolder } from '../helpers/cli.js';

/** Root may do everything, so the test then uses another user. */
const uid = process.getuid?.() === 0 ? 65_534 : undefined;

/** A ledger in a folder on which the other user has only the rights of `mode`. */
async function withLedgerOf(
  mode: number,
  use: (kybatch: (...args: string[]) => ReturnType<typeof cli>, out: string) => Promise<void>,
) {
  await withFolder(async (cwd) => {
    const dataDir = join(cwd, 'data');
    const ledger = await openLedger({ dataDir, now: 0, access: 'write' });
    await createRun(ledger, 'first', { rows: [{ values: ['x'], ids: { v1: '1' } }] });
    await ledger.calls.begin({ runId: 'first', begunAt: 0, leaseUntil: Number.MAX_SAFE_INTEGER });
    await ledger.close();
    await dropPortfolios(dataDir);
    chmodSync(cwd, 0o755);
    chmodSync(join(dataDir, 'kybatch.db'), 0o444);
    chmodSync(join(dataDir, 'kybatch.lock'), 0o000);
    // Empty files that a process may leave behind.
    for (const name of ['kybatch.db-wal', 'kybatch.db-shm']) writeFileSync(join(dataDir, name), '', { mode: 0o600 });
    mkdirSync(join(cwd, 'theirs'));
    chmodSync(join(cwd, 'theirs'), 0o777);
    chmodSync(dataDir, mode);
    try {
      await use((...args) => cli([...args, '--data-dir', dataDir], { cwd: '/', uid }), join(cwd, 'theirs', 'tables'));
    } finally {
      chmodSync(dataDir, 0o700);
    }
  });
}

const REFUSED = { error: { code: expect.stringMatching(/^(NO_PERMISSION|READ_ONLY)$/) } };

test('a folder of another user is not reported as "no ledger yet"', async () => {
  await withLedgerOf(0o000, async (kybatch) => {
    for (const args of [['status'], ['charges'], ['ledger', 'migrate']]) {
      const { code, stdout } = await kybatch(...args, '--json');
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'NO_PERMISSION' } });
      expect(code).toBe(2);
    }
  });
});

test.skipIf(uid === undefined)(
  'doctor reports a writable folder with a read-only ledger, which refuses an attempt',
  async () => {
    await withLedgerOf(0o777, async (kybatch) => {
      const { code, stdout } = await kybatch('doctor', '--sandbox', '--json');
      const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string; detail: string }[] };
      expect(findings.filter(({ check }) => check === 'data directory')).toEqual([
        {
          check: 'data directory',
          state: 'fail',
          code: 'NO_PERMISSION',
          detail: expect.stringMatching(/kybatch\.db, .*kybatch\.lock.*owner/),
        },
      ]);
      expect(code).toBe(2);
    });
  },
);

test('a read-only folder can be read, and writing commands are refused with a message', async () => {
  await withLedgerOf(0o555, async (kybatch, out) => {
    const { code: seen, stdout: status } = await kybatch('status', '--json');
    // The lock cannot be read, which does not mean that the process is dead.
    expect(JSON.parse(status)).toMatchObject({ run: 'first', process: { alive: true } });
    expect(seen).toBe(0);
    const called = await kybatch('call', 'v1', 'liteKyb', '--params', '{"id":"10843262"}', '--sandbox', '--json');
    expect(called.code).toBe(2);
    expect(JSON.parse(called.stdout)).toMatchObject(REFUSED);
    const exported = await kybatch('export', '--out', out, '--json');
    expect(JSON.parse(exported.stdout)).toMatchObject({ messages: expect.arrayContaining(['EXPORT_NOT_LISTED']) });
    expect(exported.stderr).toContain('exports.jsonl');
    expect(exported.code).toBe(0);
    const resumed = await kybatch('resume', '--sandbox', '--json');
    expect(resumed.code).toBe(2);
    expect(JSON.parse(resumed.stdout)).toMatchObject(REFUSED);
    const { code, stdout } = await kybatch('doctor', '--sandbox', '--json');
    expect(code).toBe(2);
    expect(stdout).toMatch(/"check":"database","state":"ok","code":"DATABASE_OK"/);
    expect(stdout).toMatch(/"check":"data directory","state":"fail","code":"NO_PERMISSION"/);
  });
});
