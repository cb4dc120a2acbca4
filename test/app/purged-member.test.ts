import { expect, test } from 'vitest';
import { jsonOf } from '../cli/here.js';
import { DAY, withNights } from './nights.js';

test('purge says which lines of which lists still name the company; it is no member until they are read again', () =>
  withNights(3, async ({ clock, cwd, rows, writeCsv, kybatch, night, table }) => {
    writeCsv(
      'in.csv',
      rows.slice(0, 3).map((row, index) => ({ ...row, id: `C-${index + 1}` })),
    );
    await night();
    const entity = `v1:${table('rows')[1]?.v1_company_id}`;
    const named = `${cwd}/in.csv (row 2, id C-2)`;
    const warning = `Still in the newest file of ${named}: the next \`kybatch run\` of that list buys it again, unless the line is taken out.`;

    const printed: string[] = [];
    const answers = () => {
      expect(printed.join('')).toContain(warning);
      return 'n';
    };
    const onOutput = (text: string) => printed.push(text);
    expect((await kybatch(['purge', '--entity', entity], { answers, onOutput })).code).toBe(130);

    const purged = await kybatch(['purge', '--entity', entity, '--yes', '--json']);
    expect(jsonOf(purged)).toMatchObject({ still_listed: [{ portfolio: `${cwd}/in.csv`, row: 2, id: 'C-2' }] });
    expect((await kybatch(['portfolios'])).stdout).toContain('2 members');

    clock.advance(DAY);
    const { end, units, stderr } = await night();
    expect(stderr).not.toContain('left');
    expect(end).toMatchObject({ rows: 3, due: 1, outcomes: { complete: 3 } });
    expect(units).toBeGreaterThan(0);
    expect((await kybatch(['portfolios'])).stdout).toContain('3 members');

    // Taken out of the file, nobody says that it has left: it was gone before.
    const again = await kybatch(['purge', '--entity', entity, '--yes']);
    expect(again.stderr).toContain(warning);
    writeCsv(
      'in.csv',
      [1, 3].map((number) => ({ ...rows[number - 1], id: `C-${number}` })),
    );
    clock.advance(DAY);
    const quiet = await night();
    expect(quiet).toMatchObject({ units: 0, code: 0 });
    expect(quiet.stderr).not.toContain('left');
  }));
