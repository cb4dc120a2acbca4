import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { acquireLock } from '../../src/ledger/sqlite/lock.js';
import { look, openAt, withDataDir, writeOldLedger } from './sqlite-support.js';
import { NOW } from './support.js';

const FIXTURE = resolve('fixtures/ledger-0.1');
const schema = (dataDir: string) =>
  look<{ schema: number }>(dataDir, 'SELECT max(version) AS schema FROM schema_migrations');

test('a ledger of an older kybatch is read, with a note, and left as it is', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'kybatch-scratch-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = scratch;
  try {
    await withDataDir(async (dataDir) => {
      cpSync(FIXTURE, dataDir, { recursive: true });
      const notes: string[] = [];
      const ledger = openLedger({ dataDir, now: NOW, access: 'read', onNote: (note) => notes.push(note) });
      expect((await ledger.runs.all()).map(({ state }) => state)).toEqual(['open', 'finished', 'open', 'finished']);
      const snapshot = await ledger.reading.snapshot('2026-11-15-b41603');
      expect(snapshot?.run.rowCount).toBe(15);
      await snapshot?.close();
      await ledger.close();
      expect(notes).toEqual([expect.stringMatching(/older kybatch \(schema 3\).*kybatch migrate/)]);
      expect(schema(dataDir)).toEqual([{ schema: 3 }]);
      // The copy goes with whoever read it.
      expect(readdirSync(scratch).filter((name) => name.startsWith('kybatch-read-'))).toEqual([]);
    });
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('it is read while somebody else writes', async () => {
  await withDataDir(async (dataDir) => {
    cpSync(FIXTURE, dataDir, { recursive: true });
    const writing = openAt(dataDir, 'existing');
    const reading = openAt(dataDir, 'read');
    expect(await reading.runs.all()).toHaveLength(4);
    await reading.close();
    await writing.close();
  });
});

test('from its copy too it is seen whether the process that writes it is alive', async () => {
  await withDataDir(async (dataDir) => {
    writeOldLedger(
      dataDir,
      4,
      `INSERT INTO starts (run_id, begun_at, lease_until) VALUES ('r', ${NOW}, ${NOW + 30_000})`,
    );
    const isAlive = async () => {
      const reading = openAt(dataDir, 'read');
      const work = await reading.reading.atWork('r', NOW);
      await reading.close();
      return work?.alive;
    };
    const lock = acquireLock(dataDir);
    expect(await isAlive()).toBe(true);
    lock.release();
    expect(await isAlive()).toBe(false);
  });
});
