import { describe, expect, test } from 'vitest';
import { crashMachines } from './machines.js';

/** It takes a minute: `npm run test:machines` is the long one. */
const IS_WANTED = process.env.KYBATCH_CRASH_MACHINES !== undefined;
const seed = Number(process.env.KYBATCH_CRASH_SEED ?? 1);

describe.runIf(IS_WANTED)('several machines, kill -9', () => {
  test('of processes and of connections: no row lost, no answer bought twice, every lost call flagged', {
    timeout: 300_000,
  }, async () => {
    const plan = { name: 'kills', rows: 200, kills: 6, seed, frozenMs: 26_000, tell: console.log };
    const { problems, figures } = await crashMachines(plan);
    expect(problems).toEqual([]);
    expect(figures.complete).toBe(200);
  });
});
