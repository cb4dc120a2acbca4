import { describe, expect, test } from 'vitest';
import { PlatformV2Client } from '../../src/api/v2/client.js';
import type { Fault } from '../../src/sandbox/index.js';
import { ManualClock } from '../../src/util/clock.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { findPlainCompany, idOf, lineOf, turns, type Workshop, wholeCompanies, withWorkshop } from './support.js';

const reportsOnly = { stages: ['credit-report'] };

const generateCalls = ({ calls }: Workshop) =>
  calls().filter(({ operation, charge }) => operation === 'creditReportGenerate' && charge !== 'owned');

describe('V2-17 a generate call that fails after its work', () => {
  long.each<[string, Fault]>([
    ['500 with a detail', { failAfterWork: 500 }],
    ['503 with a detail', { failAfterWork: 503 }],
    ['500 without a body', { failAfterWork: 500, text: '' }],
    ["a gateway's page", { failAfterWork: 504, text: '<html>504</html>' }],
    ['429', { failAfterWork: 429 }],
    ['404 with a detail', { failAfterWork: 404 }],
    ['a reset', 'lostAnswer'],
  ])('%s: one report, taken from the history, and an unknown charge', async (_, fault) => {
    await withWorkshop({ pipeline: reportsOnly }, async (workshop) => {
      const { sandbox, ledger, open, work, rows, query } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', [fault, fault, fault]);
      const end = await work(run);
      expect(sandbox.reports).toHaveLength(1);
      expect(end.progress.byOutcome).toMatchObject({ complete: 1 });
      expect((await rows(run)).map((row) => idOf(row, 'report'))).toEqual([String(sandbox.reports[0]?.id)]);
      // The provider billed one call, and its history showed which one. The ledger agrees.
      expect(generateCalls(workshop)).toMatchObject([
        { charge: 'charged', reconciled: expect.stringMatching(/ \d+$/) },
      ]);
      expect(sandbox.chargeLog.filter(({ operation }) => operation === 'creditReportGenerate')).toHaveLength(1);
      const { byOperation } = await ledger.reading.usage();
      expect(byOperation.find(({ key }) => key === 'creditReportGenerate')).toMatchObject({ calls: 1, unknown: 0 });
      expect(query('SELECT reports_spent FROM starts')).toEqual([{ reports_spent: 1 }]);
    });
  });

  test('the look comes one first poll after the failed call ended, not after it began', async () => {
    const clock = new ManualClock();
    const slow = {
      ...reportsOnly,
      report: { firstPollMs: 20_000, pollAtMostMs: 60_000, giveUpAfterMs: 600_000, lookForMs: 300_000 },
    };
    await withWorkshop({ clock, pipeline: slow }, async (workshop) => {
      const { sandbox, ledger, v2, open, work, rows } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', { failAfterWork: 504 });
      // The gateway gives up after 25 s, longer than a first poll.
      const send = v2.send.bind(v2);
      v2.send = async (prepared, options) => {
        if (prepared.operation.name === 'creditReportGenerate') clock.advance(25_000);
        return await send(prepared, options);
      };
      const began = clock.now();
      const ended = work(run);
      while ((await ledger.runs.progress(run.id)).waiting < 1) await turns(5);
      expect(await rows(run)).toMatchObject([{ nextAt: began + 45_000 }]);
      expect(sandbox.requests.get('creditReportHistory')).toBe(1);
      clock.advance(20_000);
      expect((await ended).progress.byOutcome).toMatchObject({ complete: 1 });
      expect(sandbox.requests.get('creditReportHistory')).toBe(2);
      expect(sandbox.reports).toHaveLength(1);
    });
  });

  test('the limit of reports counts it as spent: its own row completes, the next one is parked', async () => {
    const pipeline = { ...reportsOnly, budget: { units: null, creditReports: 1 } };
    await withWorkshop({ pipeline }, async (workshop) => {
      const { sandbox, open, work, rows } = workshop;
      const run = await open(wholeCompanies(sandbox, 2).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', { failAfterWork: 500 });
      const end = await work(run, { concurrency: 1 });
      expect(end.progress.parkedReasons).toEqual({ budget: 1 });
      expect((await rows(run)).map(({ outcome }) => outcome).sort()).toEqual(['complete', 'pending']);
      expect(sandbox.reports).toHaveLength(1);
      // Another attempt has its own limit.
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 2 });
      expect(sandbox.reports).toHaveLength(2);
    });
  });

  test('a final refusal fails the row at once, and a retry looks before it asks again', async () => {
    await withWorkshop({ pipeline: reportsOnly }, async (workshop) => {
      const { sandbox, ledger, open, work, rows } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', { failAfterWork: 400, text: '{"country":["No."]}' });
      await work(run);
      expect(await rows(run)).toMatchObject([{ outcome: 'failed', errorCode: 'VALIDATION' }]);
      expect(generateCalls(workshop)).toMatchObject([{ charge: 'unknown' }]);
      await ledger.runs.releaseFailed(run.id);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
      expect(orderOf(workshop)).toEqual(['look', 'generate', 'look']);
      expect(sandbox.reports).toHaveLength(1);
    });
  });
});

