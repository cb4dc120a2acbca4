import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import { aRecord } from '../cli/here.js';
import { DAY, type Line, NIGHTLY, withNights } from './nights.js';

const BOTH = NIGHTLY.map((line) => line.replace('[record]', '[record, financials]'));

describe('where a row stands', () => {
  test('a refresh of the record alone takes a complete row back to no earlier stage', () =>
    withNights(
      1,
      async ({ night, clock, table }) => {
        await night();
        expect(table('rows')).toMatchObject([{ outcome: 'complete', stage: 'financials' }]);
        clock.advance(8 * DAY);
        expect(await night()).toMatchObject({ units: 1 });
        expect(table('rows')).toMatchObject([{ outcome: 'complete', stage: 'financials' }]);
      },
      BOTH,
    ));

  test('whose record a person refuses has no company, and no status, grade or ID of one', () =>
    withNights(
      2,
      async ({ night, clock, sandbox, table, kybatch, cwd }) => {
        await night();
        clock.advance(8 * DAY);
        const another = (body: string) =>
          body.replace(/"registration_number":\s*"[^"]*"/, '"registration_number":"00000000"');
        sandbox.script(aRecord, [{ rewrite: another }]);
        await night('--concurrency', '1');
        await kybatch(['review', 'export']);
        const sheet = join(cwd, 'review.csv');
        const lines = parse(readFileSync(sheet), { columns: true, bom: true }) as Line[];
        const refused = lines.map((line) => ({ ...line, decision: 'none_of_these' }));
        writeFileSync(sheet, stringify(refused, { header: true }));
        await kybatch(['review', 'apply', 'review.csv']);
        await night();
        const [nobody] = table('rows').filter(({ outcome }) => outcome === 'no_match');
        expect(nobody).toMatchObject({
          stage: 'confirm',
          record_status: 'skipped',
          financials_status: 'skipped',
          match_grade: '',
          matched_on: '',
          v1_company_id: '',
          v2_company_id: '',
        });
        expect(table('companies')).toHaveLength(1);
      },
      BOTH,
    ));
});
