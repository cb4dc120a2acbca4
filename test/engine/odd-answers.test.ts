import { describe, expect, test } from 'vitest';
import { long } from '../helpers/long.js';
import { type Passing, type Reply, withProxy } from '../helpers/proxy.js';
import { lineOf, present, type Workshop, wholeCompanies, withWorkshop } from './support.js';

const ok = (body: unknown): Reply => ({ status: 200, body: JSON.stringify(body) });

/** What a search says about a company, with another ID than its own. */
const candidateOf = ({ sandbox }: Workshop, id: unknown) => {
  const { name, countryCode, registrationNumber } = present(wholeCompanies(sandbox, 1)[0]);
  return { id, name, registration_number: registrationNumber, country_code: countryCode };
};

/** One row of the first whole company, with something on the way that answers for the provider now and then. */
async function oneRow(
  stages: readonly string[],
  answer: (request: Passing, workshop: Workshop) => Reply | undefined,
  look: (workshop: Workshop, urls: readonly string[], row: Awaited<ReturnType<Workshop['rows']>>[number]) => unknown,
): Promise<void> {
  await withWorkshop({ pipeline: { stages } }, async (workshop) => {
    const run = await workshop.open(wholeCompanies(workshop.sandbox, 1).map((company) => lineOf(company)));
    await withProxy(
      workshop,
      (request) => answer(request, workshop),
      async (sources, requests) => {
        await workshop.work(run, { sources });
        const urls = requests.map(({ method, url }) => `${method} ${url}`);
        await look(workshop, urls, present((await workshop.rows(run))[0]));
      },
    );
  });
}

describe('an ID of the provider that fits no address', () => {
  long.each(['../../x', '', '\ud800'])(
    'v1 %j: the row fails with the reason, and nothing is asked for by it',
    async (id) => {
      await oneRow(
        ['record'],
        ({ path }, workshop) => (path.endsWith('/kyb/search') ? ok([candidateOf(workshop, id)]) : undefined),
        (_, urls, row) => {
          expect(urls).toEqual([expect.stringMatching(/^POST .*\/kyb\/search$/)]);
          expect(row).toMatchObject({ outcome: 'failed', errorCode: 'INVALID_PARAMS' });
          expect(row.errorMessage).toContain('It was not sent. If it is an ID of the provider');
        },
      );
    },
  );

  test.each(['12 34', '..'])('v2 %j: the same', async (id) => {
    await oneRow(
      ['financials'],
      ({ path }, workshop) => (path.endsWith('/kyb/search') ? ok([candidateOf(workshop, id)]) : undefined),
      (_, urls, row) => {
        expect(urls.filter((url) => !url.endsWith('/metrics'))).toHaveLength(1);
        expect(row).toMatchObject({ outcome: 'failed', errorCode: 'INVALID_PARAMS' });
      },
    );
  });

  test.each(['../../x'])('a report %j: it is paid for once, and its row fails at once', async (id) => {
    await oneRow(
      ['credit-report'],
      ({ path, method }) => (method === 'POST' && /generate|report$/.test(path) ? ok({ id, status: 'x' }) : undefined),
      ({ calls }, _, row) => {
        expect(row).toMatchObject({ outcome: 'failed', errorCode: 'INVALID_PARAMS' });
        const asked = calls().map(({ operation }) => operation);
        expect(asked.filter((operation) => operation === 'creditReportGenerate')).toHaveLength(1);
        expect(asked).not.toContain('creditReportStatus');
      },
    );
  });
});

describe('X-1 a list with an item that cannot be read', () => {
  const isSearch = ({ path }: Passing) => path.endsWith('/search');
  const errorsIn = ({ query }: Workshop) =>
    query<{ code: string; message: string }>('SELECT code, message FROM errors');
  const searches = ({ calls }: Workshop) => calls().filter(({ operation }) => /search/i.test(operation)).length;

  long.each([
    ['record', (workshop: Workshop) => candidateOf(workshop, present(wholeCompanies(workshop.sandbox, 1)[0]).v1Id)],
    ['financials', (workshop: Workshop) => candidateOf(workshop, present(wholeCompanies(workshop.sandbox, 1)[0]).v2Id)],
  ])('%s: the others are used, nothing is bought again, and the row says so', async (stage, candidate) => {
    await oneRow(
      [stage],
      (request, workshop) => (isSearch(request) ? ok([null, candidate(workshop), { id: {} }]) : undefined),
      (workshop, _, row) => {
        expect(row).toMatchObject({ outcome: 'complete' });
        expect(searches(workshop)).toBe(1);
        expect(errorsIn(workshop)).toMatchObject([
          { code: 'UNREADABLE_CANDIDATE', message: expect.stringContaining('2 candidates that cannot be read') },
        ]);
      },
    );
  });

  test('nobody is taken for unknown who may be the one: a person is asked', async () => {
    await oneRow(
      ['record'],
      (request, workshop) =>
        isSearch(request)
          ? ok([{ ...candidateOf(workshop, 77), name: 'Other', registration_number: '99999999' }, null])
          : undefined,
      (_, __, row) => expect(row).toMatchObject({ outcome: 'needs_review', errorCode: 'UNREADABLE_CANDIDATE' }),
    );
  });

  test('in the history of reports: the rest is read, and a report that it may hide is not generated again', async () => {
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
        expect(row).toMatchObject({ outcome: 'failed', errorCode: 'HISTORY_UNREADABLE' });
        expect(workshop.sandbox.reports).toEqual([]);
      },
    );
  });
});

describe('X-6 a candidate whose every text is 200 KB', () => {
  test.each(['('.repeat(100_000) + ')'.repeat(100_000), '1.'.repeat(100_000), 'ab '.repeat(66_666)])(
    'is a question, and blocks nothing',
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
