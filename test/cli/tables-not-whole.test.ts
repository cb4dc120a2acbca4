/** @module-tag long */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inLedger } from '../helpers/ledger-place.js';
import { jsonOf, withJob } from './here.js';

test('1: incomplete tables name the missing answer and how to get it again, and have everything else', async () => {
  await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json'];
    expect((await kybatch(run)).code).toBe(0);
    for (const statement of "UPDATE bodies SET bytes = unhex('00') WHERE sha256 = (SELECT max(raw_sha256) FROM calls WHERE operation = 'fullKyb')".split(
      '; ',
    ))
      await inLedger(join(cwd, 'data'), statement);
    const exported = await kybatch(['export', '--json']);
    expect(exported.code).toBe(1);
    expect(jsonOf(exported)).toMatchObject({ answers_not_exported: 1, tables: { rows: 2, companies: 1, errors: 1 } });
    expect(exported.textOf('ANSWERS_NOT_EXPORTED')).toMatch(/ 1 [\s\S]* errors\.csv /);
    const again = await kybatch([...run, '--out', 'out']);
    expect(again.code).toBe(1);
    expect(jsonOf(again)).toMatchObject({
      files: join(cwd, 'out'),
      files_lack: { answers_not_exported: 1, not_written: [] },
    });
  });
});
