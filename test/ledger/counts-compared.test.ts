import { expect, test } from 'vitest';
import { type CountsSince, compareCounts } from '../../src/ledger/money/provider-count.js';

const DAY_MS = 86_400_000;
const counts: CountsSince = {
  anchorUnits: 100,
  anchoredAt: 5 * DAY_MS,
  remainingUnits: 90,
  dailyLimit: null,
  resetAt: null,
  spentUntil: null,
  known: 10,
  underWay: 0,
  lostCallId: null,
  lostStartedAt: null,
};

test.each<[string, Partial<CountsSince>, string | null, number]>([
  ['all missing units were charged', {}, null, 0],
  ['others have used some', { remainingUnits: 84 }, null, 6],
  ['the provider has no count', { remainingUnits: null }, 'never_told', 0],
  ['no answer came alone', { anchorUnits: null }, 'never_told', 0],
  ['calls are in flight', { underWay: 1, remainingUnits: 84 }, 'under_way', 0],
  ['there are more units than before', { remainingUnits: 500 }, 'renewed', 0],
  ['a day has passed', { dailyLimit: 100, resetAt: 7 * DAY_MS }, 'renewed', 0],
  ['on one day', { dailyLimit: 100, resetAt: 6 * DAY_MS }, null, 0],
  ['it refuses although units were left', { spentUntil: 1 }, 'spent', 0],
  ['it refuses and none were left', { spentUntil: 1, remainingUnits: 0, known: 100 }, null, 0],
])('V1-5 the two counts: %s', (_, since, notCompared, missing) => {
  expect(compareCounts({ ...counts, ...since })).toEqual({ notCompared, missing, waitsFor: null });
});

test('V1-5 a lost call keeps the comparison open until the provider has timed out', () => {
  const lost = { lostCallId: 8, lostStartedAt: 1_000, remainingUnits: 89 };
  expect(compareCounts({ ...counts, ...lost })).toEqual({
    notCompared: null,
    missing: 1,
    waitsFor: { call: 8, until: 31_000 },
  });
});
