import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { identityOf, readSettings } from '../../src/app/run/stored-settings.js';
import { type AnyClient, requestKey } from '../../src/calls/request.js';
import { loadPipeline } from '../../src/config/pipeline.js';
import { type RunEnd, workOnRun } from '../../src/engine/run.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { Charge } from '../../src/sandbox/index.js';
import type { Clock } from '../../src/util/clock.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { type Bench, chargedAgain, chargesByOperation, withSandbox } from '../helpers/sandbox.js';
import { look, openAt, withDataDir } from './sqlite-support.js';
import { collect, NO_GROUNDS, withSnapshot } from './support.js';

/**
 * A data directory of version 0.1 with four runs. One is finished, with two decisions and five open questions. A limit
 * of 9 units parked the second. The third was killed with four calls open. The fourth has only companies with stored
 * answers.
 */
const FIXTURE = resolve('fixtures/ledger-0.1');
const FINISHED = '2026-11-15-b41603';
const PARKED = '2026-11-15-b10c54';
const KILLED = '2026-11-15-787878';
/** The number of stored answers. */
const OWNED = 150;
/** Soon enough that the stored answers are fresh. */
const LATER = Date.parse('2026-11-16T09:00:00Z');

const withOldLedger = (use: (ledger: Ledger, dataDir: string) => Promise<void>) =>
  withDataDir(async (dataDir) => {
    cpSync(FIXTURE, dataDir, { recursive: true });
    const ledger = await openAt(dataDir, 'existing', LATER);
    try {
      await use(ledger, dataDir);
    } finally {
      await ledger.close();
    }
  });

