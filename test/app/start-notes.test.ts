import { describe, expect, test } from 'vitest';
import { DAY, RUN, withNights } from './nights.js';

describe('what a start says', () => {
  test('an id that repeats is told: rows are known by their company then', () =>
    withNights(2, async ({ rows, writeCsv, kybatch, night }) => {
      const ids = (...given: string[]) => given.map((id, index) => ({ ...rows[index], id }));
      writeCsv('in.csv', ids('C-1', 'C-2'));
      expect((await night()).stderr).not.toContain('more than one row');
      writeCsv('in.csv', ids('C-7', 'C-7'));
      const told = /the id C-7 stands in more than one row: .* what identifies their company is/;
      expect((await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml'])).stderr).toMatch(told);
      expect((await night()).stderr).toMatch(told);
    }));

  test('rows that cannot be worked on are not among those that are to go', () =>
    withNights(2, async ({ rows, writeCsv, kybatch, night, clock }) => {
      await night();
      clock.advance(8 * DAY);
      writeCsv('in.csv', [...rows.slice(0, 3), { ...rows[3], country: 'Atlantis' }]);
      const { stderr } = await kybatch(RUN);
      expect(stderr).toMatch(/: 3 rows to go, .*\nOf 4 rows: 1 new, 2 stale; 1 more invalid\.\n/);
    }));
});
