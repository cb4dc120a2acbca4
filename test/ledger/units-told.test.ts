import { expect, test } from 'vitest';
import { contradicts, type ReportedUnits } from '../../src/ledger/money/provider-count.js';

const told = (more: Partial<ReportedUnits>): ReportedUnits => ({
  calls: [7],
  from: 100,
  to: 97,
  known: 2,
  otherUnknown: 0,
  toldAt: 60_000,
  lastStartedAt: 0,
  renewed: false,
  exact: true,
  ...more,
});

test.each<[string, Partial<ReportedUnits>, boolean, boolean]>([
  ['one unit is missing, and one call has an unknown charge', {}, false, true],
  ['nothing is missing', { to: 98 }, true, false],
  ['nothing is missing, but the provider may still charge', { to: 98, toldAt: 29_000 }, false, false],
  ['nothing is missing, but the figure may lack charges', { to: 98, exact: false }, false, false],
  ['another call of unknown charge may explain the missing unit', { otherUnknown: 1 }, false, false],
  ['fewer are missing than there are calls', { calls: [7, 8] }, true, true],
  ['more are missing than calls explain', { to: 90 }, false, true],
  ['the allowance came back', { renewed: true, to: 98 }, false, false],
  ['there is more than before', { to: 200 }, false, false],
])('V1-5 %s', (_, more, againstCharged, againstFree) => {
  expect(contradicts(told(more), 'charged')).toBe(againstCharged);
  expect(contradicts(told(more), 'free')).toBe(againstFree);
});
