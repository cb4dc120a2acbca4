import { describe, expect, test } from 'vitest';
import { SteppingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { withProxy } from '../helpers/proxy.js';
import { lineOf, present, type Workshop, wholeCompanies, withWorkshop } from './support.js';

const recordsOnly = { pipeline: { stages: ['record'] } };
const PAGE = '<!doctype html><title>Maintenance</title>';
const isFull = ({ path }: { readonly path: string }) => path.endsWith('/full');

/** A person allows all requests that are held back. */
async function resendAll({ ledger, clock }: Workshop): Promise<void> {
  const held = await ledger.unknownCharges.list({ calls: [], runs: [] }, clock.now());
  const ids = held.map(({ id }) => id);
  await ledger.unknownCharges.settle(ids, 'resend', 'looked');
}

const linesOf = ({ sandbox }: Workshop, count: number) =>
  wholeCompanies(sandbox, count).map((company) => lineOf(company));

describe('X-1 a provider that answers everything with something else', () => {
  long.each([
    ['a page', { status: 200, body: PAGE, headers: { 'content-type': 'text/html' } }],
    ['an error with the status of a success', { status: 200, body: '{"error":{"code":"DOWN","message":"later"}}' }],
    ['an empty success', { status: 204, body: '' }],
  ])('%s: the run stops with 6, every row pending, no unit counted, no answer stored', async (_, reply) => {
    await withWorkshop(recordsOnly, async (workshop) => {
      const { open, work, calls, query } = workshop;
      const run = await open(linesOf(workshop, 25));
      await withProxy(
        workshop,
        () => reply,
        async (sources) => {
          const end = await work(run, { sources });
          expect(end.stopped).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', exit: 6 });
          expect(end.progress).toMatchObject({ byOutcome: { pending: 25, failed: 0 }, unitsCharged: 0 });
        },
      );
      expect(calls().length).toBeLessThan(25);
      expect(new Set(calls().map((call) => call.charge))).toEqual(new Set(['unknown']));
      expect(query('SELECT * FROM answers')).toEqual([]);
      // In the next attempt the provider is well, so everything is bought once.
      await resendAll(workshop);
      expect((await work(run)).progress).toMatchObject({ byOutcome: { complete: 25 }, unitsCharged: 50 });
    });
  });

  test('also with fewer rows in the file than the breaker counts', async () => {
    await withWorkshop(recordsOnly, async (workshop) => {
      const { open, work } = workshop;
      const run = await open(linesOf(workshop, 1));
      for (const reply of [
        { status: 503, body: PAGE },
        { status: 429, body: '{"error":{"code":"SLOW","message":"later"},"request_id":"r"}' },
      ]) {
        const end = await withProxy(
          workshop,
          () => reply,
          (sources) => work(run, { sources }),
        );
        expect(end.stopped).toMatchObject({ exit: 6 });
        expect(end.progress.byOutcome).toMatchObject({ pending: 1, failed: 0 });
      }
    });
  });

  long.each([
    ['records', ['record'], '/full', PAGE],
    ['financials', ['financials'], '/financial/', '{"detail":"back soon"}'],
  ])('%s alone, while searches work', async (_, stages, path, body) => {
    await withWorkshop({ pipeline: { stages } }, async (workshop) => {
      const { open, work } = workshop;
      const run = await open(linesOf(workshop, 30));
      const end = await withProxy(
        workshop,
        (request) => (request.path.includes(path) ? { status: 200, body } : undefined),
        (sources) => work(run, { sources }),
      );
      expect(end.stopped).toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
      expect(end.progress.byOutcome).toMatchObject({ pending: 30, failed: 0 });
    });
  });

  test('a generated report without an ID is looked for in the history, and not generated again', async () => {
    await withWorkshop({ pipeline: { stages: ['credit-report'] } }, async (workshop) => {
      const { sandbox, open, work, calls } = workshop;
      const run = await open(linesOf(workshop, 1));
      sandbox.script('creditReportGenerate', { reply: { status: 200, body: '{"name":"x","status":"finish"}' } });
      for (let attempt = 1; attempt <= 2; attempt++)
        expect((await work(run)).progress).toMatchObject({ byOutcome: { pending: 1 }, parkedReasons: { in_doubt: 1 } });
      await resendAll(workshop);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
      const generated = calls().filter(({ operation }) => operation === 'creditReportGenerate');
      expect(generated.map(({ charge }) => charge)).toEqual(['unknown', 'charged']);
    });
  });
});

describe('X-1 reports that come as HTML pages, although JSON was requested (V2-21)', { tags: 'long' }, () => {
  const reportsOnly = { stages: ['credit-report'], report: { giveUpAfterMs: 20 } };
  const isBody = ({ path }: { readonly path: string }) => path.includes('/credit-report/body');

  test.each(['<html>Report</html>', '[]'])(
    'all of them, as %s: an outage. Rows stay pending, and generated reports are fetched later',
    async (body) => {
      await withWorkshop({ pipeline: reportsOnly }, async (workshop) => {
        const { sandbox, open, work, calls } = workshop;
        const run = await open(linesOf(workshop, 3));
        const end = await withProxy(
          workshop,
          (request) => (isBody(request) ? { status: 200, body } : undefined),
          (sources) => work(run, { sources }),
        );
        expect(end.stopped).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', exit: 6 });
        expect(end.progress.byOutcome).toMatchObject({ pending: 3, failed: 0 });
        const fetched = calls().filter(({ operation }) => operation === 'creditReportFetch');
        expect(new Set(fetched.map(({ charge }) => charge))).toEqual(new Set(['free']));
        expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 3 });
        expect(sandbox.reports).toHaveLength(3);
      });
    },
  );

  test('one of them: its row is held with a hint, and the next attempt fetches it again free', async () => {
    await withWorkshop({ pipeline: reportsOnly }, async (workshop) => {
      const { sandbox, open, work, rows } = workshop;
      const run = await open(linesOf(workshop, 5));
      const odd = new Set<string>();
      const end = await withProxy(
        workshop,
        (request) => {
          if (!isBody(request)) return undefined;
          if (odd.size === 0) odd.add(request.path);
          return odd.has(request.path) ? { status: 200, body: PAGE } : undefined;
        },
        (sources) => work(run, { sources, concurrency: 2 }),
      );
      expect(end.stopped).toBeUndefined();
      expect(end.progress.byOutcome).toMatchObject({ complete: 4, pending: 1 });
      const failed = (await rows(run)).filter(({ holdReason }) => holdReason === 'ask_provider');
      expect(failed).toMatchObject([
        { errorCode: 'REPORT_IN_HTML', errorMessage: expect.stringContaining('kybatch resume ') },
      ]);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 5 });
      expect(sandbox.reports).toHaveLength(5);
    });
  });
});

