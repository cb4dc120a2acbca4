import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import readWorkbook from 'read-excel-file/node';
import { expect, test } from 'vitest';
import { withFolder } from '../helpers/cli.js';
import { here } from './here.js';

test('a sample is a workbook if its name ends so, and has one country on request', async () => {
  await withFolder(async (cwd) => {
    const sample = (...more: string[]) =>
      here(['sandbox', 'sample', '--rows', '12', '--out', 'suppliers.xlsx', ...more], { cwd });
    expect((await sample('--country', 'de')).code).toBe(0);
    const [sheet] = await readWorkbook(join(cwd, 'suppliers.xlsx'));
    const [headers, ...rows] = sheet?.data ?? [];
    expect(headers).toEqual(['Id', 'Company Name', 'Country', 'Reg. No.', 'VAT No.', 'City', 'Segment']);
    expect(rows.map(([, , country]) => country)).toEqual(Array(12).fill('DE'));
    expect(rows[0]?.[3]).toMatch(/^Amtsgericht .+ HR[AB] \d+/);
    expect(readFileSync(join(cwd, 'suppliers.answers.csv'), 'utf8').trim().split('\n')).toHaveLength(13);
    expect(readdirSync(cwd).sort()).toEqual(['suppliers.answers.csv', 'suppliers.xlsx']);
    // The file may have a person's changes.
    const again = await sample();
    expect(again).toMatchObject({ code: 2, codes: ['OUT_NOT_OURS'] });
    const nowhere = await sample('--force', '--country', 'XX');
    expect(nowhere).toMatchObject({ code: 2, codes: ['SANDBOX_COUNTRY_UNKNOWN'] });
  });
});
