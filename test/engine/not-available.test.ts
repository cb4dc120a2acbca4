import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { long } from '../helpers/long.js';
import { type Passing, withProxy } from '../helpers/proxy.js';
import { lineOf, present, wholeCompanies, withWorkshop } from './support.js';

const detail = (status: number, text: string) => ({ status, body: JSON.stringify({ detail: text }) });
const everything = { stages: ['record', 'financials', 'credit-report'] };

describe('V1-11 DATA_SERVICE_404 on a search, which names no company ID', () => {
  const noRecord = { status: 404, code: 'DATA_SERVICE_404' };

  test('is retried, and the row continues when the search answers', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async ({ sandbox, open, work }) => {
      sandbox.script('searchKyb', [noRecord, noRecord]);
      const end = await work(await open(wholeCompanies(sandbox, 2).map((company) => lineOf(company))));
      expect(end.progress.byOutcome).toMatchObject({ complete: 2 });
    });
  });

  test('never counts as no match', async () => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async ({ sandbox, open, work, rows }) => {
      sandbox.script('searchKyb', Array(200).fill(noRecord));
      const run = await open(wholeCompanies(sandbox, 2).map((company) => lineOf(company)));
      await work(run);
      for (const row of await rows(run)) expect(row.outcome).not.toBe('no_match');
      expect(sandbox.chargeLog).toEqual([]);
    });
  });
});

