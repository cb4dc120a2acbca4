import { describe, expect, test } from 'vitest';
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
  test.each(['../../x', 'a/b', '', '12\n34', '\ud800'])(
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

  test.each(['12 34', '?', '..'])('v2 %j: the same', async (id) => {
    await oneRow(
      ['financials'],
      ({ path }, workshop) => (path.endsWith('/kyb/search') ? ok([candidateOf(workshop, id)]) : undefined),
      (_, urls, row) => {
        expect(urls.filter((url) => !url.endsWith('/metrics'))).toHaveLength(1);
        expect(row).toMatchObject({ outcome: 'failed', errorCode: 'INVALID_PARAMS' });
      },
    );
  });

  test.each(['../../x', ''])('a report %j: it is paid for once, and its row fails at once', async (id) => {
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
