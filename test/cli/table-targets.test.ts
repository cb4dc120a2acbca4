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

describe('the place of the tables is checked before anything is spent', () => {
  long('refuses a foreign folder, a file, an impossible place and an unknown format', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      mkdirSync(join(cwd, 'theirs'));
      writeFileSync(join(cwd, 'theirs', 'summary.json'), '{"theirs": true}');
      // Another way to a data directory that is not there yet.
      mkdirSync(join(cwd, 'elsewhere'));
      symlinkSync(join(cwd, 'elsewhere'), join(cwd, 'link'));
      const before = readdirSync(cwd, { recursive: true });
      for (const [flags, code, named] of [
        [['--out', 'theirs'], 'OUT_NOT_FREE', ': summary.json'],
        [['--out', 'in.csv'], 'OUT_IS_FILE', '/in.csv'],
        [['--out', 'in.csv/tables'], 'PLACE_UNUSABLE', 'ENOTDIR'],
        [['--out', '/proc/tables'], 'PLACE_UNUSABLE', '/proc/tables'],
        [['--out', '.'], 'OUT_HOLDS_DATA', '/data)'],
        [['--out', 'data'], 'OUT_HOLDS_DATA', '/data'],
        [['--out', 'data/logs'], 'OUT_NOT_FREE', '/data/logs'],
        [['--out', 'data/sandbox/x'], 'OUT_NOT_FREE', '/data/sandbox'],
        [['--out', 'data/exports.jsonl'], 'OUT_NOT_FREE', '/data/exports.jsonl'],
        [['--out', 'data/exports'], 'OUT_NOT_FREE', '/data/exports'],
        [['--out', 'data/x/y'], 'OUT_IN_DATA', '/data/x/y'],
        [['--data-dir', 'elsewhere', '--out', 'link/q'], 'OUT_IN_DATA', '/link/q'],
        [['--out', './theirs/../data/./kybatch.db-wal'], 'OUT_NOT_FREE', '/data/kybatch.db-wal'],
        [['--data-dir', 'elsewhere', '--out', 'link/kybatch.db'], 'OUT_NOT_FREE', '/elsewhere/kybatch.db'],
        [['--data-dir', 'link/deep', '--out', 'elsewhere'], 'OUT_HOLDS_DATA', '/link/deep)'],
        [['--out', '.env'], 'OUT_IS_INPUT', '/.env'],
        [['--format', 'xml'], 'FORMAT_NOT_FOUND', 'xml'],
        [['--format', 'constructor'], 'FORMAT_NOT_FOUND', 'constructor'],
      ] as const) {
        const end = await kybatch([...RUN, ...flags]);
        expect(end.code, flags.join(' ')).toBe(2);
        expect(jsonOf<Refused>(end).error).toMatchObject({ code, message: expect.stringContaining(named) });
      }
      expect(sandbox.requestLog).toEqual([]);
      // A refused attempt creates nothing.
      expect(readdirSync(cwd, { recursive: true })).toEqual(before);
      expect(readFileSync(join(cwd, 'theirs', 'summary.json'), 'utf8')).toBe('{"theirs": true}');
    });
  });

  long('the default folder is checked too, except without tables', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 2));
      mkdirSync(join(cwd, 'data'));
      writeFileSync(join(cwd, 'data', 'exports'), 'a file');
      const end = await kybatch(RUN);
      expect(end.code).toBe(2);
      expect(jsonOf<Refused>(end).error.code).toBe('PLACE_UNUSABLE');
      expect(sandbox.requestLog).toEqual([]);
      expect(readdirSync(join(cwd, 'data'))).toEqual(['exports']);
      expect((await kybatch([...RUN, '--no-export'])).code).toBe(0);
    });
  });

  long('resume, retry and export check it as run does, and any place below exports is allowed', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      sandbox.script({ operation: 'fullKyb' }, [400]);
      expect((await kybatch([...RUN, '--max-units', '3', '--concurrency', '1', '--no-export'])).code).toBe(4);
      const sent = sandbox.requestLog.length;
      for (const verb of ['resume', 'retry', 'export'])
        for (const out of ['in.csv', 'data/logs', 'data/exports.jsonl'])
          expect((await kybatch([verb, ...(verb === 'export' ? [] : ['--yes']), '--out', out])).code, verb).toBe(2);
      expect(sandbox.requestLog).toHaveLength(sent);
      expect(existsSync(join(cwd, 'data', 'exports.jsonl'))).toBe(false);
      expect((await kybatch(['export', '--out', 'data/exports/mine'])).code).toBe(0);
    });
  });

  long('a folder of an earlier version in the list’s place is named, with the next step', async () => {
    await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      mkdirSync(join(cwd, 'data', 'exports.jsonl'), { recursive: true });
      const refused = await kybatch([...RUN, '--out', 'out']);
      expect(refused.code).toBe(2);
      expect(jsonOf<Refused>(refused).error.code).toBe('EXPORT_LIST_UNUSABLE');
      expect(sandbox.requestLog).toEqual([]);
      expect((await kybatch([...RUN, '--no-export'])).code).toBe(0);
      for (const args of [
        ['export'],
        ['prune', '--older-than', '1d', '--yes'],
        ['erase', '--before', '2026-01-01', '--yes'],
      ]) {
        expect(await kybatch(args), args[0]).toMatchObject({ code: 2, codes: ['EXPORT_LIST_UNUSABLE'] });
      }
    });
  });

  long('a folder of kybatch with other files is accepted', async () => {
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

  test('for scripts: an unknown format is refused', async () => {
    await withJob({}, async ({ cwd, env, rows, writeCsv, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      const formats = ['toString'] as unknown as readonly ['csv'];
      const asked = run({ input: join(cwd, 'in.csv'), yes: true, formats }, { env, cwd, clock: systemClock });
      expect(await refusal(asked)).toMatchObject({ exit: 2, code: 'FORMAT_NOT_FOUND' });
      expect(sandbox.requestLog).toEqual([]);
    });
  });
});
