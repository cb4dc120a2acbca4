import { expect, test } from 'vitest';
import { type AttemptResult, reasonsOf, summaryText } from '../../src/app/monitoring/notification-text.js';
import { ContinueError } from '../../src/app/run/next-step.js';
import type { RunEndView } from '../../src/app/run/run-end.js';
import { DeclinedError } from '../../src/app/run/spending.js';
import { ExitCode, UsageError } from '../../src/domain/errors.js';
import { LockedError } from '../../src/ledger/db/sqlite/connection.js';
import { RUN_END } from '../helpers/run-end.js';

const WELL: RunEndView = {
  ...RUN_END,
  rows: 2,
  outcomes: { ...RUN_END.outcomes, complete: 2 },
  due: 2,
  spent: { ...RUN_END.spent, units: 4 },
  unitsCharged: 4,
};
const stoppedWith = (exit: ExitCode) => ({ exit, code: 'X', message: '', hint: undefined });
const UNFINISHED = { finished: false, toDo: 1 } as const;

test.each<[string, Partial<RunEndView>, readonly string[]]>([
  ['all is well', {}, []],
  [
    'nothing was due, and old questions are open',
    { worked: false, outcomes: { ...WELL.outcomes, needs_review: 1 } },
    [],
  ],
  ['nothing was due, and a row waits for a person', { worked: false, ...UNFINISHED }, []],
  ['rows failed', { left: { failed: 1, questions: 0, invalid: 0 } }, ['failed']],
  ['something was asked', { left: { failed: 0, questions: 1, invalid: 0 } }, ['questions']],
  ['rows of this file cannot be read', { left: { failed: 0, questions: 0, invalid: 2 } }, ['invalid']],
  ['nothing was due, and companies have left', { worked: false, departed: 4 }, ['members_left']],
  ['an important change', { importantChanges: 2 }, ['important_change']],
  ['an unimportant change', { importantChanges: 0 }, []],
  ['it was stopped', UNFINISHED, ['stopped']],
  [
    'the key was refused on the way',
    { ...UNFINISHED, stopped: stoppedWith(ExitCode.credentials) },
    ['failed', 'stopped'],
  ],
  ['a scope was refused on the way', { ...UNFINISHED, parked: { scope: 1 } }, ['failed', 'stopped']],
  ['the provider was away', { ...UNFINISHED, stopped: stoppedWith(ExitCode.unavailable) }, ['stopped']],
  [
    'the tables are incomplete',
    { tablesLack: { answersNotExported: 1, cellsNotExported: 0, notWritten: [] } },
    ['failed'],
  ],
])('%s: %j notifies %j', (_, end, reasons) => {
  expect(reasonsOf({ end: { ...WELL, ...end } }, undefined)).toEqual(reasons);
});

test.each<[string, unknown, readonly string[]]>([
  ['a defect', new TypeError('x is no function'), ['failed']],
  ['a file that cannot be read', new UsageError('FILE_UNREADABLE', 'no such file'), ['failed']],
  ['another attempt is running', new LockedError('/data'), []],
  ['a no to a question', new DeclinedError(), []],
])('%s', (_, error, reasons) => {
  expect(reasonsOf({ error, after: null }, undefined)).toEqual(reasons);
});

const summaryOf = (ended: AttemptResult, interruptedAs?: ExitCode) =>
  JSON.parse(
    summaryText(ended, ['stopped'], { input: '/in.csv', of: { portfolio: 'list' } }, 0, {
      command: ({ kind }) => `kybatch ${kind}`,
      interruptedAs: () => interruptedAs,
    }),
  ) as Record<string, unknown>;

test('an interrupt has the exit code of its signal, and the next step is a command', () => {
  const end = { ...WELL, ...UNFINISHED, interrupted: true, next: { kind: 'resume', run: 'r' } as const };
  expect(summaryOf({ end }, ExitCode.terminated)).toMatchObject({
    exit_code: 143,
    next: 'kybatch resume',
    further: [],
  });
  const stopped = new ContinueError(
    'full',
    { kind: 'resume', run: 'r' },
    { code: 'DISK_FULL', exit: ExitCode.internal },
  );
  expect(summaryOf({ error: stopped, after: null })).toEqual({
    kybatch: expect.any(String),
    at: '1970-01-01T00:00:00.000Z',
    on: ['stopped'],
    exit_code: 1,
    reason: 'DISK_FULL',
    input: '/in.csv',
    portfolio: 'list',
    run: 'r',
    finished: false,
    error: { code: 'DISK_FULL', message: 'full' },
    next: 'kybatch resume',
    further: [],
  });
  // A list that can be read has the keys of any other message.
  const after = { list: end, step: { kind: 'doctor' } as const };
  expect(Object.keys(summaryOf({ error: stopped, after })).toSorted()).toEqual(
    [...Object.keys(summaryOf({ end })), 'error'].toSorted(),
  );
  expect(summaryOf({ error: new UsageError('KEY_MISSING', 'no key'), after })).toMatchObject({
    next: 'kybatch doctor',
  });
});

test('important changes are only counted if they were looked for', () => {
  expect(summaryOf({ end: WELL }).this_start).not.toHaveProperty('important_changes');
  expect(summaryOf({ end: { ...WELL, importantChanges: 3 } }).this_start).toHaveProperty('important_changes', 3);
});