describe('V2-17 a generate call that fails without having done anything', { tags: 'long' }, () => {
  test.each(['resend', 'park'] as const)(
    'is sent again after a look each time, with in_doubt: %s too, because no answer was lost',
    async (inDoubt) => {
      await withWorkshop({ pipeline: { ...reportsOnly, inDoubt } }, async (workshop) => {
        const { sandbox, open, work } = workshop;
        const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
        sandbox.script('creditReportGenerate', [503, 500]);
        expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
        expect(generateCalls(workshop).map(({ charge }) => charge)).toEqual(['unknown', 'unknown', 'charged']);
        expect(orderOf(workshop)).toEqual(looksAndTries(3));
      });
    },
  );

  test.each(['resend', 'park'] as const)(
    'a report that always fails is held for a person after in_doubt_cap tries in one attempt (in_doubt: %s)',
    async (inDoubt) => {
      await withWorkshop({ clock: new JumpingClock(), pipeline: { ...reportsOnly, inDoubt } }, async (workshop) => {
        const { sandbox, v2, ledger, open, work, rows } = workshop;
        const companies = wholeCompanies(sandbox, 3);
        const run = await open(companies.map((company) => lineOf(company)));
        const send = v2.send.bind(v2);
        v2.send = async (prepared, options) => {
          const isOdd = prepared.params.source_id === companies[0]?.sourceId;
          if (isOdd && prepared.operation.name === 'creditReportGenerate') sandbox.script('creditReportGenerate', 500);
          return await send(prepared, options);
        };
        const end = await work(run, { concurrency: 1 });
        expect(end.stopped).toBeUndefined();
        expect(end.progress).toMatchObject({
          byOutcome: { complete: 2, failed: 0, pending: 1 },
          parkedReasons: { in_doubt: 1 },
        });
        expect(generateCalls(workshop)).toHaveLength(5);
        // Neither the next attempt nor a retry spends more on it.
        expect(await ledger.runs.releaseFailed(run.id)).toEqual([]);
        expect((await work(run)).progress.parkedReasons).toEqual({ in_doubt: 1 });
        expect(generateCalls(workshop)).toHaveLength(5);
        expect(await rows(run)).toMatchObject([{ outcome: 'pending', hold: 'parked' }, {}, {}]);
      });
    },
  );
});

describe('X-1 generating is down for all: the charge of the calls is unknown', { tags: 'long' }, () => {
  const report = { firstPollMs: 20_000, pollAtMostMs: 60_000, lookForMs: 300_000 };
  const patient = { ...reportsOnly, patienceMs: 10_000, report };
  const page: Fault = { reply: { status: 404, body: '<html>' } };

  test.each<[string, Fault]>([
    ["a gateway's page", page],
    ['500 after its work, and never listed', { failAfterWork: 500 }],
    ['429', 429],
  ])('%s: counts as down after three companies, tried one at a time, and none twice', async (_, fault) => {
    const clock = new JumpingClock();
    await withWorkshop({ clock, historyLagMs: 1e10, pipeline: patient }, async (workshop) => {
      const { sandbox, open, work, calls } = workshop;
      const run = await open(wholeCompanies(sandbox, 12).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', Array(99).fill(fault));
      const end = await work(run, { concurrency: 1 });
      expect(end.stopped).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', exit: 6 });
      expect(end.progress).toMatchObject({ byOutcome: { pending: 12 }, parkedReasons: {} });
      // Three calls, probes after 1, 2 and 4 s, and one at the end of the patience.
      expect(generateCalls(workshop)).toHaveLength(7);
      expect(new Set(generateCalls(workshop).map(({ request_key }) => request_key)).size).toBe(7);
      sandbox.clearScript();
      clock.advance(3_600_000);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 12 });
      expect(
        calls().filter(({ operation, charge }) => operation === 'creditReportGenerate' && charge === 'charged'),
      ).toHaveLength(12);
    });
  });
});

long.each<readonly Fault[]>([
  [500, 503, 500],
  [429, 500, 'lostAnswer'],
])('V2-17 the tries of a report are counted over all attempts: %j, %j, %j', async (...faults) => {
  const clock = new JumpingClock();
  await withWorkshop({ clock, historyLagMs: 1e10, pipeline: reportsOnly }, async (workshop) => {
    const { sandbox, ledger, open, work } = workshop;
    const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
    sandbox.script('creditReportGenerate', [...faults, ...faults]);
    // The limit ends each attempt after one try.
    for (let start = 1; start <= 3; start++) {
      clock.advance(60_000);
      expect((await work(run, { budgetReports: 1 })).progress.byOutcome).toMatchObject({ pending: 1, failed: 0 });
    }
    clock.advance(3_600_000);
    expect((await work(run)).progress.parkedReasons).toEqual({ in_doubt: 1 });
    expect(generateCalls(workshop)).toHaveLength(3);
    const doubts = await ledger.unknownCharges.list({ calls: [], runs: [run.id] }, clock.now());
    const ids = doubts.map(({ id }) => id);
    await ledger.unknownCharges.settle(ids, 'resend', 'asked');
    sandbox.clearScript();
    expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
    expect(generateCalls(workshop)).toHaveLength(4);
  });
});