describe('v2 refuses an operation of one stage: the others continue', () => {
  test('404 with a reason: the stage is not available, with the provider’s reason, and the row is complete', async () => {
    await withWorkshop({ pipeline: everything }, async (workshop) => {
      const { sandbox, open, work, rows, query } = workshop;
      const run = await open(wholeCompanies(sandbox, 2).map((company) => lineOf(company)));
      await withProxy(
        workshop,
        ({ path }) => (path.includes('/financial/') ? detail(404, 'No accounts.') : undefined),
        async (sources, requests) => {
          const end = await work(run, { sources });
          expect(end.progress.byOutcome).toMatchObject({ complete: 2 });
          expect(requests.filter(({ url }) => url.includes('/financial/'))).toHaveLength(2);
        },
      );
      for (const { stages } of await rows(run))
        expect(stages).toEqual({ record: 'done', financials: 'not_available', 'credit-report': 'done' });
      expect(query('SELECT row, stage, class, code, message FROM errors ORDER BY row')).toMatchObject([
        { row: 1, stage: 'financials', class: 'not_available', code: 'NOT_FOUND', message: 'No accounts.' },
        { row: 2 },
      ]);
    });
  });

  test('a company that one module does not know: its stages report it in errors, as for a refusal', async () => {
    await withWorkshop({ pipeline: everything }, async (workshop) => {
      const { sandbox, open, work, rows, query } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      const nobody = { status: 200, body: '[]' };
      await withProxy(
        workshop,
        ({ path }) => (path.includes('credit-report/search') ? nobody : undefined),
        async (sources) => void (await work(run, { sources })),
      );
      expect((await rows(run))[0]).toMatchObject({ outcome: 'complete', stages: { 'credit-report': 'not_available' } });
      expect(query('SELECT row, stage, class, code FROM errors')).toEqual([
        { row: 1, stage: 'credit-report', class: 'not_available', code: 'NO_CANDIDATES' },
      ]);
    });
  });

  long(
    '403 for all: the operation is closed as for a missing scope, after two requests, and the rest continues',
    async () => {
      await withWorkshop({ pipeline: everything }, async (workshop) => {
        const { sandbox, open, work } = workshop;
        const run = await open(wholeCompanies(sandbox, 5).map((company) => lineOf(company)));
        const refused = ({ path }: { readonly path: string }) =>
          path.includes('/financial/') ? detail(403, 'You do not have permission to perform this action.') : undefined;
        await withProxy(workshop, refused, async (sources, requests) => {
          const end = await work(run, { sources, concurrency: 1 });
          expect(end.progress.parkedReasons).toEqual({ scope: 5 });
          expect(end.progress.stages).toMatchObject({ record: { done: 5 }, 'credit-report': { done: 5 } });
          expect(requests.filter(({ url }) => url.includes('/financial/'))).toHaveLength(2);
        });
        expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 5 });
        expect(sandbox.reports).toHaveLength(5);
      });
    },
  );

  long.each([
    ['first', [0], 1],
    ['in the middle', [2], 1],
    ['and asked about twice', [1], 8],
    ['and another one later', [1, 3], 1],
  ])('403 for one company alone, %s: not available once others are answered', async (_, which, concurrency) => {
    await withWorkshop({ pipeline: { stages: ['financials'] } }, async (workshop) => {
      const { sandbox, open, work, rows } = workshop;
      const companies = wholeCompanies(sandbox, 6);
      const twice = concurrency > 1 ? [companies[1]] : [];
      const run = await open([...twice, ...companies].map((company) => lineOf(present(company))));
      const refused = which.map((index) => `/financial/${companies[index]?.v2Id}`);
      await withProxy(
        workshop,
        ({ path }) => (refused.some((end) => path.endsWith(end)) ? detail(403, 'Not yours.') : undefined),
        async (sources, requests) => {
          const { progress } = await work(run, { sources, concurrency });
          const odd = which.length + twice.length;
          expect(progress.stages.financials).toEqual({ done: 6 - which.length, not_available: odd });
          const asked = requests.filter(({ url }) => refused.some((end) => url.endsWith(end)));
          expect(asked).toHaveLength(which.length);
        },
      );
      expect((await rows(run)).map(({ outcome }) => outcome)).toEqual(new Array(run.rowCount).fill('complete'));
    });
  });

  test('403 from some point on: all wait for the scope, and are bought when it is back', async () => {
    await withWorkshop({ pipeline: { stages: ['financials'] } }, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 8).map((company) => lineOf(company)));
      let asked = 0;
      const revoked = ({ path }: { readonly path: string }) => {
        if (path.includes('/financial/')) asked += 1;
        return path.includes('/financial/') && asked > 3 ? detail(403, 'No permission.') : undefined;
      };
      const end = await withProxy(workshop, revoked, (sources) => work(run, { sources, concurrency: 1 }));
      expect(end.progress.byOutcome).toMatchObject({ complete: 3, pending: 5, failed: 0 });
      expect(end.progress.stages.financials?.not_available).toBeUndefined();
      expect(asked).toBe(5);
      expect((await work(run)).progress.stages.financials).toEqual({ done: 8 });
    });
  });

  test('403 for two companies in a row blocks the rest for one attempt only, and proves to be their own', async () => {
    await withWorkshop({ pipeline: { stages: ['financials'] } }, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const companies = wholeCompanies(sandbox, 5);
      const run = await open(companies.map((company) => lineOf(company)));
      const odd = new Set(companies.slice(1, 3).map(({ v2Id }) => `/financial/${v2Id}`));
      const refuse = ({ path }: { readonly path: string }) =>
        [...odd].some((end) => path.endsWith(end)) ? detail(403, 'Not yours.') : undefined;
      await withProxy(workshop, refuse, async (sources) => {
        const first = await work(run, { sources, concurrency: 1 });
        expect(first.progress.byOutcome).toMatchObject({ complete: 1, pending: 4 });
        const second = await work(run, { sources, concurrency: 1 });
        expect(second.progress.stages.financials).toEqual({ done: 3, not_available: 2 });
      });
    });
  });

  test('403 for only the last row of a file concerns that row, because no other row disproves it', async () => {
    await withWorkshop({ pipeline: { stages: ['financials'] } }, async (workshop) => {
      const { sandbox, open, work, query } = workshop;
      const companies = wholeCompanies(sandbox, 3);
      const run = await open(companies.map((company) => lineOf(company)));
      const refused = `/financial/${companies.at(-1)?.v2Id}`;
      await withProxy(
        workshop,
        ({ path }) => (path.endsWith(refused) ? detail(403, 'Not yours.') : undefined),
        async (sources, requests) => {
          const { finished, progress } = await work(run, { sources, concurrency: 1 });
          expect(finished).toBe(true);
          expect(progress.stages.financials).toEqual({ done: 2, not_available: 1 });
          expect(requests.filter(({ url }) => url.endsWith(refused))).toHaveLength(1);
        },
      );
      // One call, one line, although its row was taken twice.
      expect(query('SELECT row, code FROM errors')).toEqual([{ row: 3, code: 'FORBIDDEN' }]);
    });
  });

  test('403 for the only row of a file waits for the scope, unless v2 has answered others recently', async () => {
    const clock = new ManualClock(Date.now());
    await withWorkshop({ clock, pipeline: { stages: ['financials'] } }, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const [first, second, third] = wholeCompanies(sandbox, 3).map((company) => lineOf(company));
      const refused = async (line: string | undefined) => {
        const run = await open([present(line)]);
        const refuse = ({ path }: { readonly path: string }) =>
          path.includes('/financial/') ? detail(403, 'No permission.') : undefined;
        return { run, end: await withProxy(workshop, refuse, (sources) => work(run, { sources })) };
      };
      const { run, end } = await refused(first);
      expect(end.progress).toMatchObject({ byOutcome: { pending: 1 }, parkedReasons: { scope: 1 } });
      expect((await work(run)).progress.stages.financials).toEqual({ done: 1 });
      expect((await refused(second)).end.progress.stages.financials).toEqual({ not_available: 1 });
      clock.advance(31 * 86_400_000);
      expect((await refused(third)).end.progress.parkedReasons).toEqual({ scope: 1 });
    });
  });

  long.each([
    ['a search', '/kyb/search', 'financials'],
    ['the search for a report', '/credit-report/search', 'credit-report'],
    ['the status of a report', '/status', 'credit-report'],
    ['fetching a report', '/credit-report/body', 'credit-report'],
  ])('403 for one company alone in %s is its own, and holds no other', async (_, part, stage) => {
    await withWorkshop({ pipeline: everything, reportDelayMs: 20 }, async (workshop) => {
      const { sandbox, open, work, rows, query } = workshop;
      const run = await open(wholeCompanies(sandbox, 4).map((company) => lineOf(company)));
      let odd: string | undefined;
      const refuse = ({ path, body }: Passing) => {
        const asked = path + body;
        if (path.includes('/v2/') && path.includes(part)) odd ??= asked;
        return asked === odd ? detail(403, 'Not yours.') : undefined;
      };
      const end = await withProxy(workshop, refuse, (sources) => work(run, { sources, concurrency: 1 }));
      expect(end).toMatchObject({ finished: true, progress: { byOutcome: { complete: 4 } } });
      expect(end.progress.stages[stage]).toEqual({ done: 3, not_available: 1 });
      const [refused] = (await rows(run)).filter(({ stages }) => stages[stage] === 'not_available');
      expect(query('SELECT row, code, message FROM errors')).toEqual([
        { row: refused?.row, code: 'FORBIDDEN', message: 'Not yours.' },
      ]);
    });
  });

  long.each(['{"message":"no Route matched"}', '<html>', ''])(
    '404 as %j is a wrong route until v2 has answered something: then it is a provider fault (X-1)',
    async (body) => {
      await withWorkshop({ pipeline: { stages: ['financials', 'credit-report'] } }, async (workshop) => {
        const { sandbox, open, work } = workshop;
        const run = await open(wholeCompanies(sandbox, 3).map((company) => lineOf(company)));
        const meeting = (part: string, concurrency = 1) =>
          withProxy(
            workshop,
            ({ path }) => (path.includes(part) ? { status: 404, body } : undefined),
            async (sources) => await work(run, { sources, concurrency }),
          );
        expect((await meeting('/v2/')).stopped).toMatchObject({ code: 'ROUTE_NOT_FOUND', exit: 2 });
        // The other operations have answered, and this one has not yet.
        for (const part of ['/financial/', 'credit-report/search', 'credit-report/body']) {
          const end = await meeting(part);
          expect(end.stopped, part).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', exit: 6 });
          expect(end.progress.byOutcome, part).toMatchObject({ pending: 3 });
        }
        expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 3 });
        expect(sandbox.reports).toHaveLength(3);
      });
    },
  );

  test('404 in a foreign form, for one company while others are answered, leaves its row to the next attempt', async () => {
    await withWorkshop({ pipeline: { stages: ['financials'] } }, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const companies = wholeCompanies(sandbox, 3);
      const run = await open(companies.map((company) => lineOf(company)));
      const end = await withProxy(
        workshop,
        ({ path }) => (path.endsWith(`/financial/${companies[2]?.v2Id}`) ? { status: 404, body: '<html>' } : undefined),
        (sources) => work(run, { sources, concurrency: 1 }),
      );
      expect(end.stopped).toBeUndefined();
      expect(end.progress.stages.financials).toEqual({ done: 2, parked: 1 });
      expect((await work(run)).progress.stages.financials).toEqual({ done: 3 });
    });
  });

  test('a failed stage does not stop the others, the row fails, and a retry requests only that stage', async () => {
    await withWorkshop({ pipeline: everything, reportDelayMs: 20 }, async (workshop) => {
      const { sandbox, ledger, open, work, rows } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      sandbox.script('financial', { reply: { status: 400, body: '{"fields":["Give a year."]}' } });
      expect((await work(run)).progress.byOutcome).toMatchObject({ failed: 1 });
      expect(await rows(run)).toMatchObject([
        {
          outcome: 'failed',
          errorCode: 'RULE_FAILURE',
          stages: { record: 'done', financials: 'failed', 'credit-report': 'done' },
        },
      ]);
      // The row was taken several times for its report. The failed operation was not repeated each time.
      expect(sandbox.requests.get('financial')).toBe(1);
      await ledger.runs.releaseFailed(run.id);
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
      expect(sandbox.reports).toHaveLength(1);
    });
  });
});
