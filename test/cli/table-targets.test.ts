import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/app/run/run.js';
import { systemClock } from '../../src/util/clock.js';
import { refusal } from '../app/support.js';
import { long } from '../helpers/long.js';
import { type EndJson, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes'];

interface Refused {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
}

describe('where the tables go is checked before anything is spent', () => {
  long('a foreign folder, a file, an impossible place, a format that is none', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      mkdirSync(join(cwd, 'theirs'));
      writeFileSync(join(cwd, 'theirs', 'summary.json'), '{"theirs": true}');
      // Another way to a data directory that is not there yet.
      mkdirSync(join(cwd, 'elsewhere'));
      symlinkSync(join(cwd, 'elsewhere'), join(cwd, 'link'));
      const before = readdirSync(cwd, { recursive: true });
      for (const [flags, words] of [
        [['--out', 'theirs'], 'no export: summary.json'],
        [['--out', 'in.csv'], 'is a file'],
        [['--out', 'in.csv/tables'], 'ENOTDIR'],
        [['--out', '/proc/tables'], '/proc/tables'],
        [['--out', '.'], 'holds the data directory'],
        [['--out', 'data'], 'is the data directory'],
        [['--out', 'data/logs'], 'data/logs is for what kybatch keeps'],
        [['--out', 'data/sandbox/x'], 'data/sandbox is for what kybatch keeps'],
        [['--out', 'data/exports.jsonl'], 'what kybatch keeps'],
        [['--out', 'data/exports'], 'what kybatch keeps'],
        [['--out', 'data/x/y'], 'it is in the data directory'],
        [['--data-dir', 'elsewhere', '--out', 'link/q'], 'it is in the data directory'],
        [['--out', './theirs/../data/./kybatch.db-wal'], 'what kybatch keeps'],
        [['--data-dir', 'elsewhere', '--out', 'link/kybatch.db'], 'what kybatch keeps'],
        [['--data-dir', 'link/deep', '--out', 'elsewhere'], 'holds the data directory'],
        [['--out', '.env'], 'kybatch reads'],
        [['--format', 'xml'], 'there is no xml'],
        [['--format', 'constructor'], 'there is no constructor'],
      ] as const) {
        const end = await kybatch([...RUN, ...flags]);
        expect(end.code, words).toBe(2);
        expect(jsonOf<Refused>(end).error.message).toContain(words);
      }
      expect(sandbox.requestLog).toEqual([]);
      // A start that is refused creates nothing.
      expect(readdirSync(cwd, { recursive: true })).toEqual(before);
      expect(readFileSync(join(cwd, 'theirs', 'summary.json'), 'utf8')).toBe('{"theirs": true}');
    });
  });

  long('the folder of the data directory, too; a start without tables does not mind', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      mkdirSync(join(cwd, 'data'));
      writeFileSync(join(cwd, 'data', 'exports'), 'a file');
      const end = await kybatch(RUN);
      expect(end.code).toBe(2);
      expect(jsonOf<Refused>(end).error.hint).toContain('Nothing was spent');
      expect(sandbox.requestLog).toEqual([]);
      expect(readdirSync(join(cwd, 'data'))).toEqual(['exports']);
      expect((await kybatch([...RUN, '--no-export'])).code).toBe(0);
    });
  });

  long('resume, retry and export check as run does; below exports it is free', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      sandbox.script({ operation: 'fullKyb' }, [400]);
      expect((await kybatch([...RUN, '--budget', '3', '--concurrency', '1', '--no-export'])).code).toBe(4);
      const sent = sandbox.requestLog.length;
      for (const verb of ['resume', 'retry', 'export'])
        for (const out of ['in.csv', 'data/logs', 'data/exports.jsonl'])
          expect((await kybatch([verb, ...(verb === 'export' ? [] : ['--yes']), '--out', out])).code, verb).toBe(2);
      expect(sandbox.requestLog).toHaveLength(sent);
      expect(existsSync(join(cwd, 'data', 'exports.jsonl'))).toBe(false);
      expect((await kybatch(['export', '--out', 'data/exports/mine'])).code).toBe(0);
    });
  });

  long('a folder that an earlier version has put in the place of the list is named, with the way out', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      mkdirSync(join(cwd, 'data', 'exports.jsonl'), { recursive: true });
      const refused = await kybatch([...RUN, '--out', 'out']);
      expect(refused.code).toBe(2);
      expect(jsonOf<Refused>(refused).error.message).toContain('should be the list of the exports');
      expect(sandbox.requestLog).toEqual([]);
      expect((await kybatch([...RUN, '--no-export'])).code).toBe(0);
      for (const args of [
        ['export'],
        ['prune', '--older-than', '1d', '--yes'],
        ['purge', '--before', '2026-01-01', '--yes'],
      ]) {
        expect(await kybatch(args), args[0]).toMatchObject({ code: 2, codes: ['EXPORT_LIST_UNUSABLE'] });
      }
    });
  });

  long('a folder of ours with litter in it is taken', async () => {
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
      expect(await refusal(asked)).toMatchObject({ exit: 2, code: 'FORMAT_NOT_FOUND' });
      expect(sandbox.requestLog).toEqual([]);
    });
  });
});
