import { describe, expect, test } from 'vitest';
import { crashMachines } from './machines.js';

/** These tests take a minute each, and need an idle machine. `npm run test:machines` is the long version. */
const IS_WANTED = process.env.KYBATCH_CRASH_MACHINES !== undefined;
const seed = Number(process.env.KYBATCH_CRASH_SEED ?? 1);

test.runIf(IS_WANTED)(
  'V1-5 a leader and a worker frozen beyond their leases keep their purchases: no request is repeated, no row is lost',
  {
    timeout: 600_000,
  },
  async () => {
    const { problems, figures, kills } = await crashMachines({
      name: 'frozen',
      rows: 60,
      kills: 2,
      seed,
      inTurn: ['leader frozen', 'worker frozen'],
      // Other processes look for lost calls every 5 s.
      frozenMs: [6000, 6000],
      faults: { latency: { medianMs: 200, p99Ms: 300 } },
      tell: () => {},
    });
    expect(problems).toEqual([]);
    expect(kills).toEqual({ 'leader frozen': 1, 'worker frozen': 1 });
    expect(figures['calls in flight when given up']).toBeGreaterThan(0);
    expect(figures).toMatchObject({
      complete: 60,
      'calls flagged': 0,
      'requests charged again': 0,
      'answers bought twice': 0,
      'reports generated twice': 0,
    });
  },
);

describe.runIf(IS_WANTED)('several machines, kill -9', () => {
  test('processes and connections are killed: no row lost, no answer bought twice, every lost call flagged', {
    timeout: 300_000,
  }, async () => {
    const plan = {
      name: 'kills',
      rows: 200,
      kills: 6,
      seed,
      frozenMs: [1000, 6000] as const,
      tell: console.log,
    };
    const { problems, figures } = await crashMachines(plan);
    expect(problems).toEqual([]);
    expect(figures.complete).toBe(200);
  });
});
