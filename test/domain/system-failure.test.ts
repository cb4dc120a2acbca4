import { describe, expect, test } from 'vitest';
import {
  asOpenError,
  asWriteError,
  KybatchError,
  LedgerError,
  systemFailure,
  UsageError,
} from '../../src/domain/errors.js';

const withCode = (code: string) => Object.assign(new Error('refused'), { code });

describe('errors of the machine', () => {
  test.each([
    ['ENOSPC', 'DISK_FULL'],
    ['EDQUOT', 'DISK_FULL'],
    ['SQLITE_FULL', 'DISK_FULL'],
    ['SQLITE_IOERR_SHMSIZE', 'DISK_FULL'],
    ['EROFS', 'READ_ONLY'],
    ['SQLITE_READONLY', 'READ_ONLY'],
    ['SQLITE_READONLY_DBMOVED', 'READ_ONLY'],
    ['EACCES', 'NO_PERMISSION'],
    ['EPERM', 'NO_PERMISSION'],
    ['SQLITE_CANTOPEN', 'NO_PERMISSION'],
    ['SQLITE_CORRUPT', 'LEDGER_DAMAGED'],
    ['SQLITE_CORRUPT_INDEX', 'LEDGER_DAMAGED'],
    ['SQLITE_NOTADB', 'LEDGER_DAMAGED'],
    ['EIO', 'IO_ERROR'],
    ['EFBIG', 'IO_ERROR'],
    ['SQLITE_IOERR_WRITE', 'IO_ERROR'],
  ])('%s is %s, with a hint', (given, code) => {
    expect(systemFailure(withCode(given))).toMatchObject({ code, what: expect.stringContaining(given) });
    expect(new LedgerError(withCode(given), '/d/kybatch.db')).toMatchObject({
      code,
      exit: 1,
      message: expect.stringContaining('/d/kybatch.db'),
      hint: expect.stringMatching(/\w/),
    });
    expect(asWriteError(withCode(given), '/out/rows.csv')).toMatchObject({ code, exit: 1 });
  });

  test.each([
    ['a constraint of SQLite', withCode('SQLITE_CONSTRAINT_NOTNULL')],
    ['an error without a code', new RangeError('odd')],
    ['no error at all', 'odd'],
  ])('%s is not an error of the machine, and stays unchanged', (_, cause) => {
    expect(systemFailure(cause)).toBeUndefined();
    expect(asWriteError(cause, '/out')).toBe(cause);
    expect(asOpenError(cause, '/out')).toBe(cause);
    expect(new LedgerError(cause)).toMatchObject({ code: 'INTERNAL', exit: 1 });
  });

  test('an unusable path from the user is a usage error, but a full disk there is not', () => {
    expect(asOpenError(withCode('EACCES'), 'the folder /out')).toMatchObject({ code: 'NO_PERMISSION', exit: 2 });
    expect(asOpenError(withCode('ENOTDIR'), 'the folder /out')).toBeInstanceOf(UsageError);
    expect(asOpenError(withCode('ENOSPC'), 'the folder /out')).toMatchObject({ code: 'DISK_FULL', exit: 1 });
  });

  test('an error already in words stays unchanged', () => {
    const error = new KybatchError('x', { code: 'X', exit: 4 });
    expect(asWriteError(error, '/out')).toBe(error);
    expect(asOpenError(error, '/out')).toBe(error);
  });
});
