/** @module-tag long */
import { describe, expect, test } from 'vitest';
import { aRecord, jsonOf } from '../cli/here.js';
import { DAY, decideAll, type Line, withNights } from './nights.js';

describe('a confirmed match stays confirmed', () => {
  const another = (body: string) =>
    body.replace(/"registration_number":\s*"[^"]*"/, '"registration_number":"00000000"');

  test('unless the new record contradicts it, which is a review question, and the old record stays until the answer', () =>
    withNights(2, async ({ night, clock, sandbox, table, kybatch, cwd }) => {
      await night();
      const numbers = () => table('companies').map(({ registration_number }) => registration_number);
      const before = numbers();
      clock.advance(8 * DAY);
      sandbox.script(aRecord, [{ rewrite: another }]);
      const { code, end } = await night('--concurrency', '1');
      expect({ code, outcomes: end.outcomes }).toMatchObject({ code: 3, outcomes: { complete: 1, needs_review: 1 } });
      expect(numbers()).toEqual(before);
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 0, code: 3 });
      expect(numbers()).toEqual(before);
      await decideAll({ kybatch, cwd }, 'confirm');
      expect(await night()).toMatchObject({ units: 0, code: 0, end: { outcomes: { complete: 2 } } });
      expect(numbers()).toContain('00000000');
    }));

  test.each(['confirm', 'none_of_these'])('also after a withdrawn decision (%s)', (decision) =>
    withNights(2, async ({ night, clock, sandbox, table, kybatch, cwd }) => {
      await night();
      const numbers = () => table('companies').map(({ registration_number }) => registration_number);
      const before = numbers();
      clock.advance(8 * DAY);
      sandbox.script(aRecord, [{ rewrite: another }]);
      await night('--concurrency', '1');
      await decideAll({ kybatch, cwd }, decision);
      await night();
      const [{ id }] = jsonOf<{ decisions: [{ id: number }] }>(
        await kybatch(['review', 'decisions', '--json']),
      ).decisions;
      expect((await kybatch(['review', 'withdraw', String(id)])).code).toBe(0);
      expect(await night()).toMatchObject({ units: 0, code: 3 });
      expect(numbers()).toEqual(before);
      expect(table('changes')).toEqual([]);
      await decideAll({ kybatch, cwd }, 'confirm');
      expect(await night()).toMatchObject({ units: 0, code: 0 });
      expect(numbers()).toContain('00000000');
      expect(table('changes').map(({ new_value }) => new_value)).toContain('00000000');
    }),
  );

  test('a decision withdrawn after further runs takes back everything since', () =>
    withNights(1, async ({ night, clock, sandbox, table, kybatch, cwd }) => {
      await night();
      const before = table('companies');
      for (const status of ['first', 'second', 'third']) {
        clock.advance(8 * DAY);
        const rewrite = (body: string) => another(body).replace(/"status":\s*"[^"]*"/, `"status":"${status}"`);
        sandbox.script(aRecord, [{ rewrite }]);
        await night();
        if (status !== 'first') continue;
        await decideAll({ kybatch, cwd }, 'confirm');
        await night();
      }
      expect(table('companies')[0]?.status).toBe('third');
      expect(table('changes').length).toBeGreaterThan(2);
      expect((await kybatch(['review', 'withdraw', '1'])).code).toBe(0);
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 0, code: 3 });
      expect(table('companies')).toEqual(before);
      expect(table('changes')).toEqual([]);
      await decideAll({ kybatch, cwd }, 'none_of_these');
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 0, end: { outcomes: { no_match: 1 } } });
      expect((await kybatch(['review', 'withdraw', '2'])).code).toBe(0);
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 0, code: 3 });
      expect(table('companies')).toEqual(before);
      await decideAll({ kybatch, cwd }, 'confirm');
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 0, code: 0 });
      expect(table('companies')[0]?.status).toBe('third');
      expect(table('changes').flatMap(({ column, new_value }) => (column === 'status' ? new_value : []))).toEqual([
        'first',
        'second',
        'third',
      ]);
    }));

  test('a withdrawn decision about a record leaves everything that was not in review', () =>
    withNights(
      1,
      async ({ night, clock, sandbox, table, kybatch, cwd, rows, writeCsv }) => {
        await night();
        clock.advance(8 * DAY);
        sandbox.script(aRecord, [{ rewrite: another }]);
        await night();
        await decideAll({ kybatch, cwd }, 'confirm');
        await night();
        const [before] = table('rows');
        const figures = table('flat_financials').length;
        expect([before?.v2_company_id !== '', figures > 0]).toEqual([true, true]);
        const told = async (since: string) =>
          jsonOf<{ changes: object[]; next_since: string }>(await kybatch(['changes', '--json', '--since', since]));
        const { next_since, changes } = await told('change:0');
        expect(changes.length).toBeGreaterThan(0);
        // The row leaves, and the decision is withdrawn meanwhile.
        writeCsv('in.csv', [rows[5]] as object[]);
        clock.advance(DAY);
        await night();
        expect((await kybatch(['review', 'withdraw', '1'])).codes).toEqual(['DECISION_WITHDRAWN']);
        clock.advance(DAY);
        await night();
        expect((await told(next_since)).changes).toEqual([]);
        writeCsv('in.csv', rows.slice(0, 1));
        clock.advance(DAY);
        expect(await night()).toMatchObject({ units: 0, code: 3 });
        expect(table('rows')[0]).toMatchObject({
          outcome: 'needs_review',
          v2_company_id: before?.v2_company_id,
          financials_status: 'done',
        });
        expect(table('flat_financials')).toHaveLength(figures);
        expect(table('changes')).toEqual([]);
      },
      ['stages: [record, financials]', 'freshness: {fullKyb: 7d, searchKyb: 365d, kybSearch: 365d, financial: 90d}'],
    ));

  test('an empty record removes nothing from the tables, also after pruning', () =>
    withNights(2, async ({ night, clock, sandbox, table, kybatch }) => {
      await night();
      const before = table('companies');
      const officers = table('officers').length;
      for (const body of ['{}', '{"lite":null,"officers":null}']) {
        clock.advance(8 * DAY);
        sandbox.script(aRecord, [{ rewrite: () => body }, { rewrite: () => body }]);
        expect(await night()).toMatchObject({ units: 2, code: 0 });
        expect(table('rows').map(({ record_status }) => record_status)).toEqual(['not_available', 'not_available']);
        expect(table('companies')).toEqual(before);
      }
      clock.advance(6 * DAY);
      expect((await kybatch(['prune', '--older-than', '1d', '--yes'])).code).toBe(0);
      await night();
      expect(table('companies')).toEqual(before);
      expect(table('officers')).toHaveLength(officers);
      clock.advance(3 * DAY);
      expect(await night()).toMatchObject({ units: 2 });
      expect(table('rows').map(({ record_status }) => record_status)).toEqual(['done', 'done']);
      expect(table('changes')).toEqual([]);
    }));

  test('a company with a new ID is searched again once, and the previous record stays until then', () =>
    withNights(2, async ({ night, clock, sandbox, table }) => {
      await night();
      const [old, other] = table('companies').map(({ v1_company_id = '' }) => v1_company_id);
      const isOld = (request: Parameters<typeof aRecord>[0]) => aRecord(request) && request.path.includes(old ?? '');
      const unknown = { status: 404, code: 'DATA_SERVICE_404' };
      clock.advance(8 * DAY);
      sandbox.script(isOld, Array(9).fill(unknown));
      expect(await night()).toMatchObject({ units: 1, code: 0 });
      expect(table('rows').map(({ record_status }) => record_status)).toContain('not_available');
      expect(table('companies').map(({ v1_company_id }) => v1_company_id)).toEqual([old, other]);
      expect(
        table('members')
          .map(({ oldest_fetched_at = '' }) => oldest_fetched_at.slice(0, 10))
          .sort(),
      ).toEqual(['2026-01-05', '2026-01-13']);
      // The next run pays for the search and finds it as it was.
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 1, code: 0, end: { due: 1, outcomes: { complete: 2 } } });
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 0, code: 0 });
      // Later it is asked for again, free and without a search.
      clock.advance(7 * DAY);
      expect(await night()).toMatchObject({ units: 1, code: 0 });
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 0, code: 0 });
      expect(table('companies')).toHaveLength(2);
    }));

  test('the new ID is confirmed by the number like any other', () =>
    withNights(1, async ({ night, clock, sandbox, table }) => {
      await night();
      const [old] = table('companies').map(({ v1_company_id = '' }) => v1_company_id);
      const moved = '99887766';
      const renumber = (body: string) => body.replaceAll(old ?? '', moved);
      clock.advance(8 * DAY);
      sandbox.script(aRecord, [{ status: 404, code: 'DATA_SERVICE_404' }]);
      await night();
      clock.advance(DAY);
      sandbox.script(({ operation }) => operation === 'searchKyb', Array(4).fill({ rewrite: renumber }));
      const { registration_number, country_code, name } = table('companies')[0] ?? {};
      const body = JSON.stringify({ lite: { id: moved, name, registration_number, country_code } });
      sandbox.script(aRecord, [{ reply: { status: 200, body } }]);
      expect(await night()).toMatchObject({ code: 0 });
      expect(table('rows').map(({ v1_company_id, record_status }) => [v1_company_id, record_status])).toEqual([
        [moved, 'done'],
      ]);
      expect(table('companies').map(({ v1_company_id }) => v1_company_id)).toEqual([moved]);
    }));

  test('also through the watch, with a free answer and without another question', () =>
    withNights(
      2,
      async ({ night, clock, sandbox, table, kybatch, cwd }) => {
        await night();
        clock.advance(DAY);
        expect((await kybatch(['watch', 'sync'])).code).toBe(0);
        clock.advance(DAY);
        const renamed = sandbox.registry.byV1Id(table('companies')[0]?.v1_company_id ?? '');
        await sandbox.changeCompany(renamed?.v2Id ?? '', 'name', 'Quite Another Holding');
        sandbox.script(aRecord, [{ rewrite: another }]);
        expect(await night()).toMatchObject({ units: 1, code: 3, end: { outcomes: { needs_review: 1 } } });
        expect(table('companies')).toHaveLength(2);
        await decideAll({ kybatch, cwd }, 'confirm');
        clock.advance(DAY);
        expect(await night()).toMatchObject({ units: 0, code: 0, end: { outcomes: { complete: 2 } } });
        expect(table('companies').map(({ name }) => name)).toContain('Quite Another Holding');
      },
      [
        'stages: [record, financials]',
        'freshness: {fullKyb: 7d, searchKyb: 365d, kybSearch: 365d, financial: 30d}',
        'watch: {fields: [name], refresh: [record]}',
      ],
    ));

  test('also with --rebuy: the search is sent again, and a new name alone is a change, not a question', () =>
    withNights(3, async ({ night, clock, sandbox, table, rows, writeCsv }) => {
      writeCsv(
        'in.csv',
        rows.slice(0, 3).map((row) => ({ ...row, vat_number: '' })),
      );
      await night();
      clock.advance(DAY);
      const renamed = sandbox.registry.byV1Id(table('companies')[1]?.v1_company_id ?? '');
      await sandbox.changeCompany(renamed?.v2Id ?? '', 'name', 'Quite Another Holding');
      expect(await night('--rebuy')).toMatchObject({ units: 6, code: 0, end: { outcomes: { complete: 3 } } });
      expect(table('companies').map(({ name }) => name)).toContain('Quite Another Holding');
      expect(table('candidates').map(({ decision }) => decision)).toContain('confirmed');
    }));

  test('with --rebuy a contradicting record is a review question too, and the old record stays', () =>
    withNights(2, async ({ night, clock, sandbox, table }) => {
      await night();
      const before = table('companies');
      clock.advance(DAY);
      sandbox.script(({ operation }) => operation === 'searchKyb', [{ rewrite: another }, { rewrite: another }]);
      sandbox.script(aRecord, [{ rewrite: another }]);
      const { code, end } = await night('--rebuy', '--concurrency', '1');
      expect({ code, outcomes: end.outcomes }).toMatchObject({ code: 3, outcomes: { complete: 1, needs_review: 1 } });
      const numbers = (lines: readonly Line[]) => lines.map(({ registration_number }) => registration_number);
      expect(numbers(table('companies'))).toEqual(numbers(before));
    }));
});
