/** @module-tag long */
import { describe, expect, test } from 'vitest';
import { run } from '../../src/app/run/run.js';
import type { SpendingEvent } from '../../src/app/run/spending.js';
import { aRecord, jsonOf } from '../cli/here.js';
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
  test('repeated ids are noted, and only their rows are recognized by their company', () =>
    withNights(3, async ({ rows, writeCsv, kybatch, night, table }) => {
      const given = (ids: readonly string[], more: object = {}) =>
        ids.map((id, index) => ({ ...rows[index], ...(index === 0 ? more : {}), id }));
      const due = async () =>
        jsonOf<{ due: object }>(await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json'])).due;
      writeCsv('in.csv', given(['C-1', 'C-2', 'C-3']));
      expect((await night()).codes).not.toContain('ID_REPEATED');
      writeCsv('in.csv', given(['C-1', 'C-7', 'C-7']));
      expect((await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml'])).textOf('ID_REPEATED')).toContain('C-7');
      const renamed = await night();
      expect(renamed.codes).toContain('ID_REPEATED');
      expect(renamed).toMatchObject({ units: 0, end: { due: 0 } });
      // The first row keeps its own ID, so a correction does not make it another row.
      writeCsv('in.csv', given(['C-1', 'C-7', 'C-7'], { registration_number: rows[5]?.registration_number }));
      expect(await due()).toEqual({ changed: 1 });
      const corrected = await night();
      expect(corrected.codes).not.toContain('MEMBERS_LEFT');
      expect(corrected.end.due).toBe(1);
      expect(table('members').filter(({ left_at }) => left_at !== '')).toEqual([]);
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
