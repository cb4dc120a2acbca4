import { expect, test } from 'vitest';
import type { CheckView } from '../../src/app/monitoring/check.js';
import type { PlanView } from '../../src/app/run/plan.js';
import type { RunEndView } from '../../src/app/run/run-end.js';
import type { StartedEvent } from '../../src/app/run/spending.js';
import { movedInWords } from '../../src/cli/terminal/allowance-words.js';
import { checkInWords } from '../../src/cli/terminal/check-words.js';
import { planInWords } from '../../src/cli/terminal/plan-words.js';
import { endInWords } from '../../src/cli/terminal/run-end-words.js';
import { startInWords } from '../../src/cli/terminal/run-words.js';
import { withPlace } from '../../src/cli/terminal/text.js';
import { wrapped } from '../../src/cli/terminal/view.js';
import { mapTexts } from '../../src/util/message-parts.js';
import { inLines } from '../helpers/messages.js';
import { RUN_END } from '../helpers/run-end.js';

const NO_WAY_ON = { next: undefined, further: [], write: undefined, resume: undefined };

const END: RunEndView = {
  ...RUN_END,
  spent: { units: 4, reports: 1, unknown: 0, unknownInBudget: 0 },
  unitsCharged: 182,
  unknownCalls: 28,
};

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
  atMost: { units: 5, reports: 9, v2Calls: 0, calls: {}, reveals: { email: 0, phone: 0 }, held: 0 },
  asksV1: true,
  moreIfLost: false,
  reportsUnbound: true,
  hasSameLimits: false,
  limits: { units: 5, reports: null },
};

