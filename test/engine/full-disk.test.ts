/** @module-tag long */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LedgerError } from '../../src/domain/errors.js';
import { readInput } from '../../src/input/read-input.js';
import type { LedgerOptions } from '../../src/ledger/ledger.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { openRun } from '../helpers/open-run.js';
import { lineOf, settingsOf, type Workshop, wholeCompanies, withWorkshop, writeInput } from './support.js';

type OpenLimits = Pick<LedgerOptions, 'pagesAtMost' | 'freeBytes'>;

const ROWS = 30;
/** A row takes a search and a record. */
const CALLS = 2 * ROWS;
const CONCURRENCY = 4;
/** Sent, or answered but not yet recorded. */
const IN_FLIGHT_AT_MOST = 2 * CONCURRENCY;
/** The disk is checked at the first call, and then once in this many calls. */
const CALLS_PER_LOOK = 16;

/** Runs on a ledger with this disk, then on one with room. */
async function startOn(limits: OpenLimits, { sandbox, dataDir, clock, pipeline, work }: Workshop) {
  const folder = { dataDir: join(dataDir, 'small'), access: 'write' } as const;
  const path = join(dataDir, 'in.csv');
  const lines = wholeCompanies(sandbox, ROWS).map((company) => lineOf(company));
  writeInput(path, lines);
  const go = async (on: OpenLimits, rowsOnly = false) => {
    const ledger = await openLedger({ ...folder, now: clock.now(), ...on });
    try {
      const run = await openRun(await readInput(path), settingsOf(pipeline()), ledger, clock);
      return rowsOnly ? undefined : await work(run, { ledger, concurrency: CONCURRENCY });
    } finally {
      // Closes it in any case: a second ledger can be opened only when the lock is released.
      await ledger.close();
    }
  };
  await go({}, true);
  const failure = await go(limits).catch((error: unknown) => error);
  return { failure, asked: sandbox.requestLog.length, again: () => go({}) };
}

describe('a full disk', () => {
  test('if SQLite is full, the run ends with the cause, no row fails, no call follows, and it continues with space', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async (workshop) => {
      // Fewer pages than it has keep it from growing.
      const { failure, asked, again } = await startOn({ pagesAtMost: 1 }, workshop);
      expect(failure).toBeInstanceOf(LedgerError);
      expect(failure).toMatchObject({ code: 'DISK_FULL', exit: 1, message: expect.stringContaining('SQLITE_FULL') });
      expect(asked).toBeGreaterThan(2);
      expect(asked).toBeLessThan(CALLS - IN_FLIGHT_AT_MOST);
      expect((await again())?.progress.byOutcome).toMatchObject({ complete: ROWS, failed: 0 });
      // Only calls that were in flight can be lost.
      expect(workshop.sandbox.chargeLog.length - CALLS).toBeLessThanOrEqual(IN_FLIGHT_AT_MOST);
    });
  });

  test('if the disk is nearly full, calls in flight finish, and nothing is paid twice', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async (workshop) => {
      const enough = [20_000_000, 12_000_000];
      const looks = enough.length;
      const { failure, asked, again } = await startOn({ freeBytes: () => enough.shift() ?? 7_000_000 }, workshop);
      expect(failure).toMatchObject({ code: 'DISK_FULL', exit: 1, message: expect.stringContaining('kybatch.db') });
      expect(asked).toBe(looks * CALLS_PER_LOOK);
      expect((await again())?.progress.byOutcome).toMatchObject({ complete: ROWS, failed: 0 });
      expect(workshop.sandbox.chargeLog).toHaveLength(CALLS);
    });
  });

  test('the write-ahead log gives its space back before a run stops', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async (workshop) => {
      const freeBytes = (path: string) => (statSync(`${path}-wal`).size > 0 ? 7_000_000 : 9_000_000);
      const { failure, asked } = await startOn({ freeBytes }, workshop);
      expect(failure).not.toBeInstanceOf(Error);
      expect(asked).toBe(CALLS);
    });
  });
});