test('is intact after the migration, and nothing is lost', async () => {
  await withOldLedger(async (ledger, dataDir) => {
    expect(look(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(look(dataDir, 'PRAGMA foreign_key_check')).toEqual([]);
    expect((await ledger.runs.all()).map(({ id, state, rowCount }) => [id, state, rowCount])).toEqual([
      [KILLED, 'open', 9],
      ['2026-11-15-900d28', 'finished', 5],
      [PARKED, 'open', 11],
      [FINISHED, 'finished', 15],
    ]);
    expect(await ledger.runs.progress(PARKED)).toMatchObject({
      byOutcome: { pending: 11 },
      parkedReasons: { budget: 11 },
      unitsCharged: 9,
    });
    expect((await ledger.reading.usage()).environments).toMatchObject([
      { api: 'v1', name: 'sandbox:1', remainingUnits: 999959, anchorUnits: 999959 },
      { api: 'v2', name: 'sandbox:1' },
    ]);
    for (const api of ['v1', 'v2'] as const) expect(await ledger.runs.environmentName(KILLED, api)).toBe('sandbox:1');
  });
});

test('calls have the present properties of their operations', async () => {
  await withOldLedger(async (_, dataDir) => {
    const declared = look<{ operation: string; meter: string; spaces: string | null }>(
      dataDir,
      'SELECT operation, group_concat(DISTINCT meter) AS meter, group_concat(DISTINCT subject_space) AS spaces FROM calls GROUP BY 1',
    );
    expect(declared.map(({ operation, meter, spaces }) => [operation, meter, spaces])).toEqual([
      ['creditReportFetch', 'free', 'report'],
      ['creditReportGenerate', 'report', 'credit'],
      ['creditReportHistory', 'free', null],
      ['creditReportSearch', 'not_told', null],
      ['creditReportStatus', 'free', null],
      ['financial', 'not_told', 'v2'],
      ['fullKyb', 'unit', 'v1'],
      ['kybSearch', 'not_told', null],
      ['searchKyb', 'unit', null],
    ]);
  });
});

test('rows have their IDs by space, with the confirmed candidates', async () => {
  await withOldLedger(async (ledger) => {
    const row = await ledger.runs.row(FINISHED, 1);
    expect(row?.ids.map(({ space }) => space).sort()).toEqual(['credit', 'report', 'v1', 'v2']);
    expect(row?.ids.find(({ space }) => space === 'v1')).toMatchObject({
      grade: row?.matchGrade,
      matchedOn: row?.matchedOn,
      candidate: { name: expect.any(String), country_code: expect.any(String) },
    });
    expect(row?.ids.find(({ space }) => space === 'report')).toMatchObject({ id: '700001', candidate: null });
  });
});

test('every bought answer is found by its request and by its company', async () => {
  await withOldLedger(async (ledger, dataDir) => {
    const owned = look<{ operation: string; params: string; environment_id: number }>(
      dataDir,
      'SELECT operation, params, environment_id FROM calls WHERE params IS NOT NULL',
    );
    expect(owned).toHaveLength(OWNED);
    for (const { operation, params, environment_id } of owned) {
      const key = requestKey(operation, JSON.parse(params) as Record<string, unknown>);
      const answer = await ledger.calls.findAnswer(environment_id, key, 0);
      expect(await ledger.calls.readBody(answer?.rawSha256 ?? '')).toBeInstanceOf(Buffer);
    }
    await withSnapshot(ledger, FINISHED, async (snapshot) => {
      const rows = await collect(snapshot.rows());
      // One of the nine has no report.
      for (const [space, operation, companies] of [
        ['v1', 'fullKyb', 9],
        ['v2', 'financial', 9],
        ['report', 'creditReportFetch', 8],
      ] as const) {
        const answers: [string, number][] = [];
        for await (const subject of snapshot.subjects(space, [operation]))
          answers.push([subject.id, subject.answers.length]);
        const known = rows.flatMap(({ ids }) => ids[space] ?? []).sort();
        expect(known).toHaveLength(companies);
        expect(answers).toEqual(known.map((id) => [id, 1]));
      }
    });
  });
});

test('questions and decisions keep their topics, and decided rows are based on them', async () => {
  await withOldLedger(async ({ review, runs }) => {
    const questions = await review.questions();
    expect(questions).toHaveLength(10);
    expect(questions.filter(({ open }) => open)).toHaveLength(8);
    expect(new Set(questions.map(({ space, stage }) => `${space} ${stage}`))).toEqual(new Set(['v1 null']));
    const [none, confirm] = await review.decisions();
    expect(none).toMatchObject({ decision: 'none_of_these', space: 'v1', stage: null, decidedBy: 'ann' });
    expect(confirm).toMatchObject({ decision: 'confirm', candidateId: '12732772', shown: ['12732772'] });
    expect(await review.withdraw(confirm?.id ?? 0, 'bob', LATER, NO_GROUNDS)).toEqual([{ runId: FINISHED, row: 9 }]);
    expect(await runs.row(FINISHED, 9)).toMatchObject({ outcome: 'pending', ids: [], stages: {} });
  });
});

test('V1-5 calls that were open at the kill are lost', async () => {
  await withOldLedger(async ({ calls, reading }) => {
    expect(await calls.markCallsOfDeadAttempts(LATER)).toBe(4);
    const unknown = await reading.unknownCharges(9);
    expect(unknown.map(({ operation, row, errorCode }) => [operation, row, errorCode])).toEqual([
      ['searchKyb', 8, 'PROCESS_DIED'],
      ['kybSearch', 2, 'PROCESS_DIED'],
      ['fullKyb', 3, 'PROCESS_DIED'],
      ['fullKyb', 1, 'PROCESS_DIED'],
    ]);
  });
});

test('an attempt with the run’s pipeline continues an old run, with any limit', async () => {
  await withOldLedger(async ({ runs }) => {
    const pipeline = loadPipeline('analyst', process.cwd());
    const today = { pipeline, limit: null, providers: ['sandbox:1', 'sandbox:1'] };
    const old = await runs.all();
    for (const run of old) expect(identityOf(readSettings(run))).toBe(identityOf(today));
    const elsewhere = { ...today, providers: ['https://v1.example'] };
    const once = { ...pipeline, stages: ['record'] };
    for (const other of [elsewhere, { ...today, limit: 5 }, { ...today, pipeline: once }])
      expect(identityOf(other)).not.toBe(identityOf(today));
  });
});

test('both open runs are resumed to their end, and no stored answer is bought again', async () => {
  await withOldLedger(async (ledger, dataDir) => {
    const clock = new JumpingClock(LATER);
    const journal = join(dataDir, 'sandbox', 'journal.ndjson');
    const world = { seed: 1, size: undefined, journal, reportDelayMs: 0, clock };
    await withSandbox(world, async (bench) => {
      const before = [...bench.sandbox.chargeLog];
      const owned = ownedRequests(dataDir);
      expect(owned.size).toBe(OWNED);
      const parked = await resume(ledger, PARKED, bench, clock);
      expect(parked).toMatchObject({ finished: true, progress: { byOutcome: { complete: 11 } } });
      const killed = await resume(ledger, KILLED, bench, clock);
      expect(killed).toMatchObject({ finished: true, progress: { byOutcome: { complete: 5, needs_review: 4 } } });
      const bought = bench.sandbox.chargeLog.slice(before.length);
      expect(chargesByOperation(bought)).toEqual({
        searchKyb: 3,
        fullKyb: 8,
        kybSearch: 6,
        financial: 4,
        creditReportGenerate: 5,
      });
      expect(bought.map(requestOf).filter((request) => owned.has(request))).toEqual([]);
      expect(chargedAgain(bought)).toEqual([]);
      // Only lost calls are paid twice: of the four lost calls, one had been charged.
      const paid = new Set(before.map(requestOf));
      const again = bought.filter((charge) => paid.has(requestOf(charge))).map(({ operation }) => operation);
      expect(again).toEqual(['fullKyb']);
      const units = bought.filter(({ api }) => api === 'v1').map(({ requestId }) => requestId);
      expect(chargedSince(dataDir)).toEqual(units.sort());
    });
    // V1-5: one of the three lost v1 calls was charged. Which one is unknown.
    expect(await ledger.reading.unknownCharges(9)).toHaveLength(4);
    expect((await ledger.reading.usage()).environments[0]).toMatchObject({ api: 'v1', driftUnits: 1 });
    expect(look(dataDir, 'PRAGMA foreign_key_check')).toEqual([]);
  });
});

/** As `kybatch resume` does, without the limit that parked it. */
async function resume(ledger: Ledger, id: string, { v1, v2 }: Bench, clock: Clock): Promise<RunEnd> {
  const run = await ledger.runs.find(id);
  if (run === undefined) throw new Error(`no run ${id}`);
  const { pipeline, fresh } = readSettings(run);
  const source = (client: unknown) => ({ client: client as AnyClient, environment: 'sandbox:1' });
  return await workOnRun({
    run,
    pipeline,
    budgetUnits: null,
    budgetReports: null,
    concurrency: 4,
    fresh,
    sources: { v1: source(v1), v2: source(v2) },
    ledger,
    clock,
    drain: new AbortController().signal,
    abort: new AbortController().signal,
  });
}

/** IDs are text in the ledger, and may be numbers in the provider's counts. */
const inText = (params: string): string =>
  JSON.stringify(JSON.parse(params), (_, value: unknown) => (typeof value === 'number' ? String(value) : value));
const requestOf = ({ operation, params }: Pick<Charge, 'operation' | 'params'>): string =>
  `${operation} ${inText(params)}`;

const ownedRequests = (dataDir: string): ReadonlySet<string> =>
  new Set(
    look<{ operation: string; params: string }>(
      dataDir,
      'SELECT operation, params FROM answers JOIN calls ON calls.id = call_id',
    ).map(requestOf),
  );

/** The requests that were charged after the run was resumed. */
const chargedSince = (dataDir: string): readonly string[] =>
  look<{ request_id: string }>(
    dataDir,
    `SELECT request_id FROM calls WHERE started_at >= ${LATER} AND units_charged = 1 ORDER BY request_id`,
  ).map(({ request_id }) => request_id);
