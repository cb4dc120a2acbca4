import { expect, test } from 'vitest';
import { movedInWords } from '../../src/cli/terminal/run-words.js';

const moved = (permission: string, metric: string, usedAtStart: number, used: number, total: number | null) => ({
  permission,
  permissionName: null,
  metric,
  name: metric,
  usedAtStart,
  used,
  total,
  extra: null,
});

test('V2-3 the closing lines have one line for each permission that moved', () => {
  expect(movedInWords([])).toEqual([]);
  expect(
    movedInWords([
      moved('search', 'day', 1, 3, 1000),
      moved('reports', 'day', 9, 1, 10),
      moved('search', 'plan', 5, 7, 7),
      moved('reports', 'plan', 9, 12, null),
      moved('people', 'day', 4, 0, 0),
    ]).map(({ text }) => text),
  ).toEqual([
    'v2 permission search: 2 used while this start was at work; day 3 of 1,000, 997 left; plan 7 of 7, used up, 0 left',
    'v2 permission reports: while this start was at work: day was renewed, 1 of 10, 9 left; plan rose by 3, 12 of not told',
    'v2 permission people: while this start was at work: day was renewed, 0 of 0',
  ]);
});
