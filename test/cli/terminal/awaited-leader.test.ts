import { expect, test } from 'vitest';
import { AwaitedLeader } from '../../../src/cli/terminal/awaited-leader.js';

test('a leader that may be dead is waited for by its name, and no longer than until something happens', () => {
  const leader = new AwaitedLeader();
  expect(leader.words(0)).toEqual([]);
  expect(leader.listen({ kind: 'leader_awaited', worker: 'host:7', until: 12_000 })).toBe(
    'waiting to see whether host:7, which leads this run, is alive',
  );
  expect(leader.words(0)).toMatchObject([
    { text: 'waiting for 12 s to see whether host:7, which leads this run, is alive' },
  ]);
  expect(leader.words(20_000)).toMatchObject([{ short: 'waiting for 0 s for its leader' }]);
  expect(leader.listen({ kind: 'lost_calls', count: 1 })).toBeUndefined();
  expect(leader.words(0)).toEqual([]);
});
