/** @module-tag long */
import { describe, expect, test } from 'vitest';
import { aRecord } from '../cli/here.js';
import { DAY, decideAll, NIGHTLY, RUN, withNights } from './nights.js';

const BOTH = NIGHTLY.map((line) => line.replace('[record]', '[record, financials]'));

describe('the state of a row', () => {
  test('a refresh of the record alone does not reset a complete row to an earlier stage', () =>
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

  test('a row with a refused record has no company, status, grade or ID', () =>
    withNights(
      2,
      async ({ night, clock, sandbox, table, kybatch, cwd }) => {
        await night();
        clock.advance(8 * DAY);
        const another = (body: string) =>
          body.replace(/"registration_number":\s*"[^"]*"/, '"registration_number":"00000000"');
        sandbox.script(aRecord, [{ rewrite: another }]);
        await night('--concurrency', '1');
        await decideAll({ kybatch, cwd }, 'none_of_these');
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

describe('the notes of an attempt', () => {
  test('a repeated id is noted, and rows are then recognized by their company', () =>
    withNights(2, async ({ rows, writeCsv, kybatch, night }) => {
      const ids = (...given: string[]) => given.map((id, index) => ({ ...rows[index], id }));
      writeCsv('in.csv', ids('C-1', 'C-2'));
      expect((await night()).stderr).not.toContain('more than one row');
      writeCsv('in.csv', ids('C-7', 'C-7'));
      const told = /the id C-7 stands in more than one row: .* what identifies their company is/;
      expect((await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml'])).stderr).toMatch(told);
      expect((await night()).stderr).toMatch(told);
    }));

  test('invalid rows are not counted as rows to do', () =>
    withNights(2, async ({ rows, writeCsv, kybatch, night, clock }) => {
      await night();
      clock.advance(8 * DAY);
      writeCsv('in.csv', [...rows.slice(0, 3), { ...rows[3], country: 'Atlantis' }]);
      const { stderr } = await kybatch(RUN);
      expect(stderr).toMatch(/: 3 rows to go, .*\nOf 4 rows: 1 new, 2 stale; 1 more invalid\.\n/);
    }));
});
