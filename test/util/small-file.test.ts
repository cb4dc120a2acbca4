import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSmallFile } from '../../src/util/files.js';
import { withFolder } from '../helpers/cli.js';

const code = (reason: string) => expect.objectContaining({ code: reason });

describe('a small file', () => {
  test('is read completely, up to the size limit', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'file');
      writeFileSync(path, 'ä'.repeat(50_000));
      expect(readSmallFile(path)).toBe('ä'.repeat(50_000));
      expect(() => readSmallFile(path, 99_999)).toThrow(code('TOO_LARGE'));
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
    expect(() => readSmallFile(path)).toThrow(code(reason));
  });

  test('is refused if it is a pipe, which may never end', async () => {
    await withFolder(async (folder) => {
      const path = join(folder, 'pipe');
      execFileSync('mkfifo', [path]);
      expect(() => readSmallFile(path)).toThrow(code('NOT_REGULAR'));
    });
  });
});
