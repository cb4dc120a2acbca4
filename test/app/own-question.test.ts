/** @module-tag long */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Company } from '../../src/sandbox/registry/types.js';
import { jsonOf } from '../cli/here.js';
import { chargesByOperation } from '../helpers/sandbox.js';
import { DAY, decideAll, type Nights, withNights } from './nights.js';

const PIPELINE = [
  'stages: [record, ownership]',
  'freshness: {fullKyb: 7d, ownership: 90d, searchKyb: 365d, kybSearch: 365d}',
];

const inputOf = ({ name, countryCode, registrationNumber }: Company) => ({
  name,
  country: countryCode,
  registration_number: registrationNumber ?? '',
});

/** A company whose number belongs to another country in the ownership module, so a person is asked. */
async function firstNight({ sandbox, writeCsv, night }: Nights): Promise<Company> {
  const company = sandbox.registry.company(13505);
  writeCsv('in.csv', [inputOf(company)]);
  expect((await night()).code).toBe(3);
  return company;
}

const ASKED = { outcome: 'needs_review', record_status: 'done', ownership_status: 'pending' };

describe('a review question about an additional stage', () => {
  test('does not stop the refresh of the record, and stays open free of charge', () =>
    withNights(
      1,
      async (nights) => {
        const { sandbox, night, table, clock, kybatch, cwd } = nights;
        const company = await firstNight(nights);
        const next = jsonOf<{ portfolios: [{ next_due_at: string }] }>(await kybatch(['portfolios', '--json']));
        expect(next.portfolios[0].next_due_at).toMatch(/^2026-01-12/);
        await sandbox.changeCompany(company.v2Id, 'company_status', 'In liquidation');
        clock.advance(8 * DAY);
        const planned = jsonOf<object>(await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']));
        expect(planned).toMatchObject({ v1_units: { at_most: 1 }, v2_calls: { at_most: 0 } });
        const second = await night();
        expect(second).toMatchObject({ units: 1, code: 3 });
        expect(chargesByOperation(sandbox.chargeLog)).toMatchObject({ fullKyb: 2, ownership: 1 });
        expect(table('changes').map(({ column, new_value }) => `${column} ${new_value}`)).toContain(
          'status In liquidation',
        );
        expect(table('rows')).toMatchObject([ASKED]);
        clock.advance(DAY);
        expect(await night()).toMatchObject({ units: 0, code: 3, end: { run: second.end.run } });

        await decideAll({ kybatch, cwd }, 'none_of_these');
        expect(await night()).toMatchObject({ units: 0, code: 0 });
        expect(table('rows')).toMatchObject([{ outcome: 'complete', ownership_status: 'not_available' }]);
      },
      PIPELINE,
    ));

  test('does not hold a pipeline without the stage, and is asked again by one that has it', () =>
    withNights(
      1,
      async (nights) => {
        const { night, table, cwd } = nights;
        await firstNight(nights);
        const own = readFileSync(join(cwd, 'p.yaml'), 'utf8');
        writeFileSync(join(cwd, 'p.yaml'), own.replace('[record, ownership]', '[record]'));
        expect(await night()).toMatchObject({ units: 0, code: 0 });
        expect(table('rows')).toMatchObject([{ outcome: 'complete', record_status: 'done' }]);
        writeFileSync(join(cwd, 'p.yaml'), own);
        expect(await night()).toMatchObject({ units: 0, code: 3 });
        expect(table('rows')).toMatchObject([ASKED]);
      },
      PIPELINE,
    ));
});
