/** @module-tag long */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Company } from '../../src/sandbox/registry/types.js';
import { wholeCompanies } from '../engine/support.js';
import { chargedAgain, chargesByOperation } from '../helpers/sandbox.js';
import { DAY, type Nights, withNights } from './nights.js';

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

/** The pipeline file with one text replaced by another. */
function rewrite({ cwd }: Nights, before: string, after: string): void {
  const file = join(cwd, 'p.yaml');
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(before);
  writeFileSync(file, text.replace(before, after));
}

/** The charges of one run. */
async function boughtBy({ sandbox, night }: Nights): Promise<Readonly<Record<string, number>>> {
  const before = sandbox.chargeLog.length;
  expect((await night()).code).toBe(0);
  return chargesByOperation(sandbox.chargeLog.slice(before));
}

describe('a stage with new options runs again for finished rows', () => {
  test.each([
    ['record: {modules: [lite]}', 'record: {modules: [lite, officers]}', { officersKyb: 1 }],
    ['record: {modules: [lite, officers]}', 'record: {modules: [lite]}', {}],
    ['profile: {from: v1}', 'profile: {from: v2}', { kybSearch: 1, kybLite: 1 }],
    ['contacts: {reveal: []}', 'contacts: {reveal: [email]}', { enrichPerson: 1 }],
    [
      'screening: {people_at_most: 1}',
      'screening: {people_at_most: 2}',
      { officersSearchKyb: 1, shareholdersSearchKyb: 1 },
    ],
  ] as const)('%s → %s', (before, after, bought) =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night, clock, kybatch } = nights;
        writeCsv('in.csv', wholeCompanies(sandbox, 1).map(inputOf));
        await boughtBy(nights);
        clock.advance(DAY);
        expect(await boughtBy(nights)).toEqual({});
        rewrite(nights, before, after);
        const planned = JSON.parse((await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json'])).stdout);
        expect(await boughtBy(nights)).toEqual(bought);
        expect(chargedAgain(sandbox.chargeLog)).toEqual([]);
        const { v1_units: units, v2_calls: calls } = planned as Record<string, { at_most: number }>;
        expect((units?.at_most ?? 0) + (calls?.at_most ?? 0)).toBeGreaterThanOrEqual(Object.keys(bought).length);
        const { end } = await night();
        clock.advance(DAY);
        expect(await night()).toMatchObject({ units: 0, end: { run: end.run } });
      },
      [`stages: [${before.split(':')[0]}]`, before],
    ),
  );
});

test('a row that was stopped gets the new options from the run that takes it over', () =>
  withNights(
    1,
    async (nights) => {
      const { sandbox, writeCsv, night, table, kybatch } = nights;
      writeCsv('in.csv', wholeCompanies(sandbox, 1).map(inputOf));
      expect((await night('--max-units', '2')).code).toBe(4);
      rewrite(nights, 'modules: [lite]', 'modules: [lite, financial]');
      const planned = JSON.parse((await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json'])).stdout);
      const { v1_units: units } = planned as Record<string, { at_most: number }>;
      const bought = await boughtBy(nights);
      expect(bought).toMatchObject({ financialKyb: 1 });
      expect(bought).not.toHaveProperty('liteKyb');
      expect(units?.at_most).toBeGreaterThanOrEqual(Object.values(bought).reduce((sum, count) => sum + count, 0));
      expect(table('rows')).toMatchObject([{ outcome: 'complete', record_status: 'done', screening_status: 'done' }]);
    },
    ['stages: [record, screening]', 'record: {modules: [lite]}', 'screening: {people_at_most: 1}'],
  ));

describe('ids_shared', () => {
  const STAGES = 'stages: [record, financials]';

  test('that is removed: a wrongly shared ID is searched again, and the v1 match stays', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, table, clock, kybatch, night } = nights;
        const [company] = wholeCompanies(sandbox, 1);
        if (company === undefined) throw new Error('no such company');
        writeCsv('in.csv', [inputOf(company)]);
        await boughtBy(nights);
        expect(table('rows')[0]?.v2_company_id).toBe(company.v1Id);
        rewrite(nights, 'ids_shared: [v1, v2]', 'ids_shared: false');
        const planned = JSON.parse((await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json'])).stdout);
        expect(planned).toMatchObject({ v1_units: { at_most: 0 } });
        expect(await boughtBy(nights)).toEqual({ kybSearch: 1, financial: 1 });
        expect(table('rows')).toMatchObject([
          { outcome: 'complete', v1_company_id: company.v1Id, v2_company_id: company.v2Id, financials_status: 'done' },
        ]);
        const { end } = await night();
        clock.advance(DAY);
        expect(await night()).toMatchObject({ units: 0, end: { run: end.run } });
      },
      [STAGES, 'ids_shared: [v1, v2]'],
    ));

  test('in another order, or with spaces of no stage, changes nothing', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, writeCsv, night } = nights;
        writeCsv('in.csv', wholeCompanies(sandbox, 1).map(inputOf));
        const { end } = await night();
        rewrite(nights, '[v1, companies]', '[companies, v1]');
        expect(await night()).toMatchObject({ units: 0, end: { run: end.run } });
        rewrite(nights, 'ids_shared: [companies, v1]', 'ids_shared: [v1, insights]');
        expect(await night()).toMatchObject({ units: 0, end: { run: end.run } });
      },
      [STAGES, 'ids_shared: [v1, companies]'],
    ));
});
