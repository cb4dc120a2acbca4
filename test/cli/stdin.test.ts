import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { expect, test, vi } from 'vitest';
import { spool } from '../../src/sheets/file-source.js';
import { long } from '../helpers/long.js';
import { type EndJson, jsonOf, withJob } from './here.js';

long('a piped list is planned and run, and leaves no copy behind', async () => {
  await withJob({}, async ({ cwd, rows, kybatch }) => {
    const scratch = join(cwd, 'scratch');
    mkdirSync(scratch);
    vi.stubEnv('TMPDIR', scratch);
    try {
      const stdin = stringify(rows.slice(0, 3), { header: true });
      const planned = await kybatch(['plan', '-', '--pipeline', 'p.yaml', '--json'], { stdin });
      expect(planned.code).toBe(0);
      expect(planned.textOf('PIPED_PORTFOLIO')).toMatch(/"stdin".*--portfolio NAME/);
      expect(jsonOf(planned)).toMatchObject({ input: '-', portfolio: 'stdin', rows: 3 });
      const ran = await kybatch(['run', '-', '--pipeline', 'p.yaml', '--yes', '--max-units', '2', '--json'], { stdin });
      expect(ran.code).toBe(4);
      const { run } = jsonOf<EndJson>(ran);
      // The rows are in the ledger, so resuming does not need the pipe.
      const resumed = await kybatch(['resume', run, '--yes', '--json']);
      expect(jsonOf<EndJson>(resumed)).toMatchObject({ run, finished: true, outcomes: { complete: 3 } });
      const again = await kybatch(['run', '-', '--pipeline', 'p.yaml', '--yes'], { stdin });
      expect(again.code).toBe(0);
      expect(again.codes).toContain('NOTHING_DUE');
      expect(readdirSync(scratch)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

test('an empty pipe and a terminal are refused', async () => {
  await withJob({}, async ({ kybatch }) => {
    const empty = await kybatch(['plan', '-'], { stdin: '' });
    expect(empty).toMatchObject({ code: 2, codes: ['FILE_EMPTY'] });
    const header = await kybatch(['plan', '-'], { stdin: 'name,country\n' });
    expect(header).toMatchObject({ code: 2, codes: ['EMPTY_INPUT'] });
    const terminal = await kybatch(['plan', '-']);
    expect(terminal).toMatchObject({ code: 2, codes: ['STDIN_NOT_PIPED'] });
  });
});

test('X-6 a pipe that never ends is refused, and leaves no copy behind', async () => {
  await withJob({}, async ({ cwd }) => {
    const scratch = join(cwd, 'scratch');
    mkdirSync(scratch);
    vi.stubEnv('TMPDIR', scratch);
    async function* endless() {
      for (;;) yield Buffer.alloc(64 * 1024, 'name,country\n');
    }
    try {
      await expect(spool(endless(), 'standard input', 1_000_000)).rejects.toMatchObject({
        code: 'FILE_TOO_LARGE',
        exit: 2,
      });
      expect(readdirSync(scratch)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