const PLAN: PlanView = {
  at: 0,
  sandbox: false,
  input: '/in.csv',
  pipeline: 'analyst',
  portfolio: 'list',
  due: {},
  disk: { bytes: 1e5, free: null },
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
  needsReview: 0,
  afterReview: { units: 0, reports: 0 },
  repeatedRows: [],
  upToDate: 0,
  held: 0,
  repeated: 0,
  owned: 1,
  toSearch: 0,
  toBuy: 0,
  units: { atLeast: 0, likely: 0, atMost: 0 },
  v2Calls: { atLeast: 0, atMost: 0 },
  creditReportsAtMost: 180,
  purchases: {
    atLeast: { units: 0, reports: 0, calls: {} },
    likely: { units: 0, reports: 0, calls: {} },
    atMost: { units: 0, reports: 180, calls: {} },
  },
  creditReportsAgainAtMost: 180,
  revealsAtMost: { email: 0, phone: 0 },
  allowance: null,
  days: { atLeast: 0, atMost: 0 },
  permissions: null,
  asksV1: false,
  guards: { rowsLost: null, failingAlike: null },
  inDoubt: 'resend',
  limits: { units: null, creditReports: null },
  columns: { read: [], country: null, all: [] },
  refusedBy: null,
  refusals: [],
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

test('a displaced leader names the new leader, and suggests no other attempt', () => {
  const left = { finished: false, toDo: 33, outcomes: { ...END.outcomes, complete: 0, pending: 1 } };
  const codes = (end: RunEndView) => endInWords(end, NO_WAY_ON).map(({ code }) => code);
  expect(codes({ ...END, ...left })).toContain('ROWS_TO_DO');
  expect(codes({ ...END, ...left, ledBy: 'here:7' })).toContain('LED_ELSEWHERE');
  expect(codes({ ...END, ...left, ledBy: 'here:7' })).not.toContain('ROWS_TO_DO');
});

test('a paused run with questions names the command that continues once', () => {
  const resume = { code: 'RESUME_NEXT', words: 'Continue', command: 'kybatch resume r' } as const;
  const review = { code: 'REVIEW_NEXT', words: 'Answer', command: 'kybatch review apply q.csv' } as const;
  const outcomes = { ...END.outcomes, complete: 0, pending: 1, needs_review: 1 };
  const end = { ...END, rows: 2, finished: false, toDo: 1, outcomes };
  const times = (ways: Parameters<typeof endInWords>[1]) =>
    inLines(endInWords(end, ways)).split(/^ +kybatch resume r$/m).length - 1;
  expect(times({ ...NO_WAY_ON, next: resume, further: [review], resume })).toBe(1);
  expect(times({ ...NO_WAY_ON, next: review, resume })).toBe(1);
});

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

const OPEN = { kind: 'in_doubt', count: 9, toDecide: 6, paidInVain: 0 } as const;
const DRIFT = { kind: 'drift', api: 'v1', environment: 'e', permission: null, units: 58, count: 58 } as const;
const LIST: CheckView['lists'][number] = {
  name: 'in.csv',
  lastSuccessAt: 0,
  troubles: [{ kind: 'failed', count: 2 }],
  toDo: 0,
  left: 0,
  next: { kind: 'retry', run: 'r' },
  afterDoctor: null,
  sandbox: false,
  given: {},
};

/** The messages about these figures, in each case with its own words. */
test('V1-5 V2-3 X-3 sums in words', async () => {
  const spent = (unknown: number, unknownCalls = END.unknownCalls) =>
    mapTexts(
      endInWords({ ...END, unknownCalls, spent: { ...END.spent, unknown } }, NO_WAY_ON).filter(
        ({ code }) => code === 'UNITS_SPENT',
      ),
      (text) => withPlace(text, ' --data-dir /d'),
    );
  const counted = (outcomes: Partial<RunEndView['outcomes']>, toDo: number) =>
    endInWords(
      {
        ...END,
        rows: 56,
        outcomes: { ...END.outcomes, ...outcomes },
        toDo,
        parked: { in_doubt: toDo },
        finished: false,
        tables: '/t',
      },
      NO_WAY_ON,
    ).filter(({ code }) => ['ROWS_COUNTED', 'TABLES_PARTIAL', 'TABLES_SHOW_BEFORE'].includes(code));
  const planned = (creditReportsAgainAtMost: number) =>
    planInWords({ ...PLAN, creditReportsAgainAtMost }).filter(({ code }) => code === 'COST');
  const inCheck = (troubles: CheckView['troubles'], lists: CheckView['lists'] = []) =>
    mapTexts([checkInWords({ at: 0, well: false, lists, troubles }, { dataDir: '/d' })], (text) => wrapped(text, 80));
  const unknown = (toDecide: number, next: number, paidInVain = 0) =>
    inCheck([{ kind: 'in_doubt', count: toDecide + next, toDecide, paidInVain }]);
  const used = movedInWords([
    moved('search', 'day', 1, 3, 1000),
    moved('reports', 'day', 9, 1, 10),
    moved('search', 'plan', 5, 7, 7),
    moved('reports', 'plan', 9, 12, null),
    moved('people', 'day', 4, 0, 0),
  ]);
  expect(used).toHaveLength(1);
  expect(movedInWords([])).toEqual([]);
  const cases = {
    'calls of unknown charge, none of them by this start': spent(0),
    'calls of unknown charge, three of them by this start': spent(3),
    'calls of unknown charge, all of them by this start': spent(28),
    'every charge is known': spent(0, 0),
    'rows to do that keep earlier answers, beside rows without any': counted({ complete: 54, pending: 2 }, 14),
    'rows to do that all keep earlier answers': counted({ complete: 56 }, 14),
    'rows to do without an answer': counted({ complete: 42, pending: 14 }, 14),
    'a start that leaves rows on hold': mapTexts(startInWords({ ...STARTED, toGo: 2, inDoubt: 12 }), (text) =>
      wrapped(text, 80),
    ),
    'a start that can continue no row': startInWords({ ...STARTED, toGo: 0, inDoubt: 12 }),
    'a limit of units alone': startInWords(STARTED),
    'a limit of units and of reports': startInWords({ ...STARTED, reportsUnbound: false }),
    'a plan of reports that are all stored': planned(180),
    'a plan of reports of which some are stored': planned(30),
    'a plan of reports that are new': planned(0),
    'calls that the next run repeats': unknown(0, 3),
    'calls to decide about': unknown(3, 0),
    'calls of all kinds': unknown(2, 1),
    'calls that were charged without an answer': unknown(0, 0, 2),
    'calls of all kinds, and charged ones': unknown(2, 1, 2),
    'calls to decide about, and drift': inCheck([OPEN, DRIFT]),
    'drift beside a list with its own step': inCheck([OPEN, DRIFT], [LIST]),
    'permissions that were used': used,
  };
  const text = Object.entries(cases).map(([name, messages]) => `# ${name}\n${inLines(messages)}`);
  await expect(text.join('\n')).toMatchFileSnapshot('golden/sums.txt');
});