describe('X-1 one odd answer among good ones', () => {
  long.each([
    ['in the middle', 3, 8],
    ['at the end, with one call at a time', 7, 1],
  ])('%s holds its row after bounded tries, and stops nothing', async (_, which, concurrency) => {
    await withWorkshop(recordsOnly, async (workshop) => {
      const { sandbox, open, work, rows, query } = workshop;
      const companies = wholeCompanies(sandbox, 8);
      const odd = companies[which]?.v1Id;
      const run = await open(companies.map((company) => lineOf(company)));
      const end = await withProxy(
        workshop,
        (request) => (request.path.endsWith(`/${odd}/full`) ? { status: 200, body: PAGE } : undefined),
        (sources) => work(run, { sources, concurrency }),
      );
      expect(end.stopped).toBeUndefined();
      expect(end.progress).toMatchObject({ byOutcome: { complete: 7, pending: 1 }, parkedReasons: { in_doubt: 1 } });
      expect((await rows(run))[which]).toMatchObject({ stages: { record: 'parked' }, errorCode: 'UNEXPECTED_BODY' });
      expect(query('SELECT row, code, attempts FROM errors')).toEqual([
        { row: which + 1, code: 'UNEXPECTED_BODY', attempts: 3 },
      ]);
      expect(sandbox.chargeLog.filter(({ api }) => api === 'v1')).toHaveLength(15);
      await resendAll(workshop);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 8 });
    });
  });

  long.each([
    [404, PAGE],
    [403, PAGE],
    [302, PAGE],
    [401, PAGE],
    [400, ''],
  ])('%i in a foreign form stops nothing and fails no row, in any attempt: %s', async (status, body) => {
    await withWorkshop(recordsOnly, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const companies = wholeCompanies(sandbox, 6);
      const run = await open(companies.map((company) => lineOf(company)));
      const isOdd = ({ path }: { readonly path: string }) => path.endsWith(`/${companies[2]?.v1Id}/full`);
      await withProxy(
        workshop,
        (request) => (isOdd(request) ? { status, body } : undefined),
        async (sources) => {
          const first = await work(run, { sources, concurrency: 2 });
          expect(first.stopped).toBeUndefined();
          expect(first.progress).toMatchObject({
            byOutcome: { complete: 5, pending: 1 },
            parkedReasons: { unanswered: 1 },
          });
          // As the only call of its attempt, it looks like an outage. It is no error of the configuration.
          expect((await work(run, { sources })).stopped?.exit).toBe(6);
        },
      );
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 6 });
    });
  });

  test.each([
    ['', 'without a body'],
    ['{"detail":"Invalid token."}', 'in the form of v2'],
  ])('V1-10 a 401 %j after good answers is a revoked key, %s: the run stops with 5, and no row fails', async (body) => {
    await withWorkshop(recordsOnly, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 4).map((company) => lineOf(company)));
      let records = 0;
      const revoking = ({ path }: { readonly path: string }) => {
        if (path.endsWith('/full')) records += 1;
        return records > 1 ? { status: 401, body } : undefined;
      };
      const end = await withProxy(workshop, revoking, (sources) => work(run, { sources, concurrency: 1 }));
      expect(end.stopped).toMatchObject({ stop: 'credentials', exit: 5 });
      expect(end.progress.byOutcome).toMatchObject({ complete: 1, pending: 3, failed: 0 });
    });
  });

  long.each([
    ['fullKyb', /\/full$/, 400, ''],
    ['searchKyb', /\/v1\/kyb\/search$/, 429, PAGE],
    ['financial', /\/financial\//, 408, '{"message":"upstream"}'],
    ['financial', /\/financial\//, 401, PAGE],
  ])(
    'kybatch waits out a gateway’s answers for a while (%s, %s, %i, %j): every row is complete',
    async (operation, path, status, body) => {
      const clock = new SteppingClock();
      const pipeline = { stages: ['record', 'financials'], patienceMs: 3_600_000 };
      await withWorkshop({ clock, pipeline }, async (workshop) => {
        const { sandbox, open, work, calls } = workshop;
        const run = await open(wholeCompanies(sandbox, 5).map((company) => lineOf(company)));
        let asked = 0;
        const gateway = (request: { readonly path: string }) => {
          if (!path.test(request.path)) return undefined;
          asked += 1;
          return asked > 2 && asked <= 6 ? { status, body } : undefined;
        };
        const end = await withProxy(workshop, gateway, async (sources) => {
          return await clock.stepUntilEnd(work(run, { sources, concurrency: 2 }), 1_000);
        });
        expect(end.stopped).toBeUndefined();
        expect(end.progress.byOutcome).toMatchObject({ complete: 5 });
        const failed = calls().filter((call) => call.operation === operation && call.error_code !== null);
        expect(failed).toHaveLength(4);
        expect(failed.filter(({ charge, reconciled }) => charge === 'free' && reconciled === null)).toEqual([]);
      });
    },
  );

  test.each([
    ['record', 'a page', PAGE, {}, 3],
    ['record', 'half an answer', '{"lite":{"id":', {}, 3],
    ['record', 'null', 'null', {}, 1],
    ['financials', 'a page', PAGE, {}, 3],
    ['financials', 'a page', PAGE, { inDoubtCap: 1 }, 1],
    ['financials', 'a page', PAGE, { inDoubt: 'park' }, 1],
    ['financials', 'null', 'null', {}, 1],
  ] as const)('%s: %s (%j, %j) is bought as often as a lost answer', async (stage, _, body, policy, times) => {
    await withWorkshop({ pipeline: { stages: [stage], ...policy } }, async (workshop) => {
      const { sandbox, ledger, clock, open, work, calls } = workshop;
      const companies = wholeCompanies(sandbox, 4);
      const odd = present(companies[1]);
      // A repeated company: its request is sent as often as for one row.
      const run = await open([...companies, odd].map((company) => lineOf(company)));
      const isOdd = ({ path }: { readonly path: string }) =>
        /\/full$|\/financial\//.test(path) && [odd.v1Id, odd.v2Id].some((id) => path.split('/').includes(String(id)));
      // v1 states that it charged: the headers of its answer stay.
      sandbox.script(isOdd, Array(times).fill({ rewrite: () => body }));
      for (let attempt = 1; attempt <= 4; attempt++) {
        const end = await work(run, { concurrency: 1 });
        expect(end.stopped).toBeUndefined();
        expect(end.progress).toMatchObject({ byOutcome: { complete: 3, failed: 0 }, parkedReasons: { in_doubt: 2 } });
        expect(sandbox.requestLog.filter(isOdd)).toHaveLength(times);
      }
      const held = await ledger.unknownCharges.list({ calls: [], runs: [run.id] }, clock.now());
      expect(held).toHaveLength(times);
      expect(held.every(({ holds, lost }) => holds && lost === times)).toBe(true);
      expect(calls().filter(({ error_code }) => error_code !== null)).toHaveLength(times);
      await resendAll(workshop);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 5 });
    });
  });

  test('rows whose answers have another form are no outage, even if they are the last', async () => {
    await withWorkshop(recordsOnly, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const companies = wholeCompanies(sandbox, 12);
      const odd = companies.slice(5).map(({ v1Id }) => `/${v1Id}/full`);
      sandbox.script(({ path }) => odd.some((end) => path.endsWith(end)), Array(7).fill({ rewrite: 'null' }));
      const run = await open(companies.map((company) => lineOf(company)));
      const end = await work(run, { concurrency: 1 });
      expect(end.stopped).toBeUndefined();
      expect(end.progress).toMatchObject({ byOutcome: { complete: 5 }, parkedReasons: { in_doubt: 7 } });
    });
  });

  long.each([
    ['v2 500 with a detail', 'financials', '/financial/', 500, '{"detail":"no"}'],
    ['v2 429 with a detail', 'financials', '/financial/', 429, '{"detail":"no"}'],
    ['v2 400 as a page', 'financials', '/financial/', 400, PAGE],
    ['a gateway’s page before v1', 'record', '/full', 502, PAGE],
  ])('V2-17 %s, always, for one company: three attempts ask, then none before a person has looked', async (...row) => {
    const [, stage, path, status, body] = row;
    await withWorkshop({ pipeline: { stages: [stage] } }, async (workshop) => {
      const { sandbox, clock, ledger, open, work } = workshop;
      const companies = wholeCompanies(sandbox, 3);
      const odd = present(companies[1]);
      const run = await open(companies.map((company) => lineOf(company)));
      const isOdd = (request: { readonly path: string; readonly body: string }) =>
        request.path.includes(path) &&
        ([odd.v1Id, odd.v2Id].some((id) => request.path.split('/').includes(String(id))) ||
          request.body.includes(`"${odd.registrationNumber}"`));
      await withProxy(
        workshop,
        (request) => (isOdd(request) ? { status, body } : undefined),
        async (sources, requests) => {
          const asked = () => requests.filter(({ url, body: sent }) => isOdd({ path: url, body: sent })).length;
          for (const start of [1, 2, 3]) {
            const end = await work(run, { sources, concurrency: 1 });
            expect(end.progress.byOutcome).toMatchObject({ complete: 2, pending: 1 });
            expect(asked()).toBeLessThanOrEqual(start * 10);
          }
          const before = asked();
          const end = await work(run, { sources, concurrency: 1 });
          expect(end.stopped).toBeUndefined();
          expect(end.progress).toMatchObject({ byOutcome: { complete: 2 }, parkedReasons: { in_doubt: 1 } });
          expect(asked()).toBe(before);
        },
      );
      const doubts = await ledger.unknownCharges.list({ calls: [], runs: [run.id] }, clock.now());
      expect(doubts.every(({ holds }) => holds)).toBe(true);
      const ids = doubts.map(({ id }) => id);
      await ledger.unknownCharges.settle(ids, 'free', 'the provider says so');
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 3 });
    });
  });

  long.each([
    ['unreadable', { truncatedJson: 0.35 }],
    ['lost', { resetMidBody: 0.2, lostAnswer: 0.1 }],
    ['a gateway’s page', { htmlError: 0.35 }],
  ])('a third of all answers %s fails no row: later attempts finish them', async (_, faults) => {
    await withWorkshop({ ...recordsOnly, faults }, async (workshop) => {
      const { open, work, ledger, clock } = workshop;
      const run = await open(linesOf(workshop, 10));
      for (let start = 0; start < 12; start++) {
        const { progress, finished } = await work(run, { concurrency: 4 });
        expect(progress.byOutcome).toMatchObject({ failed: 0 });
        if (finished) break;
        const lost = await ledger.unknownCharges.list({ calls: [], runs: [] }, clock.now());
        const ids = lost.map(({ id }) => id);
        await ledger.unknownCharges.settle(ids, 'resend', 'looked');
      }
      expect((await ledger.runs.progress(run.id)).byOutcome).toMatchObject({ complete: 10 });
    });
  });

  test('a charge that v1 reports itself was charged', async () => {
    await withWorkshop(recordsOnly, async (workshop) => {
      const { open, work, calls } = workshop;
      const run = await open(linesOf(workshop, 2));
      const odd = [
        { status: 200, body: PAGE, headers: { 'x-service-units': '1' } },
        { status: 206, body: '{}', headers: { 'x-service-units': '1', 'x-service-remaining-units': '7' } },
      ];
      await withProxy(
        workshop,
        (request) => (isFull(request) ? odd.pop() : undefined),
        async (sources) => {
          expect((await work(run, { sources, concurrency: 1 })).progress).toMatchObject({ unitsCharged: 6 });
        },
      );
      const failed = calls().filter(({ error_code }) => error_code !== null);
      expect(failed).toMatchObject([
        { charge: 'charged', units_charged: 1 },
        { charge: 'charged', units_charged: 1 },
      ]);
    });
  });
});
