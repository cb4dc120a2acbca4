/** @module-tag long */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { readInput } from '../../src/input/read-input.js';
import { withFile } from '../sheets/with-file.js';

const ROWS = 80_000;

// 80,000 rows are 8 MB of text, and 42 MB as objects if they are kept.
test('memory does not grow with the file', async () => {
  await withFile('name,country,registration_number,vat_number,city,state,id,note\n', async (path) => {
    const file = createWriteStream(path, { flags: 'a' });
    for (let first = 0; first < ROWS; first += 1000) {
      const block = Array.from({ length: 1000 }, (_, index) => line(first + index)).join('');
      if (!file.write(block)) await once(file, 'drain');
    }
    file.end();
    await once(file, 'close');
    const table = await readInput(path, {});
    const before = heapInUse();
    let rows = 0;
    let peak = before;
    for await (const row of table.rows()) {
      if (row.problem !== undefined) throw new Error(row.problem.message);
      if (++rows % 20_000 === 0) peak = Math.max(peak, heapInUse());
    }
    expect(rows).toBe(ROWS);
    expect((peak - before) / 2 ** 20).toBeLessThan(16);
  });
});

/** Bytes in use, measured after a collection. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function line(index: number): string {
  const name = index % 10 === 0 ? `"Company ${index}, Ltd"` : `Company ${index} Ltd`;
  return `${name},GB,${String(index).padStart(8, '0')},GB${index},London,,C-${index},some text that is carried through\n`;
}
