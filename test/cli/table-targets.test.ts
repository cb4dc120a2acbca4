import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/app/start.js';
import { systemClock } from '../../src/util/clock.js';
import { refusal } from '../app/support.js';
import { type EndJson, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes'];

interface Refused {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
}

describe('where the tables go is checked before anything is spent', () => {
  test('a foreign folder, a file, an impossible place, a format that is none', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      mkdirSync(join(cwd, 'theirs'));
      writeFileSync(join(cwd, 'theirs', 'summary.json'), '{"theirs": true}');
      for (const [flags, words] of [
        [['--out', 'theirs'], 'no export: summary.json'],
        [['--out', 'in.csv'], 'is a file'],
        [['--out', 'in.csv/tables'], 'ENOTDIR'],
        [['--out', '/proc/tables'], '/proc/tables'],
        [['--out', '.'], 'no export: data'],
        [['--format', 'xml'], 'there is no xml'],
        [['--format', 'constructor'], 'there is no constructor'],
      ] as const) {
        const end = await kybatch([...RUN, ...flags]);
        expect(end.code, words).toBe(2);
        expect(jsonOf<Refused>(end).error.message).toContain(words);
      }
      expect(sandbox.requestLog).toEqual([]);
      expect(readFileSync(join(cwd, 'theirs', 'summary.json'), 'utf8')).toBe('{"theirs": true}');
    });
  });

  test('the folder of the data directory, too; a start without tables does not mind', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      mkdirSync(join(cwd, 'data'));
      writeFileSync(join(cwd, 'data', 'exports'), 'a file');
      const end = await kybatch(RUN);
      expect(end.code).toBe(2);
      expect(jsonOf<Refused>(end).error.hint).toContain('Nothing was spent');
      expect(sandbox.requestLog).toEqual([]);
      expect((await kybatch([...RUN, '--no-export'])).code).toBe(0);
    });
  });

  test('resume and retry check as run does', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      sandbox.script({ operation: 'fullKyb' }, [400]);
      expect((await kybatch([...RUN, '--budget', '3', '--concurrency', '1'])).code).toBe(4);
      const sent = sandbox.requestLog.length;
      for (const verb of ['resume', 'retry'])
        expect((await kybatch([verb, '--yes', '--out', 'in.csv'])).code, verb).toBe(2);
      expect(sandbox.requestLog).toHaveLength(sent);
    });
  });

  test('a folder of ours with litter in it is taken', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      mkdirSync(join(cwd, 'out'));
      writeFileSync(join(cwd, 'out', '.DS_Store'), '');
      const end = await kybatch([...RUN, '--out', 'out']);
      expect(end.code).toBe(0);
      writeFileSync(join(cwd, 'out', '.~lock.results.csv#'), 'office');
      expect((await kybatch(['export', jsonOf<EndJson>(end).run, '--out', 'out'])).code).toBe(0);
      expect(readdirSync(join(cwd, 'out'))).toEqual(
        expect.arrayContaining(['.DS_Store', '.~lock.results.csv#', 'rows.csv']),
      );
    });
  });

  test('for scripts, too: a format that nobody knows is refused, whatever it is called', async () => {
    await withJob({}, async ({ cwd, env, rows, writeCsv, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      const formats = ['toString'] as unknown as readonly ['csv'];
      const asked = run({ input: join(cwd, 'in.csv'), yes: true, formats }, { env, cwd, clock: systemClock });
      expect(await refusal(asked)).toMatchObject({ exit: 2, message: 'there is no format toString.' });
      expect(sandbox.requestLog).toEqual([]);
    });
  });
});
