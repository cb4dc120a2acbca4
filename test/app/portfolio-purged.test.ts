/** @module-tag long */
import { describe, expect, test } from 'vitest';
import { jsonOf } from '../cli/here.js';
import { DAY, NIGHTLY, type Nights, withNights } from './nights.js';

const TWO_STAGES = NIGHTLY.map((line) => line.replace('[record]', '[record, financials]'));

/** Statements of the first run, and records of the second. */
async function afterTwoNights({ night, clock }: Nights): Promise<void> {
  await night();
  clock.advance(8 * DAY);
  await night();
  clock.advance(DAY);
}

const asked = ({ sandbox }: Nights, operation: string) => sandbox.requests.get(operation) ?? 0;

async function listOf({ kybatch }: Nights) {
  const { portfolios } = jsonOf<{ portfolios: readonly object[] }>(await kybatch(['portfolios', '--json']));
  return portfolios[0];
}

describe('purge --before removes answers that a list uses', () => {
  test('their stages are reported as not done, and the next run buys only them', () =>
    withNights(
      3,
      async (nights) => {
        const { kybatch, night, table } = nights;
        await afterTwoNights(nights);
        expect(table('flat_financials').length).toBeGreaterThan(0);
        const again = expect.stringMatching(/\b3 .* in\.csv /);
        const refused = await kybatch(['erase', '--before', '2026-01-10']);
        expect(refused).toMatchObject({ code: 2, codes: ['BOUGHT_AGAIN', 'NOT_CONFIRMED'], stderr: again });
        expect(await listOf(nights)).toMatchObject({ due: {}, oldest_fetched_at: '2026-01-05T01:00:00.000Z' });

        const purged = await kybatch(['erase', '--before', '2026-01-10', '--yes']);
        expect(purged).toMatchObject({ code: 0, codes: expect.arrayContaining(['BOUGHT_AGAIN']), stdout: again });
        expect(await listOf(nights)).toMatchObject({
          due: { unfinished: 3 },
          oldest_fetched_at: '2026-01-13T01:00:00.000Z',
        });
        const plan = await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']);
        expect(jsonOf(plan)).toMatchObject({ to_buy: 3 });
        await kybatch(['export', '--out', 'tables']);
        expect(
          table('rows').map(({ outcome, record_status, financials_status }) => [
            outcome,
            record_status,
            financials_status,
          ]),
        ).toEqual(Array(3).fill(['pending', 'done', 'pending']));
        const before = asked(nights, 'financial');
        expect(await night()).toMatchObject({ code: 0, units: 3, end: { due: 3, outcomes: { complete: 3 } } });
        expect(asked(nights, 'financial') - before).toBe(3);
        expect(table('flat_financials').length).toBeGreaterThan(0);
        expect((await night()).end).toMatchObject({ to_do: 0 });
      },
      TWO_STAGES,
    ));

  test('also answers of unfinished rows, each once', () =>
    withNights(
      3,
      async (nights) => {
        const { kybatch, night, table, clock } = nights;
        await afterTwoNights(nights);
        clock.advance(7 * DAY);
        // One record was bought again, two rows are unfinished.
        expect(await night('--max-units', '1')).toMatchObject({ code: 4, units: 1 });
        const purged = await kybatch(['erase', '--before', '2026-01-15', '--yes', '--json']);
        expect(jsonOf(purged)).toMatchObject({ bought_again: [{ rows: 3 }] });
        // Of the other rows: the record of an unfinished row is gone too.
        expect(await listOf(nights)).toMatchObject({ oldest_fetched_at: '2026-01-21T01:00:00.000Z' });
        const before = asked(nights, 'financial');
        expect(await night()).toMatchObject({ code: 0, units: 2 + 3, end: { rows: 3, outcomes: { complete: 3 } } });
        expect(asked(nights, 'financial') - before).toBe(3);
        expect(table('companies')).toHaveLength(3);
        expect((await kybatch(['doctor', '--deep'])).codes).toContain('STORED_ANSWERS_OK');
      },
      TWO_STAGES,
    ));

  test('an answer that another list bought since is used instead and not bought again', () =>
    withNights(
      2,
      async (nights) => {
        const { kybatch, night, table } = nights;
        await afterTwoNights(nights);
        const other = ['run', 'in.csv', '--portfolio', 'other', '--pipeline', './p.yaml', '--yes', '--no-export'];
        await kybatch([...other, '--rebuy']);
        const purged = await kybatch(['erase', '--before', '2026-01-10', '--yes', '--json']);
        expect(jsonOf(purged)).toMatchObject({ bought_again: [] });
        expect(await night()).toMatchObject({ units: 0, end: { to_do: 0 } });
        expect(table('flat_financials').length).toBeGreaterThan(0);
      },
      TWO_STAGES,
    ));
});

test('purge --before shows how many changes are removed, and suggests no export of a removed run', () =>
  withNights(2, async ({ kybatch, night, clock, sandbox, table }) => {
    await night();
    const renamed = sandbox.registry.byV1Id(table('companies')[0]?.v1_company_id ?? '');
    await sandbox.changeCompany(renamed?.v2Id ?? '', 'name', 'Quite Another Name');
    await kybatch(['export', '--out', 'first']);
    clock.advance(8 * DAY);
    await night();
    clock.advance(DAY);
    const { code, stdout, codes } = await kybatch(['erase', '--before', '2026-01-10', '--yes']);
    expect(code).toBe(0);
    expect(codes).toContain('EXPORTS_STILL_HOLDING');
    expect(stdout).toMatch(/\b1 \w+ change\b/);
    expect(stdout).toMatch(/^ +first\b/m);
    expect(stdout).not.toContain('kybatch export');
  }));

test('a purged company counts in its run but is removed from the list and its tables, as `status` shows', () =>
  withNights(3, async (nights) => {
    const { kybatch, night, table, rows } = nights;
    await night();
    const { country, registration_number } = rows[0] ?? {};
    expect((await kybatch(['erase', '--entity', `${country}:${registration_number}`, '--yes'])).code).toBe(0);
    const { codes, stdout } = await kybatch(['status']);
    expect(codes).toEqual(expect.arrayContaining(['ROWS_COUNTED', 'ROWS_PURGED', 'PORTFOLIO_ROWS']));
    expect(stdout).toMatch(/^.* 2 [^\d\n]*\.$/m);
    expect(jsonOf<object>(await kybatch(['status', '--json']))).toMatchObject({ rows: 3, purged_rows: 1 });
    await kybatch(['export', '--out', 'tables']);
    expect([table('rows').length, table('results').length]).toEqual([2, 2]);
    // The company has left the list.
    expect(table('members').filter(({ left_at }) => left_at === '')).toHaveLength(2);
  }));
