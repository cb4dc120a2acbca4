import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSmallFile } from '../../src/util/files.js';
import { withFolder } from '../helpers/cli.js';

describe('a small file', () => {
  test('is read whole, up to the size limit', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'file');
      writeFileSync(path, 'ä'.repeat(50_000));
      expect(readSmallFile(path)).toBe('ä'.repeat(50_000));
      expect(() => readSmallFile(path, { mostBytes: 99_999 })).toThrow('is larger than 99,999 bytes');
      writeFileSync(path, '');
      expect(readSmallFile(path)).toBe('');
    });
  });

  test.each([
    ['/dev/zero', 'is not a regular file'],
    ['/dev/zero/x', 'cannot be read (ENOTDIR)'],
    ['/nowhere', 'cannot be read (ENOENT)'],
    ['/', 'cannot be read (EISDIR)'],
  ])('%s %s', (path, words) => {
    for (const pipe of [true, false]) expect(() => readSmallFile(path, { pipe })).toThrow(words);
  });

  test('may come through a pipe if allowed, but the wait is limited', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'pipe');
      execFileSync('mkfifo', [path]);
      expect(() => readSmallFile(path)).toThrow('is not a regular file');
      expect(() => readSmallFile(path, { pipe: true, waitMs: 20 })).toThrow('has brought nothing for 0.02 s');
      // A writer that keeps it open and sends nothing.
      const silent = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      expect(() => readSmallFile(path, { pipe: true, waitMs: 20 })).toThrow('has brought nothing for 0.02 s');
      writeSync(silent, 'x'.repeat(1_000));
      expect(() => readSmallFile(path, { pipe: true, mostBytes: 999 })).toThrow('is larger than 999 bytes');
      closeSync(silent);
      const writer = spawn('sh', ['-c', 'echo well > "$0"', path]);
      expect(readSmallFile(path, { pipe: true })).toBe('well\n');
      await once(writer, 'close');
    });
  });
});
