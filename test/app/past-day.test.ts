import { cpSync, existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ExportView, exportTables } from '../../src/app/run/export.js';
import { aRecord } from '../cli/here.js';
import { readTable } from '../export/support.js';
import { DAY, type Nights, withNights } from './nights.js';
import { refusal } from './support.js';

const PIPELINE = [
  'stages: [record, credit-report]',
  'freshness: {fullKyb: 7d, creditReportGenerate: 7d, searchKyb: 365d, kybSearch: 365d, creditReportSearch: 365d}',
];
const DATA = [
  ...['companies', 'officers', 'shareholders', 'group_links', 'filed_financials', 'credit_reports'],
  ...['credit_report_remarks', 'entities', 'relations'],
];
const STATUS = /"status":\s*"[^"]*"/;

const saying = (text: string) => ({ rewrite: (body: string) => body.replace(STATUS, `"status":"${text}"`) });

/** A run, whose tables are kept as those of its day. */
async function keepNight({ night, cwd, clock }: Nights, ...flags: string[]): Promise<string> {
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  await night('--max-reports', '9', '--concurrency', '1', ...flags);
  cpSync(join(cwd, 'tables'), join(cwd, `tables-${day}`), { recursive: true });
  return day;
}

const environment = ({ cwd, env, clock }: Nights) => ({ cwd, env, clock });
const asOf = (nights: Nights, day: string): Promise<ExportView> => exportTables({ asOf: day }, environment(nights));

describe('the tables as of a past day', { tags: 'long' }, () => {
  test('have the answers and companies of that day, free, and never replace the newest', () =>
    withNights(
      4,
      async (nights) => {
        const { sandbox, clock, cwd, rows, writeCsv } = nights;
        const days = [await keepNight(nights)];
        clock.advance(8 * DAY);
        sandbox.script(aRecord, [saying('dissolved'), { rewrite: () => '{}' }]);
        days.push(await keepNight(nights));
        clock.advance(8 * DAY);
        writeCsv('in.csv', [...rows.slice(1, 4), rows[5]] as object[]);
        days.push(await keepNight(nights));
        clock.advance(8 * DAY);
        sandbox.script(aRecord, [saying('merged')]);
        days.push(await keepNight(nights));
        clock.advance(8 * DAY);
        await nights.kybatch(['export']);
        const latest = readlinkSync(join(cwd, 'data', 'exports', 'latest', 'in'));
        const before = sandbox.requests.size;
        for (const day of days) {
          const { folder, summary, latest: link } = await asOf(nights, day);
          const of = (table: string) => [day, table, readFileSync(join(folder, `${table}.csv`), 'utf8')];
          const kept = (table: string) => [
            day,
            table,
            readFileSync(join(cwd, `tables-${day}`, `${table}.csv`), 'utf8'),
          ];
          for (const table of DATA) expect(of(table)).toEqual(kept(table));
          expect(link).toBeNull();
          expect(summary.as_of).toMatchObject({ day, answers_gone: 0, rows_not_matched_then: 0 });
          expect(readTable(folder, 'members').filter(({ left_at: left }) => left === null)).toHaveLength(4);
          expect(summary.conservation).toMatchObject({ holds: true, exported_rows: 4 });
          const changes = (place: string) =>
            readTable(place, 'changes').map(({ row: _, input_id: __, ...line }) => line);
          expect(changes(folder)).toEqual(changes(join(cwd, `tables-${day}`)));
        }
        expect(sandbox.requests.size).toBe(before);
        expect(readlinkSync(join(cwd, 'data', 'exports', 'latest', 'in'))).toBe(latest);
        const status = JSON.parse((await nights.kybatch(['status', '--json'])).stdout);
        expect(JSON.stringify(status)).not.toContain('as-of');
      },
      PIPELINE,
    ));

  test('leave out later matches and decisions, and list removed answers', () =>
    withNights(2, async (nights) => {
      const { clock, writeCsv, rows, kybatch } = nights;
      writeCsv('in.csv', [rows[0], { ...rows[1], name: '', country: '' }] as object[]);
      await nights.night();
      const first = new Date(clock.now()).toISOString().slice(0, 10);
      clock.advance(8 * DAY);
      writeCsv('in.csv', rows.slice(0, 2));
      await nights.night();
      const { folder, summary } = await asOf(nights, first);
      expect(readTable(folder, 'companies')).toHaveLength(1);
      expect(summary.outcomes).toMatchObject({ complete: 1, pending: 1 });
      expect(readTable(folder, 'rows')[1]).toMatchObject({ matched_name: null, company_key: null });
      expect(summary.as_of).toMatchObject({ rows_changed_since: 1, rows_not_matched_then: 1, answers_gone: 0 });
      expect(readTable(folder, 'members').map(({ due }) => due)).toEqual(Array(summary.tables.members).fill(null));
      clock.advance(400 * DAY);
      await nights.night();
      await kybatch(['prune', '--older-than', '90d', '--yes']);
      const { codes, code } = await kybatch(['export', '--as-of', first]);
      expect([code, ...codes]).toEqual([
        0,
        'TABLES_WRITTEN',
        'RESULTS_WRITTEN',
        'PAST_ROWS_CHANGED',
        'PAST_ROWS_NOT_MATCHED',
        'PAST_ANSWERS_GONE',
      ]);
    }));

  test('are refused for a day that has no run, is in the future, or does not exist', () =>
    withNights(1, async (nights) => {
      await nights.night();
      for (const [day, code] of [
        ['2026-01-04', 'NO_LIST_THEN'],
        ['2026-01-06', 'DATE_IN_FUTURE'],
        ['2026-02-30', 'DATE_INVALID'],
      ] as const)
        expect(await refusal(asOf(nights, day))).toMatchObject({ code, exit: 2 });
      expect(existsSync(join(nights.cwd, 'data', 'exports'))).toBe(false);
      const { folder } = await asOf(nights, '2026-01-05');
      expect(readdirSync(folder)).toContain('companies.csv');
    }));
});
