import { expect, test } from 'vitest';
import { nextHistoryCheck } from '../../src/stages/credit-report.js';
import { reportOptionsOf } from '../engine/support.js';
import { policy } from './support.js';

const options = { ...reportOptionsOf(policy), firstPollMs: 5, pollAtMostMs: 30, lookForMs: 300 };
const ENDED = 1_000;

test.each([
  ['too early for a first look', ENDED + 4, 0, { waitUntil: ENDED + 5 }],
  ['a first look', ENDED + 5, 0, { look: ENDED + 1 }],
  ['a look that others may have taken a moment ago', ENDED + 50, 0, { look: ENDED + 45 }],
  ['looked a moment ago', ENDED + 8, ENDED + 8, { waitUntil: ENDED + 13 }],
  ['looked for a while', ENDED + 80, ENDED + 75, { waitUntil: ENDED + 100 }],
  ['looked for long', ENDED + 200, ENDED + 195, { waitUntil: ENDED + 230 }],
  ['looked to the end, nearly', ENDED + 290, ENDED + 285, { waitUntil: ENDED + 301 }],
  ['the last look', ENDED + 301, 0, { look: ENDED + 301 }],
  ['the last look, long after', ENDED + 9_999, ENDED + 300, { look: ENDED + 301 }],
])('V2-17 %s', (_, now, looked, expected) => {
  expect(nextHistoryCheck(ENDED, looked, now, options)).toEqual(expected);
});