describe('X-3 the limit of reports', () => {
  const pipeline = { ...reportsOnly, budget: { units: null, creditReports: 1 } };
  const spentOf = ({ query }: Workshop) => query('SELECT reports_spent FROM starts ORDER BY id');

  test('is not used by a company without an offered report: not available, and nothing is generated', async () => {
    const none = { stages: ['record', 'credit-report'], budget: { units: null, creditReports: 0 } };
    await withWorkshop({ pipeline: none }, async (workshop) => {
      const { sandbox, open, work, rows } = workshop;
      const { registry } = sandbox;
      const company = findPlainCompany(
        sandbox,
        (other) =>
          !registry.hasCreditReport(other) && registry.hasRecord(other) && !registry.traits(other).identityMismatch,
      );
      const run = await open([lineOf(company)]);
      await work(run);
      expect(await rows(run)).toMatchObject([
        { outcome: 'complete', stages: { record: 'done', 'credit-report': 'not_available' } },
      ]);
      expect(orderOf(workshop)).toEqual([]);
      expect(spentOf(workshop)).toEqual([{ reports_spent: 0 }]);
    });
  });

  test('V2-17 is used by a failed call, because no failure is documented as free: the row is parked', async () => {
    await withWorkshop({ pipeline }, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', 503);
      expect((await work(run)).progress.parkedReasons).toEqual({ budget: 1 });
      expect(orderOf(workshop)).toEqual(['look', 'generate', 'look']);
      expect(sandbox.reports).toEqual([]);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
      expect(spentOf(workshop)).toEqual([{ reports_spent: 1 }, { reports_spent: 1 }]);
    });
  });

  test('is freed if nothing was sent, and this attempt tries again', async () => {
    await withWorkshop({ pipeline }, async (workshop) => {
      const { sandbox, v2, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      await withoutFirstGenerate(v2, async () => {
        expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
      });
      expect(generateCalls(workshop).map(({ error_code, charge }) => [error_code, charge])).toEqual([
        ['PROVIDER_UNREACHABLE', 'free'],
        [null, 'charged'],
      ]);
      expect(orderOf(workshop)).toEqual(looksAndTries(1));
      expect(spentOf(workshop)).toEqual([{ reports_spent: 1 }]);
    });
  });

  test('V2-17 is used if the key was refused, because that is not documented as free', async () => {
    await withWorkshop({ pipeline }, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      sandbox.script('creditReportGenerate', 401);
      expect((await work(run)).stopped).toMatchObject({ code: 'UNAUTHENTICATED' });
      expect(generateCalls(workshop)).toMatchObject([{ charge: 'unknown' }]);
      expect(spentOf(workshop)).toEqual([{ reports_spent: 1 }]);
    });
  });
});

/** The first call to generate goes to a port without a listener. */
async function withoutFirstGenerate(v2: Workshop['v2'], use: () => Promise<void>): Promise<void> {
  const nowhere = new PlatformV2Client({ baseUrl: 'http://127.0.0.1:1/v2', apiKey: 'a-key-for-nobody' });
  const send = v2.send.bind(v2);
  let met = false;
  v2.send = async (prepared, options) => {
    if (met || prepared.operation.name !== 'creditReportGenerate') return await send(prepared, options);
    met = true;
    return await nowhere.send(prepared, options);
  };
  try {
    await use();
  } finally {
    await nowhere.close();
  }
}

test.each(['resend', 'park'] as const)(
  'V2-17 a search answered 503 twice and then 200 completes, with in_doubt: %s',
  async (inDoubt) => {
    await withWorkshop({ pipeline: { stages: ['financials'], inDoubt } }, async ({ sandbox, open, work, calls }) => {
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      sandbox.script('kybSearch', [503, { failAfterWork: 503 }]);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
      const searches = calls().filter(({ operation }) => operation === 'kybSearch');
      expect(searches.map(({ charge }) => charge)).toEqual(['unknown', 'unknown', 'charged']);
    });
  },
);

/** A look and then a try, this many times. */
const looksAndTries = (times: number): string[] => Array.from({ length: times }, () => ['look', 'generate']).flat();

/** The provider's log of generating and looking, in order. */
const orderOf = ({ sandbox }: Workshop): string[] =>
  sandbox.requestLog.flatMap(({ operation }) =>
    operation === 'creditReportGenerate' ? ['generate'] : operation === 'creditReportHistory' ? ['look'] : [],
  );
