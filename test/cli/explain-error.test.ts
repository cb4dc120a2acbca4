import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.js';
import { ParkedError } from '../../src/app/provider/direct-calls.js';
import { explainError } from '../../src/cli/cli.js';
import { LedgerError, TakenOverError, UsageError } from '../../src/domain/errors.js';
import { LockedError } from '../../src/ledger/db/sqlite/connection.js';

const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });

describe('an error in words and as an exit code', () => {
  test.each([
    ['usage', new UsageError('FLAG_NOT_FOUND', 'no such flag', 'try --help'), 2, 'FLAG_NOT_FOUND', /^no such flag$/],
    ['lock', new LockedError('/d'), 75, 'LOCKED', / \/d/],
    ['taken over', new TakenOverError(), 75, 'TAKEN_OVER', /./],
    ['scope', new ParkedError({ kind: 'parked', reason: 'scope', message: 'm', until: null }), 5, 'SCOPE', /^m$/],
    [
      'allowance',
      new ParkedError({ kind: 'parked', reason: 'allowance', message: 'm', until: 0 }),
      4,
      'ALLOWANCE',
      /m/,
    ],
    [
      'in_doubt',
      new ParkedError({ kind: 'parked', reason: 'in_doubt', message: 'm', until: null }),
      6,
      'IN_DOUBT',
      /^m$/,
    ],
    [
      'unanswered',
      new ParkedError({ kind: 'parked', reason: 'unanswered', message: 'm', until: null }),
      6,
      'UNANSWERED',
      /^m$/,
    ],
    [
      'ask_provider',
      new ParkedError({ kind: 'parked', reason: 'ask_provider', message: 'm', until: null }),
      6,
      'ASK_PROVIDER',
      /^m$/,
    ],
    [
      'full disk',
      new LedgerError(full, '/d/kybatch.db'),
      1,
      'DISK_FULL',
      /^DISK_FULL: .*\/d\/kybatch.db: .*SQLITE_FULL/,
    ],
  ])('%s', (_, error, exit, code, message) => {
    const explained = explainError(error);
    expect(explained).toMatchObject({ exit, view: { code, message: expect.stringMatching(message) } });
  });

  test('a call: with its class and the provider’s request', () => {
    const error = new ApiError({
      class: 'retry',
      code: 'SERVER_ERROR',
      message: 'm',
      hint: 'h',
      api: 'v1',
      operation: 'fullKyb',
      charge: 'free',
      httpStatus: 500,
      requestId: 'r1',
    });
    const view = { message: 'm (500 SERVER_ERROR, request r1)', class: 'retry', http_status: 500, request_id: 'r1' };
    expect(explainError(error)).toMatchObject({ exit: 6, view });
  });

  test.each([
    ['anything else', new RangeError('odd'), /RangeError: odd\n\s+at /],
    [
      'a failed write without an error of the system',
      new LedgerError(new TypeError('odd')),
      /: TypeError: odd\n\s+at /,
    ],
    ['a thrown text', 'odd', /^odd$/],
  ])('%s is a defect, with its stack', (_, error, message) => {
    const view = { code: 'INTERNAL', message: expect.stringMatching(message), hint: expect.any(String) };
    expect(explainError(error)).toEqual({ exit: 1, view });
  });
});
