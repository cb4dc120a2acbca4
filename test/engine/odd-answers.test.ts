import { describe, expect, test } from 'vitest';
import type { RowRecord, RunRecord } from '../../src/ledger/rows/runs.js';
import { long } from '../helpers/long.js';
import { type Passing, type Reply, withProxy } from '../helpers/proxy.js';
import { lineOf, present, type Workshop, wholeCompanies, withWorkshop } from './support.js';

const ok = (body: unknown): Reply => ({ status: 200, body: JSON.stringify(body) });

/** A search result for a company, with another ID than its own. */
const candidateOf = ({ sandbox }: Workshop, id: unknown) => {
  const { name, countryCode, registrationNumber } = present(wholeCompanies(sandbox, 1)[0]);
  return { id, name, registration_number: registrationNumber, country_code: countryCode };
};

/** Runs one row of the first whole company through a proxy that sometimes answers instead of the provider. */
async function oneRow(
  stages: readonly string[],
  answer: (request: Passing, workshop: Workshop) => Reply | undefined,
  look: (
    workshop: Workshop,
    urls: readonly string[],
    row: RowRecord,
    inAnotherRun: () => Promise<RowRecord>,
  ) => unknown,
): Promise<void> {
  await withWorkshop({ pipeline: { stages } }, async (workshop) => {
    const lines = wholeCompanies(workshop.sandbox, 1).map((company) => lineOf(company));
    const run = await workshop.open(lines);
    await withProxy(
      workshop,
      (request) => answer(request, workshop),
      async (sources, requests) => {
        await workshop.work(run, { sources });
        const urls = requests.map(({ method, url }) => `${method} ${url}`);
        const firstRow = async (of: typeof run) => present((await workshop.rows(of))[0]);
        const inAnotherRun = async () => {
          const other = await workshop.open(lines);
          await workshop.work(other, { sources });
          return await firstRow(other);
        };
        await look(workshop, urls, await firstRow(run), inAnotherRun);
      },
    );
  });
}

test('V2-5 a value of the row that v2 refuses fails the row', async () => {
  await oneRow(
    ['financials'],
    ({ path }) =>
      path.endsWith('/kyb/search') ? { status: 400, body: '{"location":["unknown"],"x":["y"]}' } : undefined,
    (_, __, row) => expect(row).toMatchObject({ outcome: 'failed', errorCode: 'VALIDATION' }),
  );
});

test.each([403, 404])(
  'X-1 V1-11 a %i of an unknown code for one company holds its row, and the others continue',
  async (status) => {
    await withWorkshop({ pipeline: { stages: ['record'] } }, async (workshop) => {
      const companies = wholeCompanies(workshop.sandbox, 3);
      const refused = present(companies[0]).v1Id;
      const run = await workshop.open(companies.map((company) => lineOf(company)));
      const body = JSON.stringify({ error: { code: 'SOMETHING_ELSE', message: 'no' }, request_id: 'r' });
      await withProxy(
        workshop,
        ({ path }) => (path.endsWith(`/kyb/${refused}/full`) ? { status, body } : undefined),
        async (sources) => {
          await workshop.work(run, { sources });
          const rows = await workshop.rows(run);
          expect(rows.map(({ outcome, holdReason }) => [outcome, holdReason])).toEqual([
            ['pending', 'ask_provider'],
            ['complete', null],
            ['complete', null],
          ]);
        },
      );
    });
  },
);

/** If the provider's answer is faulty, the row asks again or is put on hold. It does not fail. */
describe('X-1 an unusable ID of the provider', () => {
  const odd = ['-5', '.', 'a\u0000b', '../../x', '', '\u00e9', '\ud800', '12 34'];

  long.each([...odd, 1.5])('%j: the candidate is a review question, and no call uses the ID', async (id) => {
    await oneRow(
      ['record', 'financials'],
      ({ path }, workshop) => (path.endsWith('/kyb/search') ? ok([candidateOf(workshop, id)]) : undefined),
      (_, urls, row) => {
        expect(urls.filter((url) => !/\/metrics$|\/kyb\/search$/.test(url))).toEqual([]);
        expect(row).toMatchObject({ outcome: 'needs_review', errorCode: 'UNREADABLE_CANDIDATE' });
      },
    );
  });

  test.each(['../../x', '-5'])('a report %j: it is paid once, and its row is held', async (id) => {
    await oneRow(
      ['credit-report'],
      ({ path, method }) => (method === 'POST' && /generate|report$/.test(path) ? ok({ id, status: 'x' }) : undefined),
      ({ calls }, _, row) => {
        expect(row).toMatchObject({ outcome: 'pending', holdReason: 'ask_provider', errorCode: 'INVALID_PARAMS' });
        const asked = calls().map(({ operation }) => operation);
        expect(asked.filter((operation) => operation === 'creditReportGenerate')).toHaveLength(1);
        expect(asked).not.toContain('creditReportStatus');
      },
    );
  });
});

