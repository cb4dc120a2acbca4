import { describe, expect, test } from 'vitest';
import { loadPipeline } from '../../src/config/pipeline.js';
import { ManualClock } from '../../src/util/clock.js';
import { SteppingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { chargedAgain, chargesByOperation } from '../helpers/sandbox.js';
import {
  findPlainCompany,
  idOf,
  lineOf,
  present,
  reportOptionsOf,
  turns,
  wholeCompanies,
  withWorkshop,
} from './support.js';

const HOUR = 3_600_000;

/** The provider's charges for companies that every module knows, if each answer is bought once. */
const oncePer = (companies: number) => ({
  searchKyb: companies,
  fullKyb: companies,
  kybSearch: companies,
  financial: companies,
  creditReportGenerate: companies,
});

describe('a row through its stages', () => {
  long('V1-1 every stage is done, each answer is bought once, and the ledger agrees with the provider', async () => {
    await withWorkshop({}, async ({ sandbox, open, work, rows, calls }) => {
      const run = await open(wholeCompanies(sandbox, 6).map((company) => lineOf(company)));
      const end = await work(run);
      expect(end).toMatchObject({ finished: true, interrupted: false, stopped: undefined });
      expect(end.progress.byOutcome).toMatchObject({ complete: 6, failed: 0, pending: 0 });
      for (const row of await rows(run)) {
        expect(row.stages).toEqual({ record: 'done', financials: 'done', 'credit-report': 'done' });
        expect(row.unitsCharged).toBe(2);
      }
      const charged = calls().filter((call) => call.charge === 'charged' && call.units_charged === 1);
      const log = sandbox.chargeLog.filter((charge) => charge.api === 'v1');
      expect(charged.map((call) => call.request_id).sort()).toEqual(log.map((charge) => charge.requestId).sort());
      expect(sandbox.reports).toHaveLength(6);
      expect(chargesByOperation(sandbox.chargeLog)).toEqual(oncePer(6));
      expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
    });
  });

  test('a company in two rows, and in a second run, is bought once', async () => {
    await withWorkshop({}, async ({ sandbox, open, work, rows }) => {
      const [company] = wholeCompanies(sandbox, 1);
      const line = lineOf(present(company));
      const run = await open([line, line, line]);
      await work(run);
      const units = (await rows(run)).map((row) => row.unitsCharged).sort();
      expect(units).toEqual([0, 0, 2]);
      const again = await open([line, line]);
      expect((await work(again)).progress).toMatchObject({ unitsCharged: 0 });
      expect(chargesByOperation(sandbox.chargeLog)).toEqual(oncePer(1));
      // The sandbox charges nothing for this search. Other accounts may be charged.
      expect(sandbox.requests.get('creditReportSearch')).toBe(1);
      expect(sandbox.reports).toHaveLength(1);
    });
  });

  long(
    'V1-4 a used up v1 allowance parks v1, and v2 buys nothing for companies without a compared record',
    async () => {
      const clock = new ManualClock();
      await withWorkshop({ clock, plan: 'free' }, async ({ sandbox, open, work, rows }) => {
        const run = await open(wholeCompanies(sandbox, 4).map((company) => lineOf(company)));
        const first = await work(run);
        expect(first).toMatchObject({ finished: false, stopped: undefined });
        expect(first.progress.byOutcome).toMatchObject({ complete: 1, pending: 3, failed: 0 });
        expect(first.progress.parkedReasons).toEqual({ allowance: 3 });
        const held = (await rows(run)).slice(1);
        for (const { stages } of held)
          expect(stages).toMatchObject({ record: 'parked', financials: 'parked', 'credit-report': 'parked' });
        expect(held.some((row) => idOf(row, 'v1') !== undefined)).toBe(true);
        expect(sandbox.reports).toHaveLength(1);
        const midnight = Date.parse('2026-01-06T00:00:00Z');
        expect((await rows(run)).map((row) => row.nextAt)).toEqual([null, midnight, midnight, midnight]);
        for (let day = 0; day < 3; day++) {
          clock.advance(24 * HOUR);
          await work(run);
        }
        expect((await rows(run)).every((row) => row.outcome === 'complete')).toBe(true);
        expect(chargesByOperation(sandbox.chargeLog)).toEqual(oncePer(4));
        expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
        expect(sandbox.reports).toHaveLength(4);
        expect(sandbox.requests.get('searchKyb')).toBe(4);
      });
    },
  );

  test('V2-1 a v2 limit holds only its own module, and record and reports continue', async () => {
    await withWorkshop({ v2Limits: { financial: { daily: 1 } } }, async ({ sandbox, open, work, rows }) => {
      const run = await open(wholeCompanies(sandbox, 4).map((company) => lineOf(company)));
      const end = await work(run);
      expect(end.progress.stages).toMatchObject({
        record: { done: 4 },
        financials: { done: 1, parked: 3 },
        'credit-report': { done: 4 },
      });
      expect(end.progress.parkedReasons).toEqual({ allowance: 3 });
      expect((await rows(run)).every((row) => row.outcome !== 'failed')).toBe(true);
    });
  });

  test('V1-10 a key refused during the run stops it, and no row is marked failed', async () => {
    await withWorkshop({}, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 12).map((company) => lineOf(company)));
      let settled = 0;
      const end = await work(run, {
        concurrency: 2,
        listen: ({ kind }) => {
          if (kind !== 'row_settled') return;
          settled += 1;
          if (settled === 3) sandbox.revoke(sandbox.keys.v1);
        },
      });
      expect(end.stopped).toMatchObject({ stop: 'credentials', code: 'UNAUTHENTICATED' });
      expect(end.progress.byOutcome).toMatchObject({ failed: 0 });
      expect(end.progress.byOutcome.pending).toBeGreaterThan(0);
      sandbox.restore(sandbox.keys.v1);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 12 });
      expect(chargesByOperation(sandbox.chargeLog)).toEqual(oncePer(12));
      expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
    });
  });

  long('an outage opens the breaker, and afterwards the run continues and pays once', async () => {
    await withWorkshop({ pipeline: { breaker: { failures: 5 }, stages: ['record'] } }, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 12).map((company) => lineOf(company)));
      sandbox.setFaults({ rate503: 1 });
      const end = await work(run);
      expect(end.stopped).toMatchObject({ stop: 'unavailable', code: 'PROVIDER_UNAVAILABLE' });
      expect(end.progress.byOutcome).toMatchObject({ pending: 12, failed: 0 });
      sandbox.setFaults({});
      expect((await work(run)).progress).toMatchObject({ unitsCharged: 24 });
    });
  });

  long('V1-10 a missing scope parks only the operation that needs it', async () => {
    await withWorkshop({}, async ({ sandbox, open, work, rows }) => {
      const run = await open(wholeCompanies(sandbox, 3).map((company) => lineOf(company)));
      sandbox.script('fullKyb', { status: 403, code: 'INSUFFICIENT_SCOPE' });
      const end = await work(run, { concurrency: 1 });
      expect(end.progress.parkedReasons).toEqual({ scope: 3 });
      expect(end.progress.stages).toMatchObject({ record: { parked: 3 }, financials: { done: 3 } });
      expect(sandbox.requests.get('fullKyb')).toBe(1);
      expect((await rows(run)).map((row) => idOf(row, 'v1')).every((id) => id !== undefined)).toBe(true);
    });
  });

  long('a limit holds for one attempt, also with parallel calls, and the next attempt has its own', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 10).map((company) => lineOf(company)));
      const end = await work(run, { budgetUnits: 7 });
      expect(end.progress.unitsCharged).toBe(7);
      expect(end.progress.parkedReasons.budget).toBeGreaterThan(0);
      expect(sandbox.chargeLog).toHaveLength(7);
      expect((await work(run, { budgetUnits: 7 })).progress.unitsCharged).toBe(14);
      expect((await work(run, { budgetUnits: 0 })).progress.unitsCharged).toBe(14);
      expect((await work(run, { budgetUnits: 20 })).progress.byOutcome).toMatchObject({ complete: 10 });
      expect(sandbox.chargeLog).toHaveLength(20);
    });
  });

  test('the limit of credit reports holds for one attempt', async () => {
    await withWorkshop({ pipeline: { budget: { units: null, creditReports: 2 } } }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 5).map((company) => lineOf(company)));
      expect((await work(run)).progress.parkedReasons).toEqual({ budget: 3 });
      expect(sandbox.reports).toHaveLength(2);
      expect((await work(run)).progress.parkedReasons).toEqual({ budget: 1 });
      expect(sandbox.reports).toHaveLength(4);
      expect(chargesByOperation(sandbox.chargeLog)).toEqual({ ...oncePer(5), creditReportGenerate: 4 });
      expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
    });
  });

  test('the first interrupt drains: calls in flight complete, rows stay pending, nothing fails', async () => {
    await withWorkshop({ faults: { latency: { medianMs: 3, p99Ms: 10 } } }, async ({ sandbox, open, work, calls }) => {
      const run = await open(wholeCompanies(sandbox, 12).map((company) => lineOf(company)));
      const drain = new AbortController();
      let settled = 0;
      const end = await work(run, {
        concurrency: 2,
        drain: drain.signal,
        listen: ({ kind }) => {
          if (kind !== 'row_settled') return;
          settled += 1;
          if (settled === 2) drain.abort();
        },
      });
      expect(end).toMatchObject({ interrupted: true, finished: false });
      expect(end.progress.byOutcome).toMatchObject({ failed: 0 });
      expect(calls().filter((call) => call.charge === null || call.charge === 'unknown')).toEqual([]);
      expect((await work(run)).progress).toMatchObject({ unitsCharged: 24 });
      expect(chargesByOperation(sandbox.chargeLog)).toEqual(oncePer(12));
      expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
    });
  });

  test('the second interrupt aborts calls in flight: their charge is unknown, and their rows stay pending', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async ({ sandbox, open, work, calls }) => {
      const run = await open(wholeCompanies(sandbox, 3).map((company) => lineOf(company)));
      sandbox.script('fullKyb', ['hang', 'hang', 'hang']);
      const drain = new AbortController();
      const abort = new AbortController();
      const ended = work(run, { drain: drain.signal, abort: abort.signal });
      while ((sandbox.requests.get('fullKyb') ?? 0) < 3) await turns(1);
      drain.abort();
      abort.abort();
      expect((await ended).progress.byOutcome).toMatchObject({ pending: 3, failed: 0 });
      const lost = calls().filter((call) => call.charge === 'unknown');
      expect(lost.map((call) => call.error_code)).toEqual(['ABORTED', 'ABORTED', 'ABORTED']);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 3 });
    });
  });

  test('an interrupt ends every pause: no call waits out a Retry-After', async () => {
    const clock = new ManualClock();
    await withWorkshop({ clock, pipeline: { stages: ['record'] } }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 4).map((company) => lineOf(company)));
      sandbox.script('searchKyb', Array(4).fill({ status: 429, code: 'RATE_LIMITED', retryAfter: 3000 }));
      const drain = new AbortController();
      const ended = work(run, { drain: drain.signal });
      while ((sandbox.requests.get('searchKyb') ?? 0) < 1) await turns(1);
      await turns(50);
      drain.abort();
      expect((await ended).progress.byOutcome).toMatchObject({ pending: 4, failed: 0 });
    });
  });

  long('retry processes only the failed rows, and requests only missing answers', async () => {
    await withWorkshop({}, async ({ sandbox, ledger, open, work, rows }) => {
      const run = await open(wholeCompanies(sandbox, 4).map((company) => lineOf(company)));
      sandbox.script('fullKyb', [400, 400]);
      const end = await work(run, { concurrency: 1 });
      expect(end.progress.byOutcome).toMatchObject({ complete: 2, failed: 2 });
      expect(end.progress.stages.record).toEqual({ done: 2, failed: 2 });
      expect(chargesByOperation(sandbox.chargeLog)).toEqual({ ...oncePer(2), searchKyb: 4 });
      expect(await ledger.runs.releaseFailed(run.id)).toHaveLength(2);
      expect((await ledger.runs.progress(run.id)).stages.record).toEqual({ done: 2, pending: 2 });
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 4 });
      expect(chargesByOperation(sandbox.chargeLog)).toEqual(oncePer(4));
      expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
      expect((await rows(run)).every((row) => row.errorCode === null)).toBe(true);
    });
  });

  test('X-1 a truncated answer is requested again, and nothing else is', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 2).map((company) => lineOf(company)));
      sandbox.script('fullKyb', 'truncatedJson');
      expect((await work(run)).progress).toMatchObject({ byOutcome: { complete: 2 }, unitsCharged: 5 });
    });
  });

  test('V1-21 the record of another company is a review question, and nothing further is bought', async () => {
    await withWorkshop({}, async ({ sandbox, open, work, rows }) => {
      const { registry } = sandbox;
      const company = findPlainCompany(
        sandbox,
        (other) => registry.traits(other).identityMismatch && registry.hasRecord(other),
      );
      const run = await open([lineOf(company)]);
      await work(run);
      expect(await rows(run)).toMatchObject([
        { outcome: 'needs_review', stage: 'record', errorCode: 'IDENTITY_MISMATCH' },
      ]);
      expect(sandbox.chargeLog.map((charge) => charge.operation)).toEqual(['searchKyb', 'fullKyb']);
    });
  });

  test('while v1 cannot be asked, an empty v2 search decides nothing', async () => {
    await withWorkshop({ plan: 'free', clock: new ManualClock() }, async ({ sandbox, open, work, rows }) => {
      while (sandbox.v1Remaining > 0) sandbox.dashboardUnlock();
      const nobody = ',Nobody Knows This Name,NL,99999998,';
      const run = await open([nobody]);
      await work(run);
      const [row] = await rows(run);
      expect(row).toMatchObject({ outcome: 'pending', hold: 'parked', holdReason: 'allowance' });
      expect(row?.stages).toEqual({ record: 'parked', financials: 'parked', 'credit-report': 'parked' });
    });
  });

  long('a report that becomes due between two looks is not missed', async () => {
    /** Time advances with every look at it. */
    class TickingClock extends ManualClock {
      override now(): number {
        const now = super.now();
        this.set(now + 1);
        return now;
      }
    }
    const clock = new TickingClock();
    await withWorkshop({ clock, reportDelayMs: 40 }, async ({ sandbox, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 5).map((company) => lineOf(company)));
      let done = false;
      const ended = work(run, { concurrency: 2 }).finally(() => {
        done = true;
      });
      while (!done) {
        clock.set(ManualClock.prototype.now.call(clock) + 1);
        await turns(1);
      }
      expect((await ended).progress.byOutcome).toMatchObject({ complete: 5 });
    });
  });

  long('V2-6 hundreds of reports wait at once with two slots, because a waiting report holds none', async () => {
    const clock = new SteppingClock();
    const report = reportOptionsOf(loadPipeline('analyst', process.cwd()));
    const options = {
      clock,
      prepared: true,
      reportDelayMs: 120_000,
      pipeline: { stages: ['credit-report'], report },
    };
    await withWorkshop(options, async ({ sandbox, ledger, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 150).map((company) => lineOf(company)));
      const ended = work(run, { concurrency: 2 });
      while ((await ledger.runs.progress(run.id)).waiting < 150) await turns(50);
      expect(sandbox.requests.get('creditReportStatus') ?? 0).toBe(0);
      expect((await clock.stepUntilEnd(ended, 2000)).progress.byOutcome).toMatchObject({ complete: 150 });
      expect(sandbox.reports).toHaveLength(150);
      expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
    });
  });
});
