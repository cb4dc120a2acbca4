import { describe, expect, test } from 'vitest';
import {
  driftOf,
  increaseSinceStart,
  isRenewed,
  isUsedUp,
  remainingUse,
  unexplainedUnits,
  unitsLeft,
  wholeDays,
} from '../../src/domain/account-usage.js';

test.each([
  [22, 8, 14],
  [8, 8, 0],
  [3, 8, 0],
  [-2, 0, 0],
])(
  'of %s units beyond the ledger’s count and %s unknown charges, %s are not in the ledger',
  (driftUnits, unknownCalls, units) => {
    expect(unexplainedUnits({ driftUnits, unknownCalls })).toBe(units);
  },
);

test.each([
  [{ remainingUnits: 90, dailyLimit: null, dailyRemaining: null }, 90],
  [{ remainingUnits: 90, dailyLimit: 3, dailyRemaining: 1 }, 1],
  [{ remainingUnits: 2, dailyLimit: 3, dailyRemaining: null }, 2],
  [{ remainingUnits: null, dailyLimit: null, dailyRemaining: null }, null],
])('of %j, %s units are left', (allowance, left) => {
  expect(unitsLeft(allowance)).toBe(left);
});

test.each([
  [3, 10, 7, false],
  [10, 10, 0, true],
  [12, 10, 0, true],
  [0, 0, null, false],
  [5, -1, null, false],
  [-1, 10, null, false],
  [null, 10, null, false],
  [3, null, null, false],
])('V2-3 of %s used of %s, %s are left, used up: %s', (used, total, left, spent) => {
  expect(remainingUse({ used, total })).toBe(left);
  expect(isUsedUp({ used, total })).toBe(spent);
});

describe("V2-3 the provider's counts beyond calls in the ledger", () => {
  test.each([
    ['as many as were sent', 2, 5, 3, 0, 0],
    ['failed calls may count', 2, 5, 2, 2, 0],
    ['or not', 2, 4, 2, 2, 0],
    ['others have used some', 2, 9, 3, 1, 3],
    ['it counts fewer', 2, 3, 4, 5, -3],
    ['unknown at the start', null, 5, 3, 0, null],
    ['unknown now', 2, null, 3, 0, null],
    ['its operations are unknown', 2, 5, null, null, null],
    ['renewed since', 9, 1, 1, 0, null],
  ])('%s', (_, usedAtStart, used, callsAnswered, callsFailed, drift) => {
    expect(driftOf({ usedAtStart, used, callsAnswered, callsFailed })).toBe(drift);
  });

  test('a lower count was reset, and its increase is unknown', () => {
    expect(isRenewed({ usedAtStart: 9, used: 1 })).toBe(true);
    expect(increaseSinceStart({ usedAtStart: 9, used: 1 })).toBeNull();
    expect(increaseSinceStart({ usedAtStart: 1, used: 9 })).toBe(8);
  });
});

describe('V2-14 the range for counting contacts', () => {
  test.each([
    ['2026-01-05T09:00:00Z', '2026-01-05T09:30:00Z', '2026-01-04 00:00:00', '2026-01-06 23:59:59'],
    ['2025-12-31T23:59:59Z', '2026-01-01T00:00:00Z', '2025-12-30 00:00:00', '2026-01-02 23:59:59'],
    // The clock was set back during an attempt.
    ['2026-01-05T09:00:00Z', '2026-01-03T09:00:00Z', '2026-01-04 00:00:00', '2026-01-06 23:59:59'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '1970-01-01 00:00:00', '1970-01-02 23:59:59'],
  ])('from %s to %s', (from, to, dateFrom, dateTo) => {
    expect(wholeDays(Date.parse(from), Date.parse(to))).toEqual({ dateFrom, dateTo });
  });
});
