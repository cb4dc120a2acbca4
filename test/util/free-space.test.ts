import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freeBytes } from '../../src/util/files.js';

test('room is told for a path that is not there yet: that of the folder it will be in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-free-'));
  try {
    expect(freeBytes(folder)).toBeGreaterThan(0);
    expect(freeBytes(join(folder, 'not', 'there', 'yet'))).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
