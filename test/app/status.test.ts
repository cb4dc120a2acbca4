import { describe, expect, test } from 'vitest';
import { usage } from '../../src/app/admin/usage.js';
import { listUnknownCharges } from '../../src/app/review/unknown-charges.js';
import { runs } from '../../src/app/run/runs.js';
import { status } from '../../src/app/run/status.js';
import { underWayInWords } from '../../src/cli/commands/charges.js';
import { runJson, runsInWords } from '../../src/cli/commands/runs.js';
import { statusInWords, statusJson } from '../../src/cli/commands/status.js';
import { ManualClock } from '../../src/util/clock.js';
import { toJson } from '../../src/util/view-json.js';
import { turns } from '../engine/support.js';
import { SteppingClock } from '../helpers/jumping-clock.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { inLines } from '../helpers/messages.js';
import { buy, call, intend, refused } from '../ledger/support.js';
import { codesOf, refusal, withOffice } from './support.js';

describe('status', () => {
  test('a finished run: counts, stages, units, calls, and nothing to wait for', async () => {
    await withOffice({}, async ({ environment, companies, run }) => {
      const { id } = await run(companies(3));
      const view = await status({}, environment);
      expect(view.run).toMatchObject({ id, state: 'finished', rowCount: 3, pipelineName: 'analyst' });
      expect(Object.keys(view.run)).not.toContain('settings');
      expect(view.progress).toMatchObject({ unitsCharged: 6, stages: { record: { done: 3 } } });
      expect(view.progress.byOutcome.complete).toBe(3);
      expect(view).toMatchObject({ nextReportAt: null, activity: { calls: 6, owned: 0, parkedUntil: null } });
      expect(codesOf(statusInWords(view))).toEqual(['RUN_STATE', 'ROWS_COUNTED', 'UNITS_SPENT', 'SPEED', 'STAGES']);
      expect(toJson(statusJson(view))).toMatchObject({
        run: id,
        rows: 3,
        units_charged: 6,
        calls: 6,
        waiting: 0,
        parked: {},
      });
      // Plain data: it survives JSON unchanged.
      expect(JSON.parse(JSON.stringify(view))).toEqual(view);
    });
  });

  long('a spent allowance: how many rows wait for it, and until when', async () => {
    await withOffice({ plan: 'free' }, async ({ environment, companies, run }) => {
      const { progress } = await run(companies(3));
      expect(progress.parked).toBeGreaterThan(0);
      const view = await status({}, environment);
      expect(view.run.state).toBe('open');
      expect(view.activity.parkedUntil).not.toBeNull();
      expect(codesOf(statusInWords(view))).toContain('ALLOWANCE_RENEWED_AT');
      expect(statusInWords(view)[0]?.text).toContain('allowance');
    });
  });

  test('a report that is not ready: when it is asked for again', async () => {
    const clock = new SteppingClock();
    await withOffice({ clock, reportDelayMs: 60_000 }, async ({ sandbox, environment, companies, run }) => {
      const company = companies(1)[0];
      if (company === undefined) throw new Error('no company');
      const working = run([company], ['credit-report']);
      // The report is generated, and its row waits on a clock that does not advance.
      const isWaiting = async () => sandbox.reports.length > 0 && (await status({}, environment)).nextReportAt !== null;
      while (!(await isWaiting())) await turns(1);
      const view = await status({}, environment);
      expect(view.progress.waiting).toBe(1);
      expect(codesOf(statusInWords(view))).toEqual(expect.arrayContaining(['REPORTS_AWAITED', 'PROCESS_AT_WORK']));
      expect(view.atWork).toMatchObject({ alive: true, silent: false, endedAt: null });
      const ended = view.atWork && { ...view.atWork, alive: false };
      expect(codesOf(statusInWords({ ...view, atWork: ended, workers: [] }))).toContain('REPORTS_AWAITED');
      const later = { ...environment, clock: new ManualClock(view.nextReportAt ?? 0) };
      expect(codesOf(statusInWords(await status({}, later)))).toContain('REPORTS_AWAITED');
      await clock.stepUntilEnd(working, 1000);
      const finished = await status({}, environment);
      expect(finished).toMatchObject({ run: { state: 'finished' }, atWork: { alive: false } });
      expect(codesOf(statusInWords(finished)).filter((code) => code.startsWith('PROCESS_'))).toEqual([]);
    });
  });

  long('a report that may be lost is looked for until the shown time', async () => {
    const clock = new SteppingClock('2026-03-01T10:00:00Z');
    await withOffice({ clock }, async ({ sandbox, environment, companies, run }) => {
      sandbox.script({ operation: 'creditReportGenerate' }, ['resetBefore']);
      const working = run(companies(1), ['credit-report']);
      const waits = async () =>
        sandbox.requestLog.length === 0 ? 0 : (await status({}, environment)).activity.looking.rows;
      while ((await waits()) === 0) await turns(1);
      const view = await status({}, environment);
      expect(view.activity.looking).toEqual({ rows: 1, until: Date.parse('2026-03-01T10:15:00Z') });
      expect(codesOf(statusInWords(view))).toContain('REPORTS_LOOKED_FOR');
      expect(codesOf(statusInWords(view))).not.toContain('REPORTS_AWAITED');
      const later = await status({}, { ...environment, clock: new ManualClock(clock.now() + 300_000) });
      for (const [at, minutes] of [
        [view, 15],
        // Without a lock to show that the process is alive, its lease is over by then.
        ...(isOnPostgres ? [] : ([[later, 10]] as const)),
      ] as const)
        expect(at.atWork?.msToGo).toBe(minutes * 60_000);
      await clock.stepUntilEnd(working, 1000);
    });
  });

  // A lock shows which process is alive. Without locks only the lease does, and a frozen process looks dead.
  test.skipIf(isOnPostgres)(
    'a dead process, a frozen process, and the speed of a running one',
    { tags: 'long' },
    async () => {
      const clock = new ManualClock('2026-03-01T10:00:00Z');
      await withOffice({ clock }, async ({ environment, companies, run, ledger, sandbox }) => {
        sandbox.script({ operation: 'fullKyb' }, [400]);
        const { id } = await run(companies(2));
        const now = clock.now();
        await ledger(async (open) => {
          const { calls, runs: store } = open;
          await store.releaseFailed(id);
          const attemptId = await calls.begin({ runId: id, begunAt: now - 10_000, leaseUntil: now + 30_000 });
          const wait = { since: now, nextTryAt: now + 60_000, givesUpAt: now + 120_000 };
          await calls.noteOutages(attemptId, [{ row: 1, api: 'v1', operation: 'fullKyb', code: 'HTTP_429', ...wait }]);
          const working = await status({}, environment);
          expect(working.atWork).toMatchObject({ alive: true, silent: false, rowsPerSecond: 0.1, since: now - 10_000 });
          expect(statusJson(working).process).toMatchObject({
            alive: true,
            secondsToGo: 10,
            // A refused request is an answer and is not tried again.
            failedCallsLastMinute: [],
          });
          const environmentId = (await calls.findEnvironment('v1', environment.env.KYBATCH_V1_BASE_URL ?? '')) ?? 0;
          const sent = call({ environmentId, attemptId }, { runId: id, row: 1, startedAt: now - 10_000 });
          await buy(open, sent, refused({ settledAt: now, durationMs: 0 }));
          const failing = await status({}, environment);
          expect(codesOf(statusInWords(failing))).toContain('CALLS_FAILING');
          expect(statusJson(failing).process).toMatchObject({
            failedCallsLastMinute: [{ code: 'TROUBLE', count: 1 }],
          });
          expect(codesOf(statusInWords(working))).toContain('ROW_DELAYED');
          expect(statusJson(working).process?.outages).toMatchObject([
            { row: 1, operation: 'fullKyb', code: 'HTTP_429', givesUpAt: Date.parse('2026-03-01T10:02:00.000Z') },
          ]);
          const later = await status({}, { ...environment, clock: new ManualClock(now + 31_000) });
          expect(later.atWork).toMatchObject({ alive: true, silent: true });
          expect(codesOf(statusInWords(later))).toContain('PROCESS_SILENT');
        });
        const died = await status({}, environment);
        expect(died.atWork).toMatchObject({ alive: false, endedAt: null, ms: 0 });
        expect(died.atWork?.lastHeardAt).toBe(now - 10_000);
        expect(codesOf(statusInWords(died))).toContain('PROCESS_DIED');
        // The next writer finds it dead, and it stays so.
        await ledger(async ({ calls }) => void (await calls.markCallsOfDeadAttempts(now + 60_000)));
        const later = await status({}, environment);
        expect(inLines(statusInWords(later))).toBe(inLines(statusInWords(died)));
      });
    },
  );

  test('X-3 after a kill the suggested command has the limits of the attempt, and its duration is shown', async () => {
    const clock = new ManualClock('2026-03-01T10:00:00Z');
    await withOffice({ clock }, async ({ environment, companies, run, ledger, sandbox }) => {
      sandbox.script({ operation: 'fullKyb' }, [400]);
      const { id } = await run(companies(1));
      const now = clock.now();
      await ledger(async (open) => {
        await open.runs.releaseFailed(id);
        const given = JSON.stringify({ budget: 20, maxReports: 3 });
        const attemptId = await open.calls.begin({ runId: id, begunAt: now, leaseUntil: now + 30_000, given });
        const environmentId = (await open.calls.findEnvironment('v1', environment.env.KYBATCH_V1_BASE_URL ?? '')) ?? 0;
        await intend(open, call({ environmentId, attemptId }, { runId: id, row: 1, startedAt: now + 4000 }));
      });
      const killed = async () => await status({ run: id }, { ...environment, clock: new ManualClock(now + 3_600_000) });
      expect(await killed()).toMatchObject({ given: { budget: 20, maxReports: 3 }, atWork: { ms: 4000, calls: 1 } });
      await ledger(async ({ calls }) => void (await calls.markCallsOfDeadAttempts(now + 60_000)));
      expect(await killed()).toMatchObject({ atWork: { endedAt: null, lastHeardAt: now + 4000, ms: 4000 } });
    });
  });

  test('a missing run and an unknown run are errors with the next step', async () => {
    await withOffice({}, async ({ environment, companies, run, ledger }) => {
      await ledger(async () => {});
      expect(await refusal(status({}, environment))).toMatchObject({ code: 'NO_RUN_YET', exit: 2 });
      const { id } = await run(companies(1));
      const mistyped = await refusal(status({ run: `${id}x` }, environment));
      expect(mistyped).toMatchObject({ code: 'RUN_NOT_FOUND', message: expect.stringMatching(`${id}x.*${id}\\?$`) });
    });
  });
});

