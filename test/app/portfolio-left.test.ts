import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import { aRecord, jsonOf } from '../cli/here.js';
import { long } from '../helpers/long.js';
import { sheetColumns } from '../helpers/review-sheet.js';
import { DAY, decideAll, type Line, type Nights, withNights } from './nights.js';

const runStates = async ({ kybatch }: Pick<Nights, 'kybatch'>) =>
  jsonOf<{ runs: { state: string }[] }>(await kybatch(['runs', '--json'])).runs.map(({ state }) => state);

describe('nothing is bought for rows that have left the list', () => {
  const inQuestion = ({ rows }: Nights) => ({ ...rows[2], name: 'Somebody Else Altogether' });

  long('a decision about them continues no row, and is remembered until they return', () =>
    withNights(2, async (nights) => {
      const { night, clock, rows, writeCsv, kybatch, sandbox, cwd } = nights;
      writeCsv('in.csv', [rows[0], inQuestion(nights)] as object[]);
      expect(await night()).toMatchObject({ code: 3, end: { outcomes: { complete: 1, needs_review: 1 } } });
      await kybatch(['review', 'export', '--out', 'early.csv']);
      clock.advance(DAY);
      writeCsv('in.csv', [rows[0]] as object[]);
      expect(await night()).toMatchObject({ units: 0, code: 0 });
      // No question about them is open.
      expect((await kybatch(['review', 'list'])).stdout).not.toContain('Somebody Else');
      const sheet = parse(readFileSync(join(cwd, 'early.csv')), { columns: sheetColumns, bom: true }) as Line[];
      const decided = sheet.map((line) => ({ ...line, decision: 'confirm' }));
      writeFileSync(join(cwd, 'early.csv'), stringify(decided, { header: true }));
      expect((await kybatch(['review', 'apply', 'early.csv'])).code).toBe(0);
      expect(await runStates(nights)).toEqual(['finished']);
      const charged = sandbox.chargeLog.length;
      expect((await kybatch(['resume', '--yes'])).code).toBe(2);
      expect(sandbox.chargeLog).toHaveLength(charged);
      clock.advance(DAY);
      writeCsv('in.csv', [rows[0], inQuestion(nights)] as object[]);
      // The record without a search, because it is confirmed.
      expect(await night()).toMatchObject({ units: 1, code: 0, end: { due: 1, outcomes: { complete: 2 } } });
    }),
  );

  long('a decision withdrawn while they are absent is asked for again when they return', () =>
    withNights(2, async (nights) => {
      const { night, clock, rows, writeCsv, kybatch, table } = nights;
      writeCsv('in.csv', [rows[0], inQuestion(nights)] as object[]);
      await night();
      await decideAll(nights, 'confirm');
      expect(await night()).toMatchObject({ code: 0, units: 1 });
      writeCsv('in.csv', [rows[0]] as object[]);
      clock.advance(DAY);
      await night();
      const { stdout } = await kybatch(['review', 'decisions', '--json']);
      const [{ id }] = (JSON.parse(stdout) as { decisions: [{ id: number }] }).decisions;
      expect((await kybatch(['review', 'withdraw', String(id)])).code).toBe(0);
      expect(new Set(await runStates(nights))).toEqual(new Set(['finished']));
      clock.advance(DAY);
      writeCsv('in.csv', [rows[0], inQuestion(nights)] as object[]);
      expect(await night()).toMatchObject({ units: 0, code: 3, end: { outcomes: { complete: 1, needs_review: 1 } } });
      expect(table('companies')).toHaveLength(1);
    }),
  );

  long('unfinished rows end with the run, and continue when they return to the list', () =>
    withNights(2, async (nights) => {
      const { night, clock, rows, writeCsv, kybatch, sandbox } = nights;
      // One is complete, the other is searched for but not bought.
      const first = await night('--max-units', '3', '--concurrency', '1');
      expect(first).toMatchObject({ units: 3, code: 4 });
      clock.advance(DAY);
      writeCsv('in.csv', [rows[0]] as object[]);
      expect(await night()).toMatchObject({ units: 0, code: 0, end: { outcomes: { complete: 1 } } });
      expect(await runStates(nights)).toEqual(['finished']);
      const charged = sandbox.chargeLog.length;
      for (const verb of ['resume', 'retry']) expect((await kybatch([verb, '--yes'])).code).toBe(2);
      expect((await kybatch(['resume', first.end.run, '--yes'])).code).toBe(0);
      expect(sandbox.chargeLog).toHaveLength(charged);
      writeCsv('in.csv', rows.slice(0, 2));
      clock.advance(DAY);
      expect(await night()).toMatchObject({ units: 1, code: 0, end: { outcomes: { complete: 2 } } });
    }),
  );

  test('retry ignores their failures', () =>
    withNights(2, async ({ night, clock, rows, writeCsv, kybatch, sandbox }) => {
      sandbox.script(aRecord, [{ status: 422, code: 'INVALID_REQUEST', message: 'no' }]);
      const { end } = await night('--concurrency', '1');
      const failed = end.outcomes.failed;
      expect(failed).toBe(1);
      clock.advance(DAY);
      writeCsv('in.csv', [rows[1]] as object[]);
      expect(await night()).toMatchObject({ units: 0, code: 0 });
      const charged = sandbox.chargeLog.length;
      expect((await kybatch(['resume', '--failed', '--yes'])).code).toBe(2);
      expect(sandbox.chargeLog).toHaveLength(charged);
    }));
});

