import { expect, test } from 'vitest';
import type { StatusView } from '../../../src/app/run/status.js';
import { atWorkInWords } from '../../../src/cli/commands/status.js';

const worker = { worker: 'far:7', leads: false, since: 0, leaseUntil: 9, underWay: 1, calls: 3 };

/** Of a view only what is told of. */
const told = (endedAt: number | null, putOff: boolean): string | undefined =>
  atWorkInWords({
    run: { state: 'open' },
    at: 0,
    workers: [worker],
    putOff,
    atWork: {
      alive: false,
      silent: false,
      since: 0,
      endedAt,
      lastHeardAt: 0,
      ending: null,
      rowsPerSecond: 2,
      msToGo: 5000,
      failedCalls: [],
      outages: [],
    },
  } as unknown as StatusView)[0]?.text;

test('helpers of a leader that died go on with all that was laid out; of one that left, with what they have begun', () => {
  expect(told(null, false)).toContain('1 worker goes on with what was laid out, 2.0 rows/s of late, about 5 s to go');
  expect(told(1000, false)).toContain('1 worker brings home what it has begun; who led');
  expect(told(1000, true)).toContain('goes on with what was laid out');
});
