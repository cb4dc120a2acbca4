import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { openLog } from '../../src/util/logger.js';
import { withFolder } from '../helpers/cli.js';

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('the log', () => {
  test('is readable by its owner only and has every line without the secrets', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'logs', 'a.log');
      // Not a canary: this process knows keys of other tests, which would be removed under their own name.
      const log = openLog({ path, clock: new ManualClock('2026-01-05T09:00:00Z'), secrets: ['pebble of the log', ''] });
      for (let row = 1; row <= 200; row++) log.info('row', { row, note: 'a pebble of the log' });
      log.warn('end');
      expect(log.close()).toBe(0);
      const lines = linesOf(path);
      expect(lines).toHaveLength(201);
      expect(lines[0]).toEqual({
        level: 30,
        time: '2026-01-05T09:00:00.000Z',
        row: 1,
        note: 'a [secret]',
        event: 'row',
      });
      expect(statSync(path).mode & 0o777).toBe(0o600);
    });
  });

  // In its own process: a log that retries forever would block the tests.
  test.skipIf(!existsSync('/dev/full'))('blocks no writer on a full disk and counts lost lines', async () => {
    const module = (name: string) => JSON.stringify(resolve(import.meta.dirname, `../../build/util/${name}.js`));
    const script = `
      const { openLog } = await import(${module('logger')});
      const { systemClock: clock } = await import(${module('clock')});
      const log = openLog({ path: '/dev/full', clock, secrets: [] });
      for (let row = 0; row < 5000; row++) log.info('row', { row });
      console.log(log.close());`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 200_000,
      killSignal: 'SIGKILL',
    });
    expect(stdout).toBe('5000\n');
  });

  test.skipIf(!existsSync('/dev/full'))('reports how many lines are missing when it can be written again', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'a.log');
      const clock = new ManualClock();
      symlinkSync('/dev/full', path);
      const log = openLog({ path, clock, secrets: [] });
      const burst = (event: string) => {
        for (let row = 0; row < 100; row++) log.info(event, { row, padding: 'x'.repeat(100) });
      };
      burst('lost');
      rmSync(path);
      burst('lost too: it is not tried again at once');
      clock.advance(1000);
      burst('kept');
      const lost = log.close();
      const [first, ...kept] = linesOf(path);
      expect(first).toMatchObject({ event: 'lines_lost', lines: lost, level: 40 });
      expect(lost).toBeGreaterThan(150);
      expect(lost + kept.length).toBe(300);
      expect(kept.at(-1)).toMatchObject({ event: 'kept', row: 99 });
    });
  });

  test('that cannot be opened stops nothing and is opened later', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'logs', 'a.log');
      writeFileSync(join(folder, 'logs'), 'in the way');
      const log = openLog({ path, clock: new ManualClock(), secrets: [] });
      log.info('start');
      rmSync(join(folder, 'logs'));
      expect(log.close()).toBe(0);
      expect(linesOf(path)).toMatchObject([{ event: 'start' }]);
      writeFileSync(join(folder, 'file'), '');
      const never = openLog({ path: join(folder, 'file', 'a.log'), clock: new ManualClock(), secrets: [] });
      never.info('start');
      expect(never.close()).toBe(1);
    });
  });
});

describe('a log that grows', () => {
  test('begins a new file at a size limit and keeps four others', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'a.log');
      const log = openLog({ path, clock: new ManualClock(), secrets: [], maxBytes: 10_000 });
      for (let row = 1; row <= 2000; row++) log.info('row', { row });
      expect(log.close()).toBe(0);
      expect(readdirSync(folder).sort()).toEqual(['a.log', 'a.log.1', 'a.log.2', 'a.log.3', 'a.log.4']);
      for (const file of readdirSync(folder)) {
        expect(statSync(join(folder, file)).size).toBeLessThanOrEqual(10_000);
        expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
      }
      const rows = ['a.log.1', 'a.log'].flatMap((file) => linesOf(join(folder, file)).map(({ row }) => row));
      expect(rows).toEqual(Array.from(rows, (_, index) => 2000 - rows.length + index + 1));
    });
  });

  test('continues in one file if it cannot be renamed', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'a.log');
      mkdirSync(join(folder, 'a.log.1', 'in the way'), { recursive: true });
      mkdirSync(join(folder, 'a.log.2', 'in the way'), { recursive: true });
      const log = openLog({ path, clock: new ManualClock(), secrets: [], maxBytes: 1000 });
      for (let row = 1; row <= 200; row++) log.warn('row', { row });
      expect(log.close()).toBe(0);
    });
  });

  test('warnings are written at once, the rest when there is enough of it', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'a.log');
      const log = openLog({ path, clock: new ManualClock(), secrets: [] });
      log.info('row', { row: 1 });
      expect(readFileSync(path, 'utf8')).toBe('');
      log.warn('slowed', { pause_ms: 60_000 });
      expect(linesOf(path).map(({ event }) => event)).toEqual(['row', 'slowed']);
      log.close();
    });
  });

  test('a pipe without a reader instead of the log blocks no writer', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'a.log');
      await promisify(execFile)('mkfifo', [path]);
      const log = openLog({ path, clock: new ManualClock(), secrets: [] });
      log.warn('row', { row: 1 });
      expect(log.close()).toBe(1);
    });
  });
});
