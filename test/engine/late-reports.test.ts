import { describe, expect, test } from 'vitest';
import { writeTables } from '../../src/app/run/export.js';
import { planRun, rowsOfRun } from '../../src/engine/plan.js';
import type { Fault } from '../../src/sandbox/index.js';
import { readTable } from '../export/support.js';
import { SteppingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { flush } from '../ledger/support.js';
import { idOf, lineOf, turns, type Workshop, type WorkshopOptions, wholeCompanies, withWorkshop } from './support.js';

const MINUTE = 60_000;
const patient = {
  stages: ['credit-report'],
  report: { firstPollMs: 5_000, pollAtMostMs: 30_000, giveUpAfterMs: 30 * MINUTE, lookForMs: 5 * MINUTE },
};

/** Advances time in steps of a few seconds until the run has ended. */
async function until<T>({ ledger }: Workshop, clock: SteppingClock, ended: Promise<T>): Promise<T> {
  let over = false;
  ended.finally(() => {
    over = true;
  });
  while (!over) {
    await turns(30);
    await flush(ledger);
    clock.step(4_000);
  }
  return await ended;
}

async function withLateReports(
  options: WorkshopOptions,
  use: (workshop: Workshop, clock: SteppingClock) => Promise<void>,
): Promise<void> {
  const clock = new SteppingClock();
  await withWorkshop({ pipeline: patient, ...options, clock }, (workshop) => use(workshop, clock));
}

const generated = ({ sandbox }: Workshop) => sandbox.requests.get('creditReportGenerate');

describe('V2-17 a report that appears late in the history is not generated twice', () => {
  long.each<[string, Fault, number, number | undefined]>([
    ['lost, and listed when it is finished, after three minutes', 'lostAnswer', 3 * MINUTE, 0],
    ['lost, finished at once and listed twelve seconds later', 'lostAnswer', 0, 12_000],
    ['failed after its work, and listed a minute after it is finished', { failAfterWork: 500 }, 3 * MINUTE, MINUTE],
    ['answered in a form that cannot be read', { failAfterWork: 200, text: '<html>' }, 2 * MINUTE, 5_000],
  ])('%s', async (_, fault, reportDelayMs, historyLagMs) => {
    await withLateReports({ reportDelayMs, historyLagMs }, async (workshop, clock) => {
      const { sandbox, open, work, rows, calls } = workshop;
      const run = await open(wholeCompanies(sandbox, 2).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', [fault, fault]);
      const end = await until(workshop, clock, work(run));
      expect(end.progress.byOutcome).toMatchObject({ complete: 2 });
      expect(sandbox.reports).toHaveLength(2);
      expect(generated(workshop)).toBe(2);
      const ids = (await rows(run)).map((row) => idOf(row, 'report')).sort();
      expect(ids).toEqual(sandbox.reports.map(({ id }) => String(id)));
      const booked = calls().filter(({ operation }) => operation === 'creditReportGenerate');
      expect(booked.map(({ charge }) => charge)).toEqual(['charged', 'charged']);
    });
  });

  test('a later attempt continues the looks and does not generate it either', async () => {
    await withLateReports({ reportDelayMs: 0, historyLagMs: 4 * MINUTE }, async (workshop, clock) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      const death = new AbortController();
      sandbox.script('creditReportGenerate', 'lostAnswer');
      const listen = ({ kind }: { readonly kind: string }) => {
        if (kind === 'row_settled') death.abort();
      };
      await work(run, { drain: death.signal, listen });
      expect((await until(workshop, clock, work(run))).progress.byOutcome).toMatchObject({ complete: 1 });
      expect(sandbox.reports).toHaveLength(1);
    });
  });

  long('a report that never appears while generating is down is left to the next attempt', async () => {
    const pipeline = { ...patient, patienceMs: 60 * MINUTE };
    await withLateReports({ pipeline }, async (workshop, clock) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 4).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', Array(99).fill(503));
      const end = await until(workshop, clock, work(run));
      expect(end.stopped).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', exit: 6 });
      expect(end.progress).toMatchObject({ byOutcome: { pending: 4 }, parkedReasons: {}, waiting: 0 });
      expect(generated(workshop)).toBe(4);
      sandbox.clearScript();
      expect((await until(workshop, clock, work(run))).progress.byOutcome).toMatchObject({ complete: 4 });
      expect(sandbox.reports).toHaveLength(4);
    });
  });

  test('a report that never appears is generated again once it can no longer come, and no sooner', async () => {
    await withLateReports({}, async (workshop, clock) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', 503);
      const times: number[] = [];
      const began = clock.now();
      const listen = (event: { readonly kind: string }) => {
        if (event.kind === 'call_settled') times.push(clock.now() - began);
      };
      const end = await until(workshop, clock, work(run, { listen }));
      expect(end.progress.byOutcome).toMatchObject({ complete: 1 });
      expect(generated(workshop)).toBe(2);
      const looks = sandbox.requests.get('creditReportHistory') ?? 0;
      // One look before, then looks with growing waits instead of one a second.
      expect(looks).toBeGreaterThan(8);
      expect(looks).toBeLessThan(30);
      expect(Math.max(...times)).toBeGreaterThan(5 * MINUTE);
      expect(sandbox.reports).toHaveLength(1);
    });
  });

  long('rows with unknown charges at the same time share their looks, and others continue meanwhile', async () => {
    await withLateReports({ historyLagMs: 2 * MINUTE }, async (workshop, clock) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 12).map((company) => lineOf(company)));
      sandbox.script(
        'creditReportGenerate',
        Array.from({ length: 12 }, (_, index) => (index % 2 === 1 ? 'none' : 'lostAnswer')),
      );
      const end = await until(workshop, clock, work(run, { concurrency: 2 }));
      expect(end.progress.byOutcome).toMatchObject({ complete: 12 });
      expect(sandbox.reports).toHaveLength(12);
      expect(sandbox.requests.get('creditReportHistory')).toBeLessThan(60);
    });
  });
});

