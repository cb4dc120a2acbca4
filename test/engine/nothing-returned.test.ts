import { describe, expect, test } from 'vitest';
import { withProxy } from '../helpers/proxy.js';
import { lineOf, present, wholeCompanies, withWorkshop } from './support.js';

describe('V1-22 an empty answer', () => {
  test.each([
    ['record', '{}', 'EMPTY_RECORD', (path: string, id: string) => path.endsWith(`/${id}/full`)],
    ['financials', '{"2024":{}}', 'NO_FIGURES', (path: string) => path.includes('/financial/')],
    ['credit-report', '{"summary":{}}', 'REPORT_EMPTY', (path: string) => path.includes('/credit-report/body')],
  ])(
    '%s: the stage is not available and reports it, and the row does not count as one with data',
    async (stage, body, code, is) => {
      await withWorkshop({ pipeline: { stages: ['record', stage] } }, async (workshop) => {
        const { sandbox, open, work, rows, query } = workshop;
        const companies = wholeCompanies(sandbox, 2);
        const [odd] = companies;
        const run = await open(companies.map((company) => lineOf(company)));
        const seen = new Set<string>();
        await withProxy(
          workshop,
          ({ path }) => {
            if (!is(path, String(present(odd).v1Id)) || (seen.size > 0 && !seen.has(path))) return undefined;
            seen.add(path);
            return { status: 200, body, headers: { 'x-service-units': '1' } };
          },
          (sources) => work(run, { sources, concurrency: 1 }),
        );
        const statuses = (await rows(run)).map(({ outcome, stages }) => [outcome, stages[stage]].join());
        expect(statuses.sort()).toEqual(['complete,done', 'complete,not_available']);
        expect(query('SELECT stage, class, code FROM errors')).toEqual([{ stage, class: 'not_available', code }]);
        // The answer is stored as it came, and not bought again.
        const before = sandbox.chargeLog.length;
        expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 2 });
        expect(sandbox.chargeLog).toHaveLength(before);
      });
    },
  );
});

describe('X-1 a paid report', () => {
  const slow = { reportDelayMs: 20, pipeline: { stages: ['credit-report'] } };

  test('is requested again, after any number of polls that return a page', async () => {
    await withWorkshop(slow, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 3).map((company) => lineOf(company)));
      let odd: string | undefined;
      let pages = 7;
      const end = await withProxy(
        workshop,
        ({ path }) => {
          if (!path.endsWith('/status')) return undefined;
          odd ??= path;
          if (path !== odd || pages === 0) return undefined;
          pages -= 1;
          return { status: 200, body: '<html>' };
        },
        // The others are answered, so this is no outage.
        (sources) =>
          work(run, { sources, pipeline: workshop.pipeline({ breaker: { failures: 100 }, patienceMs: 600_000 }) }),
      );
      expect(end.progress.byOutcome).toMatchObject({ complete: 3, failed: 0 });
      expect(sandbox.reports).toHaveLength(3);
    });
  });
});
