import { expect, test } from 'vitest';
import type { StatusView } from '../../../src/app/run/status.js';
import { atWorkInWords } from '../../../src/cli/commands/status.js';

const worker = { worker: 'far:7', leads: false, since: 0, leaseUntil: 9, underWay: 1, calls: 3 };

/** The text for a view with only these facts. */
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

test('workers continue all rows if the leader died, and only begun rows if it left', () => {
  const withRate = /^1 worker .* 2\.0 rows\/s .* 5 s /;
  expect(told(null, false)).toMatch(withRate);
  expect(told(1000, false)).toMatch(/^1 worker (?!.*rows\/s)/);
  expect(told(1000, true)).toMatch(withRate);
});