long('a report that the provider no longer knows is asked for with growing pauses, and holds no other', async () => {
  // With a patience shorter than the wait, an outage would end the run.
  const pipeline = { ...patient, patienceMs: MINUTE };
  await withLateReports({ pipeline, reportDelayMs: 3 * MINUTE }, async (workshop, clock) => {
    const { sandbox, open, work, rows } = workshop;
    const run = await open(wholeCompanies(sandbox, 2).map((company) => lineOf(company)));
    const headers = { 'content-type': 'application/json' };
    const unknown = { reply: { status: 404, headers, body: '{"detail":"Not found."}' } };
    let lost: string | undefined;
    const ofLost = ({ operation, path }: { readonly operation: string | undefined; readonly path: string }) => {
      if (operation !== 'creditReportStatus') return false;
      lost ??= path;
      return path === lost;
    };
    sandbox.script(ofLost, Array<Fault>(999).fill(unknown));
    const end = await until(workshop, clock, work(run));
    expect(end.stopped).toBeUndefined();
    expect(end.progress).toMatchObject({ byOutcome: { complete: 1, pending: 1 }, parkedReasons: { ask_provider: 1 } });
    const statusChecks = sandbox.requestLog.filter(ofLost).length;
    expect(statusChecks).toBeGreaterThan(50);
    expect(statusChecks).toBeLessThan(80);
    expect(generated(workshop)).toBe(2);
    const [id] = /\d{6,}/.exec(lost ?? '') ?? [];
    const held = (await rows(run)).find(({ errorCode }) => errorCode === 'REPORT_UNKNOWN');
    expect(held?.errorMessage).toContain(`report ${id}`);
    // The next attempt asks once, free.
    sandbox.clearScript();
    expect((await until(workshop, clock, work(run))).progress.byOutcome).toMatchObject({ complete: 2 });
    expect(sandbox.reports).toHaveLength(2);
  });
});

describe('V2-6 a report that has expired since it was bought', { tags: 'long' }, () => {
  const DAY = 24 * 60 * MINUTE;

  test.each([
    [false, 2, 'false'],
    [true, 1, 'true'],
  ])(
    'with reuse_expired: %j there are %i reports at the end, and the table shows it',
    async (reuseExpired, count, expired) => {
      const pipeline = { ...patient, report: { ...patient.report, reuseExpired } };
      await withLateReports({ pipeline }, async (workshop, clock) => {
        const { sandbox, open, work, ledger, dataDir } = workshop;
        const line = wholeCompanies(sandbox, 1).map((company) => lineOf(company));
        await work(await open(line));
        clock.advance(31 * DAY);
        // Another file with this company.
        const later = await open([...line, ...line]);
        expect((await work(later)).progress.byOutcome).toMatchObject({ complete: 2 });
        expect(sandbox.reports).toHaveLength(count);
        const { folder } = await writeTables(later.id, {}, { ledger, dataDir, env: {}, cwd: dataDir, clock });
        expect(readTable(folder, 'credit_reports')).toMatchObject([{ expired, status: 'finish' }]);
      });
    },
  );
});

long('X-3 V2-6 a stored report not yet used by its row may have expired: the possible cost counts it', async () => {
  const DAY = 24 * 60 * MINUTE;
  const freshnessMs = { creditReportSearch: 365 * DAY, creditReportGenerate: 365 * DAY };
  const pipeline = { ...patient, freshnessMs, report: { ...patient.report, reuseExpired: false } };
  await withLateReports({ pipeline, reportDelayMs: MINUTE }, async (workshop, clock) => {
    const { sandbox, open, work, ledger } = workshop;
    const line = wholeCompanies(sandbox, 1).map((company) => lineOf(company));
    await until(workshop, clock, work(await open(line)));
    clock.advance(31 * DAY);
    const later = await open([...line, ',Nobody At All,GB,99999998,']);
    const atMost = async () =>
      await planRun({
        rows: rowsOfRun(later.id, 'pending', ledger),
        pipeline: workshop.pipeline(),
        notBefore: 0,
        now: clock.now(),
        ledger,
        environments: {
          v1: (await ledger.calls.findEnvironment('v1', sandbox.v1BaseUrl)) ?? null,
          v2: (await ledger.calls.findEnvironment('v2', sandbox.v2BaseUrl)) ?? null,
        },
      });
    expect(await atMost()).toMatchObject({ creditReportsAtMost: 2 });
    const parked = await until(workshop, clock, work(later, { budgetReports: 0 }));
    expect(parked.progress.parkedReasons).toEqual({ budget: 1 });
    expect(await atMost()).toMatchObject({ creditReportsAtMost: 1 });
    await until(workshop, clock, work(later, { budgetReports: 1 }));
    expect(sandbox.reports).toHaveLength(2);
  });
});

long('V2-6 kybatch waits for a generate call that takes longer than other calls may', async () => {
  const client = { deadlineMs: 60 };
  await withWorkshop({ client, generateMs: 200, pipeline: { stages: ['credit-report'] } }, async (workshop) => {
    const { sandbox, open, work, calls } = workshop;
    const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
    expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
    expect(generated(workshop)).toBe(1);
    expect(calls().filter(({ error_code }) => error_code !== null)).toEqual([]);
  });
});