long('purge names the rows of lists with the company, which is in no portfolio until they are read again', () =>
  withNights(3, async ({ clock, cwd, rows, writeCsv, kybatch, night, table }) => {
    writeCsv(
      'in.csv',
      rows.slice(0, 3).map((row, index) => ({ ...row, id: `C-${index + 1}` })),
    );
    await night();
    const entity = `v1:${table('rows')[1]?.v1_company_id}`;
    const named = /in\.csv: \w+ 2 \(\w+ 3\), ID C-2/;
    const members = async () =>
      jsonOf<{ portfolios: { members: number }[] }>(await kybatch(['portfolios', '--json'])).portfolios[0]?.members;

    const printed: string[] = [];
    const said: string[] = [];
    const answers = () => {
      expect(said).toContain('STILL_LISTED');
      expect(printed.join('')).toMatch(named);
      return 'n';
    };
    const onOutput = (text: string) => printed.push(text);
    const onCode = (code: string) => said.push(code);
    expect((await kybatch(['erase', '--entity', entity], { answers, onOutput, onCode })).code).toBe(130);

    const purged = await kybatch(['erase', '--entity', entity, '--yes', '--json']);
    expect(jsonOf(purged)).toMatchObject({
      still_listed: [{ portfolio: `${cwd}/in.csv`, row: 2, line: 3, id: 'C-2' }],
    });
    expect(await members()).toBe(2);

    clock.advance(DAY);
    const { end, units, codes } = await night();
    expect(codes).not.toContain('MEMBERS_LEFT');
    expect(end).toMatchObject({ rows: 3, due: 1, outcomes: { complete: 3 } });
    expect(units).toBeGreaterThan(0);
    expect(await members()).toBe(3);

    // Removed from the file, it is not reported as departed, because it was gone before.
    const again = await kybatch(['erase', '--entity', entity, '--yes']);
    expect(again.codes).toContain('STILL_LISTED');
    expect(again.stdout).toMatch(named);
    writeCsv(
      'in.csv',
      [1, 3].map((number) => ({ ...rows[number - 1], id: `C-${number}` })),
    );
    clock.advance(DAY);
    const quiet = await night();
    expect(quiet).toMatchObject({ units: 0, code: 0 });
    expect(quiet.codes).not.toContain('MEMBERS_LEFT');
  }),
);
