import { expect, test } from 'vitest';
import type { PlanView } from '../../../src/app/run/plan.js';
import type { RunEndView } from '../../../src/app/run/run-end.js';
import type { StartedEvent } from '../../../src/app/run/spending.js';
import { planInWords } from '../../../src/cli/commands/plan.js';
import { endInWords } from '../../../src/cli/spend.js';
import { startInWords } from '../../../src/cli/terminal/run-words.js';
import { inLines } from '../../../src/util/message-parts.js';

const NO_WAY_ON = { next: undefined, further: [], write: undefined, place: ' --data-dir /d' };

const END: RunEndView = {
  run: 'r',
  input: '/in.csv',
  portfolio: 'list',
  rows: 1,
  outcomes: { complete: 1, no_match: 0, needs_review: 0, invalid: 0, failed: 0, pending: 0 },
  invalid: [],
  due: 1,
  toDo: 0,
  departed: 0,
  departedFirst: [],
  watchAsked: 0,
  nextDueAt: null,
  stages: {},
  worked: true,
  moved: [],
  reveals: { email: 0, phone: 0 },
  contacts: null,
  spent: { units: 4, reports: 1, unknown: 0, unknownInBudget: 0 },
  left: { failed: 0, questions: 0, invalid: 0 },
  importantChanges: null,
  unitsCharged: 182,
  unknownCalls: 28,
  waiting: 0,
  parked: {},
  parkedUntil: null,
  putOff: false,
  helpers: 0,
  ledBy: null,
  refusedRows: 0,
  refusals: [],
  stopped: null,
  finished: true,
  interrupted: false,
  tables: null,
  tablesBefore: null,
  workbook: null,
  keptWorkbook: null,
  tablesLack: null,
  log: null,
  next: null,
  further: [],
};

const LISTS = '(`kybatch doubt --data-dir /d` lists them)';

test.each([
  [
    0,
    `182 units spent in run r, and 28 calls whose charge is unknown ${LISTS}; by this start: 4 units, 1 credit report.`,
  ],
  [
    3,
    `182 units spent in run r, and 28 calls whose charge is unknown ${LISTS}; by this start: 4 units, 1 credit report, and 3 of those calls.`,
  ],
  [
    28,
    `182 units spent in run r, and 28 calls whose charge is unknown ${LISTS}; by this start: 4 units, 1 credit report, and those calls.`,
  ],
])(
  'V1-5 a total of units is told with what may have been charged beside it, %i of it by this start',
  (unknown, line) => {
    expect(endInWords({ ...END, spent: { ...END.spent, unknown } }, NO_WAY_ON)).toContainEqual({
      code: 'UNITS_SPENT',
      text: line,
    });
  },
);

test('where every charge is known nothing is said of others', () => {
  const text = '182 units spent in run r; by this start: 4 units, 1 credit report.';
  expect(endInWords({ ...END, unknownCalls: 0 }, NO_WAY_ON)).toContainEqual({ code: 'UNITS_SPENT', text });
});

const STARTED: StartedEvent = {
  kind: 'started',
  run: 'r',
  rows: 9,
  outcomes: END.outcomes,
  toGo: 9,
  inDoubt: 0,
  unitsCharged: 0,
  goesOn: false,
  fresh: false,
  atMost: { units: 5, reports: 9, v2Calls: 0, reveals: { email: 0, phone: 0 } },
  asksV1: true,
  moreIfLost: false,
  reportsUnbound: true,
};

test('X-3 a start with a budget of units alone says what would bound its credit reports', () => {
  expect(inLines(startInWords(STARTED, ''))).toBe(
    'Run r: 9 rows to go, at most 5 v1 units and 9 credit reports (the budget is one of units; --max-reports bounds reports).\n',
  );
  expect(inLines(startInWords({ ...STARTED, reportsUnbound: false }, ''))).toBe(
    'Run r: 9 rows to go, at most 5 v1 units and 9 credit reports.\n',
  );
});

const PLAN: PlanView = {
  at: 0,
  sandbox: false,
  input: '/in.csv',
  portfolio: 'list',
  due: {},
  run: null,
  rows: 1,
  valid: 1,
  invalid: 0,
  invalidRows: [],
  invalidReasons: [],
  suggestedCountries: {},
  repaired: 0,
  repairs: {},
  needName: 0,
  needNameReasons: {},
  toPerson: 0,
  toPersonReasons: {},
  repeated: 0,
  owned: 1,
  toSearch: 0,
  toBuy: 0,
  units: { atLeast: 0, likely: 0, atMost: 0 },
  v2Calls: { atLeast: 0, atMost: 0 },
  creditReportsAtMost: 180,
  creditReportsAgainAtMost: 180,
  revealsAtMost: { email: 0, phone: 0 },
  allowance: null,
  days: { atLeast: 0, atMost: 0 },
  permissions: null,
  asksV1: false,
  guards: { rowsLost: null, failingAlike: null },
  inDoubt: 'resend',
  columns: { read: [], country: null, all: [] },
  refusedBy: null,
  remarks: {
    emptied: [],
    filled: [],
    damagedNames: [],
    damagedNameRows: 0,
    leftOut: [],
    leftOutLines: 0,
    surplus: [],
    surplusLines: 0,
  },
};

test.each([
  [180, '180 credit reports (all of them owned: bought again only where they have expired)'],
  [30, '180 credit reports (30 of them owned: bought again only where they have expired)'],
  [0, '180 credit reports\n'],
])('a plan says of %i reports that they are owned', (creditReportsAgainAtMost, words) => {
  expect(inLines(planInWords({ ...PLAN, creditReportsAgainAtMost }))).toContain(`that may cost, and up to ${words}`);
});

test('who was displaced as the leader names who leads now, and tells nobody to start it again', () => {
  const left = { finished: false, toDo: 33, outcomes: { ...END.outcomes, complete: 0, pending: 1 } };
  const codes = (end: RunEndView) => endInWords(end, NO_WAY_ON).map(({ code }) => code);
  expect(codes({ ...END, ...left })).toContain('ROWS_TO_DO');
  expect(codes({ ...END, ...left, ledBy: 'here:7' })).toContain('LED_ELSEWHERE');
  expect(codes({ ...END, ...left, ledBy: 'here:7' })).not.toContain('ROWS_TO_DO');
});
