import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRun } from '../export/support.js';
import { beginRun } from '../helpers/begin-run.js';
import { withFolder } from '../helpers/cli.js';
import { isOnPostgres, openLedgerIn } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { here, Interrupts } from './here.js';

const SAMPLE = ['sandbox', 'sample', '--rows', '3'];
const REVIEW = ['review', 'export', '--force'];

/** A folder with a ledger and with all files that kybatch reads. */
async function withPlaces(use: (cwd: string) => Promise<void>): Promise<void> {
  await withFolder(async (cwd) => {
    const ledger = await openLedgerIn({ dataDir: join(cwd, 'data'), now: 0, access: 'write' });
    await createRun(ledger, 'first', { rows: [{ values: ['x'] }] });
    await ledger.close();
    for (const name of ['.env', 'routes.yaml', 'key.txt', 'mine.txt']) writeFileSync(join(cwd, name), '');
    mkdirSync(join(cwd, 'folder'));
    symlinkSync('data', join(cwd, 'link'));
    symlinkSync('mine.txt', join(cwd, 'planted.csv'));
    symlinkSync('nowhere.csv', join(cwd, 'dangling.csv'));
    await use(cwd);
  });
}

const env = { KYBATCH_V2_ROUTES: 'routes.yaml', KYBATCH_V1_API_KEY_FILE: 'key.txt' };

