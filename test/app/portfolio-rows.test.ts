/** @module-tag long */
import { describe, expect, test } from 'vitest';
import { run } from '../../src/app/run/run.js';
import type { SpendingEvent } from '../../src/app/run/spending.js';
import { aRecord } from '../cli/here.js';
import { DAY, decideAll, NIGHTLY, withNights } from './nights.js';

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
      expect((await night()).codes).not.toContain('ID_REPEATED');
      writeCsv('in.csv', ids('C-7', 'C-7'));
      expect((await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml'])).codes).toContain('ID_REPEATED');
      expect((await night()).codes).toContain('ID_REPEATED');
    }));

  test('invalid rows are not counted as rows to do', () =>
    withNights(2, async ({ rows, writeCsv, night, clock, cwd, env }) => {
      await night();
      clock.advance(8 * DAY);
      writeCsv('in.csv', [...rows.slice(0, 3), { ...rows[3], country: 'Atlantis' }]);
      const events: SpendingEvent[] = [];
      const listen = (event: SpendingEvent) => void events.push(event);
      await run({ input: 'in.csv', pipeline: './p.yaml', yes: true, listen }, { cwd, env, clock });
      expect(events[0]).toMatchObject({
        kind: 'started',
        toGo: 3,
        list: { members: 4, due: { new: 1, stale: 2 }, invalid: 1 },
      });
    }));
});