describe('charges list', () => {
  // The lock ends with its process.
  test.skipIf(isOnPostgres)(
    'a call in flight is listed with the time when its charge is known, and at once when its process is gone',
    async () => {
      const clock = new ManualClock('2026-03-01T10:00:00Z');
      await withOffice({ clock }, async ({ environment, companies, run, ledger }) => {
        const { id } = await run(companies(1));
        const now = clock.now();
        await ledger(async (open) => {
          const attemptId = await open.calls.begin({ runId: id, begunAt: now, leaseUntil: now + 30_000 });
          const environmentId =
            (await open.calls.findEnvironment('v1', environment.env.KYBATCH_V1_BASE_URL ?? '')) ?? 0;
          await intend(open, call({ environmentId, attemptId }, { runId: id, row: 1, startedAt: now }));
          const view = await listUnknownCharges({}, environment);
          expect(view).toMatchObject({ calls: [], underWay: [{ operation: 'fullKyb', runId: id, row: 1 }] });
          const underWay = underWayInWords(view.underWay);
          expect(codesOf(underWay)).toEqual(['CALLS_UNDER_WAY']);
          expect(inLines(underWay)).toMatch(/^1 [\s\S]* \d+: fullKyb[\s\S]* 2026-03-01 10:00:30 UTC/);
        });
        // Its lease lasts for half a minute. Its lock does not.
        expect(await listUnknownCharges({}, environment)).toMatchObject({
          underWay: [],
          calls: [{ errorCode: 'PROCESS_DIED' }],
        });
        expect(await runs({}, environment)).toMatchObject([{ progress: { unknownCalls: 1 } }]);
        expect(await usage({}, environment)).toMatchObject({
          underWay: 0,
          unknownCalls: [{ operation: 'fullKyb', runId: id, row: 1, errorCode: 'PROCESS_DIED' }],
          byRun: [{ key: id, unknown: 1 }],
          environments: [{ unknownCalls: 1 }, { unknownCalls: 0 }],
        });
      });
    },
  );
});