describe('a file for the output of a command', () => {
  test.skipIf(isOnPostgres)(
    'is refused if it would overwrite something or cannot be written',
    { tags: 'long' },
    async () => {
      await withPlaces(async (cwd) => {
        const names = () =>
          readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter((name) => !/-(?:wal|shm)$/.test(name));
        const before = names();
        const ledger = readFileSync(join(cwd, 'data', 'kybatch.db'));
        // One check serves both. Each command has its own next step.
        for (const [out, refusal, named] of [
          ['data', 'OUT_HOLDS_DATA', '/data'],
          ['data/kybatch.db', 'OUT_NOT_FREE', '/data/kybatch.db'],
          ['folder/../link/kybatch.lock', 'OUT_NOT_FREE', '/data/kybatch.lock'],
          ['data/logs/x.csv', 'OUT_NOT_FREE', '/data/logs'],
          ['data/q.csv', 'OUT_IN_DATA', '/data/q.csv'],
          ['link/q.csv', 'OUT_IN_DATA', '/link/q.csv'],
          ['', 'FLAG_EMPTY', '--out '],
          ['.env', 'OUT_IS_INPUT', '/.env'],
          ['routes.yaml', 'OUT_IS_INPUT', '/routes.yaml'],
          ['key.txt', 'OUT_IS_INPUT', '/key.txt'],
          ['.', 'OUT_HOLDS_DATA', '/data)'],
          ['folder', 'OUT_IS_FOLDER', '/folder'],
          ['planted.csv', 'OUT_IS_SYMLINK', '/planted.csv'],
          ['dangling.csv', 'OUT_IS_SYMLINK', '/dangling.csv'],
          ['/dev/null', 'OUT_NOT_REGULAR', '/dev/null'],
          ['/proc/x', 'PLACE_UNUSABLE', ' /proc/x: '],
          ['nodir/x.csv', 'PLACE_UNUSABLE', '(ENOENT)'],
          ['mine.txt/x.csv', 'PLACE_UNUSABLE', '(ENOTDIR)'],
        ] as const)
          for (const args of /kybatch\.db|\.env|dir|planted/.test(out) ? [SAMPLE, REVIEW] : [SAMPLE]) {
            const { code, codes, textOf } = await here([...args, '--out', out], { cwd, env });
            expect([code, ...codes]).toEqual([2, refusal]);
            expect(textOf(refusal)).toContain(named);
          }
        expect(names()).toEqual(before);
        expect(readFileSync(join(cwd, 'data', 'kybatch.db'))).toEqual(ledger);
      });
    },
  );

  long('is only readable by its owner if it holds answers, and never overwrites the input of a run', async () => {
    await withPlaces(async (cwd) => {
      expect((await here(SAMPLE, { cwd })).code).toBe(0);
      expect((await here(['review', 'export'], { cwd })).code).toBe(0);
      for (const name of ['sample.csv', 'sample.answers.csv'])
        expect(statSync(join(cwd, name)).mode & 0o777, name).toBe(0o666 & ~process.umask());
      expect(statSync(join(cwd, 'review.csv')).mode & 0o777).toBe(0o600);
      const ledger = await openLedgerIn({ dataDir: join(cwd, 'data'), now: 0, access: 'read' });
      const [run] = await ledger.runs.all();
      await ledger.close();
      const refused = await here([...REVIEW, '--out', run?.inputPath ?? ''], { cwd });
      expect(refused).toMatchObject({ code: 2, codes: ['OUT_IS_INPUT'] });
    });
  });

  long('is overwritten only if it is a sample or with --force, and never if kybatch reads it', async () => {
    await withPlaces(async (cwd) => {
      const sample = (...more: string[]) => here([...SAMPLE, ...more], { cwd, env });
      for (const flags of [[], ['--excel'], ['--dirty']]) expect((await sample(...flags)).code, flags[0]).toBe(0);
      expect(await sample('--quiet')).toMatchObject({ code: 0, stdout: '', stderr: '', codes: ['SAMPLE_WRITTEN'] });
      // A user's own rows look like a sample's, but there are no right answers for them.
      copyFileSync(join(cwd, 'sample.csv'), join(cwd, 'own.csv'));
      mkdirSync(join(cwd, 'data', 'exports', 'first'), { recursive: true });
      writeFileSync(join(cwd, 'data', 'exports', 'first', 'rows.csv'), 'row,line\n');
      writeFileSync(join(cwd, 'new.answers.csv'), 'mine');
      for (const out of ['own.csv', 'mine.txt', 'data/exports/first/rows.csv', 'new.csv']) {
        expect(await sample('--out', out)).toMatchObject({ code: 2, codes: ['OUT_NOT_OURS'] });
      }
      expect(readFileSync(join(cwd, 'new.answers.csv'), 'utf8')).toBe('mine');
      expect((await sample('--out', 'own.csv', '--force')).code).toBe(0);
      const ledger = await openLedgerIn({ dataDir: join(cwd, 'data'), now: 0, access: 'write' });
      for (const name of ['own.csv', 'mine.txt'])
        await beginRun(ledger, { id: name, inputPath: join(cwd, name), now: 0 }, [{ values: ['x'], fields: {} }]);
      await ledger.close();
      expect(await sample('--out', 'mine.txt', '--force')).toMatchObject({ code: 2, codes: ['OUT_IS_INPUT'] });
      // A sample that was run can still be replaced.
      expect((await sample('--out', 'own.csv')).code).toBe(0);
    });
  });

  test('is never left half-written: too many rows are refused, and an interrupt removes the parts', async () => {
    await withFolder(async (cwd) => {
      const many = await here(['sandbox', 'sample', '--rows', '999999999999'], { cwd });
      expect(many).toMatchObject({ code: 2, codes: ['FLAG_OUT_OF_RANGE'] });
      const interrupts = new Interrupts();
      const writing = here(['sandbox', 'sample', '--rows', '1000000'], { cwd, interrupts });
      while (readdirSync(cwd).length < 2) await new Promise((next) => setImmediate(next));
      interrupts.send('SIGTERM');
      expect(await writing).toMatchObject({ code: 143, codes: ['STOPPED'] });
      expect(readdirSync(cwd)).toEqual([]);
    });
  });

  test('a folder without write access is refused', async () => {
    await withFolder(async (cwd) => {
      mkdirSync(join(cwd, 'theirs'));
      chmodSync(join(cwd, 'theirs'), 0o555);
      // Root may write anywhere else.
      const out = process.getuid?.() === 0 ? '/sys/x.csv' : 'theirs/x.csv';
      const { code, codes } = await here([...SAMPLE, '--out', out], { cwd });
      expect(['NO_PERMISSION', 'READ_ONLY']).toContain(codes[0]);
      expect(code).toBe(2);
    });
  });
});
