import { describe, expect, test } from 'vitest';
import { LedgerError } from '../../src/domain/errors.js';
import { ManualClock } from '../../src/util/clock.js';
import { long } from '../helpers/long.js';
import { idOf, lineOf, present, turns, wholeCompanies, withWorkshop } from './support.js';

const reportsOnly = { stages: ['credit-report'] };

describe('credit reports in trouble (V2-6)', () => {
  test.each([
    ['was executed', 'lostAnswer', 'charged'],
    ['was not executed', 'resetBefore', 'unknown'],
    ['was cut in the middle', 'resetMidBody', 'charged'],
    ['cannot be read', 'truncatedJson', 'charged'],
  ] as const)('a generate call that %s ends in one report', async (_, fault, charge) => {
    await withWorkshop({ pipeline: reportsOnly }, async ({ sandbox, open, work, calls }) => {
      const run = await open(wholeCompanies(sandbox, 2).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', fault);
      const end = await work(run);
      expect(sandbox.reports).toHaveLength(2);
      // If the history shows the report, it has settled the charge.
      const doubtful = calls().filter((call) => call.charge === 'unknown' || call.reconciled !== null);
      expect(doubtful).toMatchObject([{ operation: 'creditReportGenerate', charge }]);
      expect(sandbox.requests.get('creditReportHistory')).toBeGreaterThanOrEqual(2);
      expect(end.progress.byOutcome).toMatchObject({ complete: 2 });
    });
  });

  test('an operation without freshness is still not generated twice', async () => {
    const pipeline = { ...reportsOnly, freshnessMs: {} };
    await withWorkshop({ reportDelayMs: 30, pipeline }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 3).map((company) => lineOf(company)));
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 3 });
      expect(sandbox.reports).toHaveLength(3);
    });
  });

  test('another data directory opens a report from the history again, free', async () => {
    await withWorkshop({ pipeline: reportsOnly }, async ({ sandbox, v2, open, work, rows }) => {
      const [company] = wholeCompanies(sandbox, 1);
      if (company === undefined) throw new Error('no company');
      const params = { source_id: company.sourceId, country: company.countryCode };
      await v2.call('creditReportGenerate', params);
      const run = await open([lineOf(company)]);
      await work(run);
      const [row] = await rows(run);
      expect(row).toMatchObject({ outcome: 'complete' });
      expect(row && idOf(row, 'report')).toBe(String(sandbox.reports[0]?.id));
      expect(sandbox.reports).toHaveLength(1);
    });
  });

  test('V2-1 waiting rows are parked until the next day with their report when their module closes', async () => {
    const clock = new ManualClock();
    await withWorkshop({ clock, reportDelayMs: 10_000, pipeline: reportsOnly }, async (workshop) => {
      const { sandbox, ledger, open, work, rows } = workshop;
      const run = await open(wholeCompanies(sandbox, 3).map((company) => lineOf(company)));
      const limit = {
        access: { permission: 'credit_report', permission_name: '', module: 'credit_report', module_name: '' },
        error_guard: 'limits.daily',
        message_guard: 'spent',
      };
      sandbox.script('creditReportStatus', { reply: { status: 403, body: JSON.stringify(limit) } });
      const ended = work(run, { concurrency: 1 });
      while ((await ledger.runs.progress(run.id)).waiting < 3) await turns(5);
      clock.advance(60_000);
      expect((await ended).progress.parkedReasons).toEqual({ allowance: 3 });
      const midnight = Date.parse('2026-01-06T00:00:00Z');
      for (const row of await rows(run)) {
        expect(row).toMatchObject({ hold: 'parked', nextAt: midnight, stages: { 'credit-report': 'parked' } });
        expect(idOf(row, 'report')).toBeDefined();
      }
      clock.set(midnight);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 3 });
      expect(sandbox.reports).toHaveLength(3);
    });
  });
});

describe('a ledger that cannot be written', () => {
  long.each([
    ['calls', 'intend', 5],
    ['calls', 'settle', 5],
    ['calls', 'close', 1],
    ['runs', 'settleRow', 5],
  ] as const)('%s.%s: the run ends, and no row begins', async (room, method, time) => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async ({ sandbox, ledger, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 20).map((company) => lineOf(company)));
      // The provider refuses an operation, which is recorded.
      if (method === 'close') sandbox.script('fullKyb', ['none', 'none', { status: 403, code: 'INSUFFICIENT_SCOPE' }]);
      let calls = 0;
      const store = ledger[room] as unknown as Readonly<Record<string, (...all: never[]) => Promise<unknown>>>;
      const failing = (...args: never[]) => {
        calls += 1;
        if (calls === time) return Promise.reject(new LedgerError(new Error('disk full')));
        return present(store[method])(...args);
      };
      const broken = { ...ledger, [room]: { ...ledger[room], [method]: failing } };
      await expect(work(run, { ledger: broken, concurrency: 2 })).rejects.toThrow(/disk full/);
      expect(sandbox.requests.get('searchKyb')).toBeLessThan(12);
      expect((await ledger.runs.progress(run.id)).byOutcome).toMatchObject({ failed: 0 });
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 20 });
    });
  });

  test('a process that was taken over stops, and marks no row', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async ({ sandbox, ledger, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 3).map((company) => lineOf(company)));
      const fenced = { ...ledger, calls: { ...ledger.calls, settle: async () => false } };
      await expect(work(run, { ledger: fenced })).rejects.toMatchObject({ code: 'TAKEN_OVER' });
      expect((await ledger.runs.progress(run.id)).byOutcome).toMatchObject({ pending: 3 });
    });
  });
});

test('a defect in one row fails that row, with its stack, and no other', async () => {
  await withWorkshop({ pipeline: { stages: ['record'] } }, async ({ sandbox, ledger, open, work, rows, query }) => {
    const run = await open(wholeCompanies(sandbox, 4).map((company) => lineOf(company)));
    let asked = 0;
    const findAnswer: typeof ledger.calls.findAnswer = async (...args) => {
      asked += 1;
      if (asked === 2) throw new RangeError('odd');
      return await ledger.calls.findAnswer(...args);
    };
    const odd = { ...ledger, calls: { ...ledger.calls, findAnswer } };
    const end = await work(run, { ledger: odd, concurrency: 1 });
    expect(end.progress.byOutcome).toMatchObject({ complete: 3, failed: 1 });
    expect((await rows(run)).filter((row) => row.errorCode === 'INTERNAL_ERROR')).toHaveLength(1);
    expect(query<{ message: string }>('SELECT message FROM errors')[0]?.message).toMatch(/RangeError: odd\n\s+at /);
  });
});