test('runs: the outcomes of each line add up to its rows, in a narrow table, too', () => {
  const byOutcome = {
    pending: 1,
    complete: 1_000_002,
    no_match: 10_003,
    needs_review: 204,
    invalid: 1_005,
    failed: 1_306,
  };
  const rows = Object.values(byOutcome).reduce((sum, count) => sum + count, 0);
  const run = {
    id: '2026-01-05-a1b2c3',
    state: 'finished' as const,
    inputPath: '/srv/suppliers.csv',
    pipelineName: 'nightly',
    rowCount: rows + 7,
    createdAt: 0,
    finishedAt: 0,
    fresh: false,
    isOfPortfolio: true,
  };
  const held = { waiting: 0, parked: 0, parkedReasons: {}, heldByReview: {}, refusals: [], refusedRows: 0 };
  const none = { ...held, stages: {}, purged: 0 };
  const progress = { ...none, byOutcome, unitsCharged: 2_000_000, unknownCalls: 12 };
  const headers = [progress, { ...progress, byOutcome: { ...byOutcome, failed: 0, pending: 0 } }].map((each) => {
    const [header = '', line = ''] = inLines([runsInWords([{ run, progress: each, condition: 'finished' }])]).split(
      '\n',
    );
    expect(line.length).toBeLessThanOrEqual(80);
    const [all = 0, ...parts] = line.trim().split(/ {2,}/).slice(3).map(Number);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(all);
    return header.trim().split(/ {2,}/);
  });
  expect(headers[0]).toEqual(['run', 'list', 'state', 'rows', 'complete', 'review', 'failed', 'to do', 'other']);
  expect(headers[1]).toEqual(headers[0]);
});

describe('runs', { tags: 'long' }, () => {
  test('lists the newest first, as a table and as JSON', async () => {
    await withOffice({}, async ({ environment, companies, run, ledger }) => {
      await ledger(async () => {});
      expect(runsInWords(await runs({}, environment)).code).toBe('NO_RUN_YET');
      const [first, second] = companies(2);
      if (first === undefined || second === undefined) throw new Error('no companies');
      const older = await run([first]);
      const newer = await run([second]);
      const standings = await runs({}, environment);
      expect(standings.map((standing) => standing.run.id)).toEqual([newer.id, older.id]);
      expect(toJson(standings.map(runJson))).toMatchObject([
        { run: newer.id, state: 'finished', rows: 1, units_charged: 2 },
        { run: older.id },
      ]);
      expect(inLines([runsInWords(standings)])).toMatch(/^run +list +state +rows +complete/);
    });
  });
});
