/** @module-tag long */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shortRun } from '../../src/util/words.js';
import { jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];

test('a list without due rows names its tables, or the command that writes them', () =>
  withJob({}, async ({ rows, writeCsv, kybatch, cwd }) => {
    writeCsv('in.csv', rows.slice(0, 2));
    const { run } = jsonOf<{ run: string }>(await kybatch([...RUN, '--json', '--data-dir', 'my books']));
    const tables = join(cwd, 'my books', 'exports', run);
    const again = await kybatch([...RUN, '--data-dir', 'my books']);
    expect(again.codes).toContain('NOTHING_DUE');
    expect(again.textOf('TABLES_FROM_BEFORE')).toContain(` ${tables} (`);
    const told = jsonOf<object>(await kybatch([...RUN, '--json', '--data-dir', 'my books']));
    expect(told).toMatchObject({ files_before: tables });

    await kybatch(['export', run, '--out', 'elsewhere', '--data-dir', 'my books']);
    const resume = ['resume', run, '--yes', '--data-dir', 'my books'];
    expect((await kybatch(resume)).textOf('TABLES_FROM_BEFORE')).toContain(` ${tables} (`);
    rmSync(tables, { recursive: true });
    expect((await kybatch(resume)).textOf('TABLES_FROM_BEFORE')).toContain(` ${join(cwd, 'elsewhere')} (`);

    rmSync(join(cwd, 'elsewhere'), { recursive: true });
    const missing = await kybatch([...RUN, '--data-dir', 'my books']);
    expect(missing.codes).toContain('TABLES_NOT_WRITTEN');
    expect(missing.stdout).toContain(`: kybatch export ${shortRun(run)} --data-dir 'my books'\n`);
    await kybatch(['export', run, '--data-dir', 'my books']);
    expect(existsSync(join(tables, 'rows.csv'))).toBe(true);
  }));
