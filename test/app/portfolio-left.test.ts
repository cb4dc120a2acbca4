import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import { aRecord, jsonOf } from '../cli/here.js';
import { DAY, decideAll, type Line, type Nights, withNights } from './nights.js';

const runStates = async ({ kybatch }: Pick<Nights, 'kybatch'>) =>
  jsonOf<{ runs: { state: string }[] }>(await kybatch(['runs', '--json'])).runs.map(({ state }) => state);

describe('nothing is bought for who has left', () => {
  const inQuestion = ({ rows }: Nights) => ({ ...rows[2], name: 'Somebody Else Altogether' });

  test('a decision about them makes nobody move; it is remembered for when they come back', () =>
    withNights(2, async (nights) => {
      const { night, clock, rows, writeCsv, kybatch, sandbox, cwd } = nights;
      writeCsv('in.csv', [rows[0], inQuestion(nights)] as object[]);
      expect(await night()).toMatchObject({ code: 3, end: { outcomes: { complete: 1, needs_review: 1 } } });
      await kybatch(['review', 'export', '--out', 'early.csv']);
      clock.advance(DAY);
      writeCsv('in.csv', [rows[0]] as object[]);
      expect(await night()).toMatchObject({ units: 0, code: 0 });
      // Nobody is asked about them.
      expect((await kybatch(['review', 'list'])).stdout).not.toContain('Somebody Else');
      const sheet = parse(readFileSync(join(cwd, 'early.csv')), { columns: true, bom: true }) as Line[];
      const decided = sheet.map((line) => ({ ...line, decision: 'confirm' }));
      writeFileSync(join(cwd, 'early.csv'), stringify(decided, { header: true }));
      expect((await kybatch(['review', 'apply', 'early.csv'])).code).toBe(0);
      expect(await runStates(nights)).toEqual(['finished']);
      const charged = sandbox.chargeLog.length;
      expect((await kybatch(['resume', '--yes'])).code).toBe(2);
      expect(sandbox.chargeLog).toHaveLength(charged);
      clock.advance(DAY);
      writeCsv('in.csv', [rows[0], inQuestion(nights)] as object[]);
      // The record, and no search: it is confirmed.
      expect(await night()).toMatchObject({ units: 1, code: 0, end: { due: 1, outcomes: { complete: 2 } } });
    }));

  test('a decision that is withdrawn while they are away is asked for again when they come back', () =>
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
    }));

  test('rows that were on their way end with the run; back in the list they go on', () =>
    withNights(2, async (nights) => {
      const { night, clock, rows, writeCsv, kybatch, sandbox } = nights;
      // One is complete, the other is searched for and not bought.
      const first = await night('--budget', '3', '--concurrency', '1');
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
    }));

  test('retry leaves their failures alone', () =>
    withNights(2, async ({ night, clock, rows, writeCsv, kybatch, sandbox }) => {
      sandbox.script(aRecord, [{ status: 422, code: 'INVALID_REQUEST', message: 'no' }]);
      const { end } = await night('--concurrency', '1');
      const failed = end.outcomes.failed;
      expect(failed).toBe(1);
      clock.advance(DAY);
      writeCsv('in.csv', [rows[1]] as object[]);
      expect(await night()).toMatchObject({ units: 0, code: 0 });
      const charged = sandbox.chargeLog.length;
      expect((await kybatch(['retry', '--yes'])).code).toBe(2);
      expect(sandbox.chargeLog).toHaveLength(charged);
    }));
});
