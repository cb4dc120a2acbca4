import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freeBytes } from '../../src/util/files.js';

test('free space is shown for a path that does not exist yet, from its future folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-free-'));
  try {
    expect(freeBytes(folder)).toBeGreaterThan(0);
    expect(freeBytes(join(folder, 'not', 'there', 'yet'))).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
