/** @module-tag long */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ReadingProgress } from '../../src/app/environment.js';
import { plan } from '../../src/app/run/plan.js';
import { systemClock } from '../../src/util/clock.js';
import { withFolder } from '../helpers/cli.js';

test('a plan reports how far the file has been read, and the end of reading', async () => {
  await withFolder(async (cwd) => {
    const rows = Array.from({ length: 2_500 }, (_, row) => `Acme ${row},GB,${10_000_000 + row}`);
    writeFileSync(join(cwd, 'in.csv'), ['name,country,registration_number', ...rows].join('\n'));
    const told: (ReadingProgress | null)[] = [];
    const environment = {
      env: {},
      cwd,
      clock: systemClock,
      onReading: (progress: ReadingProgress | null) => told.push(progress),
    };
    await plan({ input: 'in.csv', sandbox: true }, environment);
    expect(told.at(-1)).toBeNull();
    const [first, second] = told.flatMap((progress) => progress ?? []);
    expect([first?.rows, second?.rows]).toEqual([1_000, 2_000]);
    expect(second?.share).toBe(1);
  });
});