describe('X-1 an undocumented refusal', () => {
  const error = (code: string) => ({ error: { code, message: 'odd' }, request_id: 'r' });
  test.each<[string, string, RegExp, number, unknown]>([
    ['v1 400 with another code', 'record', /\/full$/, 400, error('ODD_CODE')],
    ['v1 409', 'record', /\/full$/, 409, error('CONFLICT')],
    ['v1 422 for a search', 'record', /\/kyb\/search$/, 422, error('ODD_CODE')],
    ['v2 400 with a detail', 'financials', /\/financial\//, 400, { detail: 'Something else.' }],
    ['v2 409 with a detail', 'financials', /\/financial\//, 409, { detail: 'Conflict.' }],
    ['v2 400 about a field that was not sent', 'financials', /\/kyb\/search$/, 400, { tenant: ['is missing.'] }],
    ['v2 422 about no field', 'financials', /\/kyb\/search$/, 422, { non_field_errors: ['Odd.'] }],
    ['v2 400 about the ID that it gave', 'financials', /\/financial\//, 400, { id: ['is not valid.'] }],
  ])('%s holds the row', async (_, stage, path, status, body) => {
    await oneRow(
      [stage],
      (request) => (path.test(request.path) ? { status, body: JSON.stringify(body) } : undefined),
      (_workshop, __, row) => expect(row).toMatchObject({ outcome: 'pending' }),
    );
  });
});

describe('X-1 a documented failure that persists for one row', () => {
  const failure = (status: number, code: string): Reply => ({
    status,
    body: JSON.stringify({ error: { code, message: 'no' }, request_id: 'r' }),
  });
  const failures: [what: string, stage: string, path: RegExp, reply: Reply][] = [
    ['v1 502', 'record', /\/full$/, failure(502, 'DATA_SERVICE_UNAVAILABLE')],
    ['v1 503', 'record', /\/full$/, failure(503, 'USAGE_LEDGER_UNAVAILABLE')],
    ['v1 504 for a search', 'record', /\/kyb\/search$/, failure(504, 'DATA_SERVICE_TIMEOUT')],
    ['v1 DATA_SERVICE_404 for a search', 'record', /\/kyb\/search$/, failure(404, 'DATA_SERVICE_404')],
    ['a report that is no report', 'credit-report', /\/credit-report\/body/, { status: 200, body: '[]' }],
  ];
  const held = { outcome: 'pending', holdReason: 'ask_provider' };

  const withOdd = (
    [, stage, path, reply]: (typeof failures)[number],
    use: (workshop: Workshop, work: (run: RunRecord) => ReturnType<Workshop['work']>) => Promise<void>,
  ) =>
    withWorkshop({ pipeline: { stages: [stage], report: { giveUpAfterMs: 20 } } }, async (workshop) => {
      const odd = present(wholeCompanies(workshop.sandbox, 3)[1]);
      let oddReport: string | undefined;
      const isOdd = ({ path: asked, body }: Passing): boolean => {
        if (!path.test(asked)) return false;
        if (stage !== 'credit-report')
          return asked.includes(`/${odd.v1Id}/`) || body.includes(`"${odd.registrationNumber}"`);
        oddReport ??= asked;
        return asked === oddReport;
      };
      await withProxy(
        workshop,
        (request) => (isOdd(request) ? reply : undefined),
        (sources) => use(workshop, (run) => workshop.work(run, { sources, concurrency: 1 })),
      );
    });

  test.each(failures)('%s among others: it is held, and held again when it is alone', async (...failing) => {
    await withOdd(failing, async (workshop, work) => {
      const run = await workshop.open(wholeCompanies(workshop.sandbox, 3).map((company) => lineOf(company)));
      for (const _ of [1, 2]) {
        const end = await work(run);
        expect(end.stopped).toBeUndefined();
        expect(end.progress).toMatchObject({
          byOutcome: { complete: 2, failed: 0 },
          parkedReasons: { ask_provider: 1 },
        });
      }
      expect((await workshop.work(run)).progress.byOutcome).toMatchObject({ complete: 3 });
      expect(workshop.sandbox.reports.length).toBeLessThanOrEqual(3);
    });
  });

  long.each(failures)('%s alone: an outage in three attempts, then it is held', async (...failing) => {
    await withOdd(failing, async (workshop, work) => {
      const run = await workshop.open([lineOf(present(wholeCompanies(workshop.sandbox, 2)[1]))]);
      for (const _ of [1, 2, 3]) expect((await work(run)).stopped).toMatchObject({ exit: 6 });
      expect((await work(run)).stopped).toBeUndefined();
      expect(await workshop.rows(run)).toMatchObject([held]);
      expect((await workshop.work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
    });
  });
});

/** Written as JSON text, because JavaScript would write 1.0 as 1. */
describe('V1-29 V2-4 an odd candidate does not spoil a search: it is bought once', () => {
  const unreadable = { outcome: 'needs_review', errorCode: 'UNREADABLE_CANDIDATE' };
  const conflict = { outcome: 'needs_review', errorCode: 'NUMBER_CONFLICT' };
  const odd: [what: string, field: string, json: string, row: object][] = [
    ['a name that is null', 'name', 'null', { outcome: 'complete' }],
    ['a registration number that is a number', 'registration_number', '12345678', conflict],
    ['a registration number that is true', 'registration_number', 'true', conflict],
    ['the ID 1.0', 'id', '1.0', unreadable],
    ['the ID 1.5', 'id', '1.5', unreadable],
  ];
  test.each(['record', 'financials'].flatMap((stage) => odd.map((one) => [stage, ...one] as const)))(
    '%s: %s',
    async (stage, _, field, json, expected) => {
      await oneRow(
        [stage],
        ({ path }, workshop) => {
          if (!path.endsWith('/kyb/search')) return undefined;
          const { [field]: __, ...others } = { ...candidateOf(workshop, 77) } as Record<string, unknown>;
          return { status: 200, body: `[{"${field}":${json},${JSON.stringify(others).slice(1)}]` };
        },
        async ({ calls }, _urls, row, inAnotherRun) => {
          expect(row).toMatchObject(expected);
          expect(await inAnotherRun()).toMatchObject(expected);
          const searches = calls().filter(({ stage }) => stage === 'resolve');
          expect(new Set(searches.map(({ error_code }) => error_code))).toEqual(new Set([null]));
          expect(new Set(searches.map(({ request_key }) => request_key)).size).toBe(searches.length);
        },
      );
    },
  );
});

describe('X-1 a list with an unreadable item', () => {
  const isSearch = ({ path }: Passing) => path.endsWith('/search');
  const errorsIn = ({ query }: Workshop) =>
    query<{ code: string; message: string }>('SELECT code, message FROM errors');
  const searches = ({ calls }: Workshop) => calls().filter(({ operation }) => /search/i.test(operation)).length;

  long.each([
    ['record', (workshop: Workshop) => candidateOf(workshop, present(wholeCompanies(workshop.sandbox, 1)[0]).v1Id)],
    ['financials', (workshop: Workshop) => candidateOf(workshop, present(wholeCompanies(workshop.sandbox, 1)[0]).v2Id)],
  ])('%s: the other items are used, nothing is bought again, and the row reports it', async (stage, candidate) => {
    await oneRow(
      [stage],
      (request, workshop) => (isSearch(request) ? ok([null, candidate(workshop), { id: {} }]) : undefined),
      (workshop, _, row) => {
        expect(row).toMatchObject({ outcome: 'complete' });
        expect(searches(workshop)).toBe(1);
        expect(errorsIn(workshop)).toMatchObject([
          { code: 'UNREADABLE_CANDIDATE', message: expect.stringMatching(/\b2 candidates/) },
        ]);
      },
    );
  });

  test('an unreadable candidate may be the company: a person is asked', async () => {
    await oneRow(
      ['record'],
      (request, workshop) =>
        isSearch(request)
          ? ok([{ ...candidateOf(workshop, 77), name: 'Other', registration_number: '99999999' }, null])
          : undefined,
      (_, __, row) => expect(row).toMatchObject({ outcome: 'needs_review', errorCode: 'UNREADABLE_CANDIDATE' }),
    );
  });

  test('in the history of reports: the rest is read, and a possibly hidden report is not generated again', async () => {
    const history = (...data: unknown[]) => ok({ data: [{ id: 1, source_id: 'S-0' }, ...data], pages: 1 });
    const isHistory = ({ path }: Passing) => path.includes('/credit-report/history');
    await oneRow(
      ['credit-report'],
      (request) => (isHistory(request) ? history(null, { id: true, source_id: 'other' }) : undefined),
      (_, __, row) => expect(row).toMatchObject({ outcome: 'complete' }),
    );
    await oneRow(
      ['credit-report'],
      (request, workshop) => {
        if (isSearch(request)) return ok([candidateOf(workshop, 'S-1')]);
        return isHistory(request) ? history({ id: null, source_id: 'S-1' }) : undefined;
      },
      (workshop, _, row) => {
        expect(row).toMatchObject({ outcome: 'pending', holdReason: 'ask_provider', errorCode: 'HISTORY_UNREADABLE' });
        expect(workshop.sandbox.reports).toEqual([]);
      },
    );
  });
});

describe('X-6 a candidate with texts of 200 KB each', () => {
  test.each(['('.repeat(100_000) + ')'.repeat(100_000), '1.'.repeat(100_000), 'ab '.repeat(66_666)])(
    'is a review question, and blocks nothing',
    async (text) => {
      await oneRow(
        ['record'],
        ({ path }) =>
          path.endsWith('/kyb/search')
            ? ok([
                { id: '7', name: text, registration_number: text, vat_number: text, country_code: 'GB', state: text },
              ])
            : undefined,
        (_, urls, row) => {
          expect(urls).toHaveLength(1);
          expect(row.outcome).toBe('needs_review');
        },
      );
    },
  );
});
