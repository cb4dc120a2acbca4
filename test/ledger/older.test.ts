import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { createTempFolder } from '../../src/util/files.js';
import { look, openAt, withDataDir } from './sqlite-support.js';
import { NOW } from './support.js';

const FIXTURE = resolve('fixtures/ledger-0.1');
const schema = (dataDir: string) =>
  look<{ schema: number }>(dataDir, 'SELECT max(version) AS schema FROM schema_migrations');

/** Replaces the system's folder for temporary files. */
async function withScratch(use: (scratch: string) => Promise<void>): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'kybatch-scratch-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = scratch;
  try {
    await use(scratch);
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(scratch, { recursive: true, force: true });
  }
}

test('a ledger of an older kybatch is read, with a note, and left as it is', async () => {
  await withScratch(async (scratch) => {
    await withDataDir(async (dataDir) => {
      cpSync(FIXTURE, dataDir, { recursive: true });
      const notes: string[] = [];
      const ledger = await openLedger({ dataDir, now: NOW, access: 'read', onNote: ({ code }) => notes.push(code) });
      expect((await ledger.runs.all()).map(({ state }) => state)).toEqual(['open', 'finished', 'open', 'finished']);
      const snapshot = await ledger.reading.snapshot('2026-11-15-b41603');
      expect(snapshot?.run.rowCount).toBe(15);
      await snapshot?.close();
      await ledger.close();
      expect(notes).toEqual(['LEDGER_READ_FROM_COPY']);
      expect(schema(dataDir)).toEqual([{ schema: 3 }]);
      // The copy is removed when its reader closes.
      expect(readdirSync(scratch).filter((name) => name.startsWith('kybatch-read-'))).toEqual([]);
    });
  });
});

test('a reader removes the copies of killed processes, and no others', async () => {
  await withScratch(async (scratch) => {
    await withDataDir(async (dataDir) => {
      await (await openAt(dataDir, 'write')).close();
      const own = basename(createTempFolder());
      const { pid } = spawnSync('true');
      const ofDead = own.replace(`-${process.pid}-`, `-${pid}-`);
      renameSync(createTempFolder(), join(scratch, ofDead));
      writeFileSync(join(scratch, ofDead, 'kybatch.db'), 'a copy');
      const elsewhere = ofDead.replace(/read-[0-9a-f]+/, 'read-0123456789ab');
      mkdirSync(join(scratch, elsewhere));
      const aFile = ofDead.replace(/[^-]+$/, 'a_file');
      writeFileSync(join(scratch, aFile), '');
      const aLink = ofDead.replace(/[^-]+$/, 'a_link');
      symlinkSync(dataDir, join(scratch, aLink));
      const others = ['kybatch-read-', 'kybatch-read-abcdef', `${ofDead}-more`];
      for (const name of others) mkdirSync(join(scratch, name));
      await (await openAt(dataDir, 'read')).close();
      const copies = readdirSync(scratch).filter((name) => name.startsWith('kybatch-read-'));
      expect(copies.sort()).toEqual([own, elsewhere, aFile, aLink, ...others].sort());
      expect(readdirSync(dataDir)).toContain('kybatch.db');
    });
  });
});

test('it is read while another process writes', async () => {
  await withDataDir(async (dataDir) => {
    cpSync(FIXTURE, dataDir, { recursive: true });
    const writing = await openAt(dataDir, 'existing');
    const reading = await openAt(dataDir, 'read');
    expect(await reading.runs.all()).toHaveLength(4);
    await reading.close();
    await writing.close();
  });
});

test.each(['kybatch.db', 'kybatch.lock'])('a pipe named %s is refused without waiting', async (name) => {
  await withDataDir(async (dataDir) => {
    const path = join(dataDir, name);
    mkdirSync(dataDir);
    spawnSync('mkfifo', [path]);
    await expect(openAt(dataDir, 'write')).rejects.toMatchObject({
      code: 'LEDGER_NOT_REGULAR',
      message: expect.stringContaining(path),
    });
    if (name === 'kybatch.db')
      await expect(openAt(dataDir, 'read')).rejects.toMatchObject({
        code: 'LEDGER_NOT_REGULAR',
        message: expect.stringContaining(path),
      });
  });
});
