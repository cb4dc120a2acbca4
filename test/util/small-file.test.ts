import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSmallFile } from '../../src/util/files.js';
import { withFolder } from '../helpers/cli.js';

const code = (reason: string) => expect.objectContaining({ code: reason });

describe('a small file', () => {
  test('is read whole, up to the size limit', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'file');
      writeFileSync(path, 'ä'.repeat(50_000));
      expect(readSmallFile(path)).toBe('ä'.repeat(50_000));
      expect(() => readSmallFile(path, { mostBytes: 99_999 })).toThrow(code('TOO_LARGE'));
      writeFileSync(path, '');
      expect(readSmallFile(path)).toBe('');
    });
  });

  test.each([
    ['/dev/zero', 'NOT_REGULAR'],
    ['/dev/zero/x', 'ENOTDIR'],
    ['/nowhere', 'ENOENT'],
    ['/', 'EISDIR'],
  ])('%s is refused with %s', (path, reason) => {
    for (const pipe of [true, false]) expect(() => readSmallFile(path, { pipe })).toThrow(code(reason));
  });

  test('may come through a pipe if allowed, but the wait is limited', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'pipe');
      execFileSync('mkfifo', [path]);
      expect(() => readSmallFile(path)).toThrow(code('NOT_REGULAR'));
      expect(() => readSmallFile(path, { pipe: true, waitMs: 20 })).toThrow(code('SILENT_PIPE'));
      // A writer that keeps it open and sends nothing.
      const silent = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      expect(() => readSmallFile(path, { pipe: true, waitMs: 20 })).toThrow(code('SILENT_PIPE'));
      writeSync(silent, 'x'.repeat(1_000));
      expect(() => readSmallFile(path, { pipe: true, mostBytes: 999 })).toThrow(code('TOO_LARGE'));
      closeSync(silent);
      const writer = spawn('sh', ['-c', 'echo well > "$0"', path]);
      expect(readSmallFile(path, { pipe: true })).toBe('well\n');
      await once(writer, 'close');
    });
  });
});
