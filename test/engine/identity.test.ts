import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { long } from '../helpers/long.js';
import { findPlainCompany, idOf, lineOf, present, wholeCompanies, withWorkshop } from './support.js';

const DAY = 86_400_000;

describe('a company in each ID space', () => {
  test.each([
    ['financials', 'v2', 'inV2', 'hasCreditReport', ['financial']],
    [
      'credit-report',
      'credit',
      'hasCreditReport',
      'inV2',
      ['creditReportHistory', 'creditReportGenerate', 'creditReportStatus', 'creditReportFetch'],
    ],
  ] as const)(
    'a company known elsewhere but not to %s: not available, no call to it, and the row is complete',
    async (stage, space, not, but, operations) => {
      await withWorkshop({}, async ({ sandbox, open, work, rows }) => {
        const { registry } = sandbox;
        const company = findPlainCompany(sandbox, (other) => {
          const { identityMismatch, noAccounts } = registry.traits(other);
          if (identityMismatch || noAccounts || !registry.hasRecord(other)) return false;
          return !registry[not](other) && registry[but](other);
        });
        const run = await open([lineOf(company)]);
        await work(run);
        const [row] = await rows(run);
        expect(row).toMatchObject({ outcome: 'complete', errorCode: null });
        expect(row?.stages).toEqual({
          record: 'done',
          financials: 'done',
          'credit-report': 'done',
          [stage]: 'not_available',
        });
        expect(row && idOf(row, 'v1')).toBe(company.v1Id);
        expect(row && idOf(row, space)).toBeUndefined();
        expect(operations.filter((operation) => sandbox.requests.has(operation))).toEqual([]);
      });
    },
  );

  long.each(['record', 'financials', 'credit-report'])(
    'a company found in no space: no match, with any planned stage (%s)',
    async (stage) => {
      await withWorkshop({ pipeline: { stages: [stage] } }, async ({ open, work, rows }) => {
        const run = await open([',Nobody Knows This Name,NL,99999998,']);
        await work(run);
        expect(await rows(run)).toMatchObject([
          {
            outcome: 'no_match',
            errorCode: 'NO_CANDIDATES',
            stage: 'confirm',
            stages: { [stage]: 'skipped' },
            ids: [],
          },
        ]);
      });
    },
  );

  test('the IDs of each space are stored with their grade and confirmed candidate', async () => {
    await withWorkshop({}, async ({ sandbox, open, work, rows }) => {
      const company = present(wholeCompanies(sandbox, 1)[0]);
      const run = await open([lineOf(company)]);
      await work(run);
      const [row] = await rows(run);
      const confirmed = (id: string) => ({
        id,
        matchedOn: 'registration_number',
        grade: expect.stringMatching(/^A/),
        candidate: { id, registration_number: company.registrationNumber },
      });
      const ids = Object.fromEntries((row?.ids ?? []).map(({ space, ...known }) => [space, known]));
      expect(ids).toMatchObject({
        v1: confirmed(company.v1Id),
        v2: confirmed(company.v2Id),
        credit: confirmed(company.sourceId),
        report: { id: String(sandbox.reports[0]?.id), grade: null, matchedOn: null, candidate: null },
      });
      expect(row).toMatchObject({ matchGrade: ids.v1?.grade, matchedOn: 'registration_number' });
    });
  });

  test('a later attempt continues with the match, at any age of its search', async () => {
    const clock = new ManualClock();
    await withWorkshop({ clock, pipeline: { stages: ['record'] } }, async ({ sandbox, open, work, rows, calls }) => {
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      expect((await work(run, { budgetUnits: 1 })).progress.parkedReasons).toEqual({ budget: 1 });
      clock.advance(400 * DAY);
      expect((await work(run)).progress).toMatchObject({ byOutcome: { complete: 1 }, unitsCharged: 2 });
      expect(sandbox.requests.get('searchKyb')).toBe(1);
      // The second attempt does not count the search as used, either.
      expect(calls().map(({ operation, charge }) => `${operation} ${charge}`)).toEqual([
        'searchKyb charged',
        'fullKyb charged',
      ]);
      expect((await rows(run))[0]?.stages).toEqual({ record: 'done' });
    });
  });
});

test('reused answers of a row are recorded with it, at 0 units', async () => {
  await withWorkshop({ pipeline: { stages: ['record'] } }, async ({ sandbox, open, work, calls }) => {
    const lines = wholeCompanies(sandbox, 1).map((company) => lineOf(company));
    await work(await open(lines));
    const again = await open([...lines, ...lines]);
    await work(again);
    const owned = calls().filter(({ charge }) => charge === 'owned');
    expect(owned.map(({ row, operation, units_charged }) => [row, operation, units_charged]).sort()).toEqual([
      [1, 'fullKyb', 0],
      [1, 'searchKyb', 0],
      [2, 'fullKyb', 0],
      [2, 'searchKyb', 0],
    ]);
  });
});
