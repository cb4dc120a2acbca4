import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AtomicFolder } from '../../src/export/atomic-folder.js';
import { isWorkbookEdited } from '../../src/export/export-folders.js';
import { clearExports, type LatestLink, latestLink } from '../../src/export/latest-tables.js';
import { decideAll } from '../app/nights.js';
import { type EndJson, jsonOf, withJob } from '../cli/here.js';
import { withFolder } from '../helpers/cli.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';

/** Files with one word each, and the summary that lists them. */
function writeExport(dataDir: string, run: string, word: string, link?: LatestLink): string {
  const folder = join(dataDir, 'exports', run);
  const growing = new AtomicFolder(folder);
  const files = ['rows.csv', 'calls.csv', 'results.xlsx'];
  for (const file of files) writeFileSync(join(growing.path, file), word);
  const summary = {
    run,
    exported_at: word,
    versions: { kybatch: '0.0.0' },
    files: files.map((path) => ({ path, sha256: '' })),
  };
  writeFileSync(join(growing.path, 'datapackage.json'), '{}');
  writeFileSync(join(growing.path, 'summary.json'), JSON.stringify(summary));
  growing.publish(link);
  return folder;
}

const listOf = (id: number, name: string, runs: Readonly<Record<string, number>>) => ({
  id,
  name,
  listOfRun: new Map(Object.entries(runs)),
});

function linkOf(...args: Parameters<typeof latestLink>): LatestLink {
  const link = latestLink(...args);
  if (link === undefined) throw new Error('there is no link');
  return link;
}

describe('the link to the newest tables', () => {
  test.each([
    ['/home/me/lists/clients.csv', 'clients'],
    ['C:\\lists\\Kunden & Partner.xlsx', 'Kunden-Partner'],
    ['clients.csv.gz', 'clients'],
    ['../..', 'portfolio'],
    ['überwachung', 'überwachung'],
  ])('of %s is %s', async (name, expected) => {
    await withFolder(async (dataDir) => {
      const link = linkOf(dataDir, listOf(1, name, { a: 1 }));
      link.point(writeExport(dataDir, 'a', '1', link));
      expect(readlinkSync(join(dataDir, 'exports', 'latest', expected))).toBe(join('..', 'a'));
      expect(link.path).toBe(join(dataDir, 'exports', 'latest', expected));
    });
  });

  test('a second portfolio with the same name gets a number and keeps it', async () => {
    await withFolder(async (dataDir) => {
      const runs = { a: 1, b: 2, c: 2 };
      linkOf(dataDir, listOf(1, '/x/clients.csv', runs)).point(writeExport(dataDir, 'a', '1'));
      linkOf(dataDir, listOf(2, '/y/clients.csv', runs)).point(writeExport(dataDir, 'b', '2'));
      expect(readdirSync(join(dataDir, 'exports', 'latest')).sort()).toEqual(['clients', 'clients-2']);
      rmSync(join(dataDir, 'exports', 'a'), { recursive: true });
      const second = linkOf(dataDir, listOf(2, '/y/clients.csv', runs));
      second.point(writeExport(dataDir, 'c', '3'));
      expect(basename(second.path)).toBe('clients-2');
    });
  });

  test('leaves files of the user alone', async () => {
    await withFolder(async (dataDir) => {
      const list = listOf(1, 'clients', { a: 1 });
      mkdirSync(join(dataDir, 'exports', 'latest', 'clients'), { recursive: true });
      expect(basename(linkOf(dataDir, list).path)).toBe('clients-1');
      rmSync(join(dataDir, 'exports', 'latest'), { recursive: true });
      writeExport(dataDir, 'latest', '1');
      expect(latestLink(dataDir, list)).toBeUndefined();
    });
  });

  test('files of a killed process are removed, and a stand-in stays while the link needs it', async () => {
    await withFolder(async (dataDir) => {
      const inside = join(dataDir, 'exports');
      const names = ['now', 'gone'].map((suffix) => `.a.tmp-${2 ** 22 + 1}-0123abcd.${suffix}`);
      for (const name of names) writeExport(dataDir, name, '1');
      const theirs = join(inside, `.a.tmp-${2 ** 22 + 1}-0123abce.gone`);
      mkdirSync(theirs);
      writeFileSync(join(theirs, 'mine'), 'mine');
      mkdirSync(join(inside, 'latest'));
      symlinkSync(join('..', names[0] ?? ''), join(inside, 'latest', 'clients'));
      symlinkSync(join('..', 'nowhere'), join(inside, 'latest', 'dangling'));
      clearExports(dataDir);
      expect(readdirSync(inside).sort()).toEqual([names[0], basename(theirs), 'latest'].sort());
      const link = linkOf(dataDir, listOf(1, 'clients', {}));
      link.point(writeExport(dataDir, 'b', '2', link));
      expect(readdirSync(inside).sort()).toEqual([basename(theirs), 'b', 'latest'].sort());
      expect(readdirSync(join(inside, 'latest'))).toEqual(['clients']);
    });
  });
});

const MODULES = resolve(import.meta.dirname, '../../build/export');

/** Replaces the tables of two runs in turn, until it is killed. */
const WRITER = (dataDir: string) => `
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AtomicFolder } from '${MODULES}/atomic-folder.js';
import { clearExports, keepNewestTables, latestLink } from '${MODULES}/latest-tables.js';
const dataDir = ${JSON.stringify(dataDir)};
const files = ['rows.csv', 'calls.csv', 'deep/part.csv'];
for (let round = 0; ; round += 1) {
  const runs = ['a', 'a', 'b', 'c'];
  const run = runs[round % 4];
  const list = { id: 1, name: 'clients', listOfRun: new Map(runs.map((one) => [one, 1])) };
  const link = latestLink(dataDir, list);
  const folder = new AtomicFolder(join(dataDir, 'exports', run));
  mkdirSync(join(folder.path, 'deep'));
  const word = String(Date.now() * 1000 + round % 1000);
  for (const file of files) writeFileSync(join(folder.path, file), word);
  const summary = { run, exported_at: word, versions: { kybatch: '0' }, files: files.map((path) => ({ path, sha256: '' })) };
  writeFileSync(join(folder.path, 'summary.json'), JSON.stringify(summary));
  folder.publish(link);
  link.point(join(dataDir, 'exports', run));
  keepNewestTables(dataDir, list, 2, link.target);
  clearExports(dataDir);
  process.stdout.write('.');
}`;

async function startWriter(dataDir: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER(dataDir)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** The words of all files. A single word shows that they belong to one export. */
const wordsIn = (folder: string) =>
  new Set(['rows.csv', 'calls.csv', 'deep/part.csv'].map((file) => readFileSync(join(folder, file), 'utf8')));

long('a reader of the link finds tables at every moment, and a kill leaves complete ones', async () => {
  await withFolder(async (dataDir) => {
    const latest = join(dataDir, 'exports', 'latest', 'clients');
    let reads = 0;
    for (let kill = 0; kill < 15; kill += 1) {
      const writer = await startWriter(dataDir);
      for (const until = Date.now() + 40 + kill * 7; Date.now() < until; reads += 1)
        expect(existsSync(join(latest, 'summary.json'))).toBe(true);
      await writer.kill();
      expect(wordsIn(latest).size).toBe(1);
    }
    expect(reads).toBeGreaterThan(100);
    clearExports(dataDir);
    const left = readdirSync(join(dataDir, 'exports')).filter((name) => /\.(?:gone)$/.test(name));
    expect(left).toEqual([]);
  });
});

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes'];

interface LatestJson extends EndJson {
  readonly files?: string;
  readonly files_latest?: string;
}

long('each run moves the link, and older tables are kept by count', async () => {
  const clock = new JumpingClock('2026-01-05T09:00:00Z');
  await withJob(
    { clock, pipeline: ['stages: [record]', 'export: {keep: 2}'] },
    async ({ rows, writeCsv, kybatch, cwd }) => {
      const inside = join(cwd, 'data', 'exports');
      const latest = join(inside, 'latest', 'in');
      const runs: string[] = [];
      for (let night = 1; night <= 5; night += 1) {
        writeCsv('in.csv', rows.slice(0, night));
        const end = jsonOf<LatestJson>(await kybatch(RUN));
        runs.push(end.run);
        expect([end.files, end.files_latest]).toEqual([join(inside, end.run), latest]);
        expect(JSON.parse(readFileSync(join(latest, 'summary.json'), 'utf8'))).toMatchObject({ run: end.run });
        if (night === 1) writeFileSync(join(inside, end.run, 'results.xlsx'), 'edited');
        if (night === 2) await kybatch(['export', '--out', join(inside, 'mine')]);
        if (night === 3) writeFileSync(join(inside, end.run, 'notes.txt'), 'mine');
        clock.advance(86_400_000);
      }
      const [edited = '', , noted = '', fourth = '', fifth = ''] = runs;
      expect(readdirSync(inside).sort()).toEqual(['latest', 'mine', edited, noted, fourth, fifth].sort());
      expect(isWorkbookEdited(join(inside, edited))).toBe(true);
      // Tables for another place do not move the link.
      await kybatch(['export', fourth, '--out', 'elsewhere']);
      expect(readlinkSync(latest)).toBe(join('..', fifth));
      expect(await kybatch(['export', '--out', latest, '--json'])).toMatchObject({ code: 2 });
      await kybatch(['export', fourth]);
      expect(readlinkSync(latest)).toBe(join('..', fourth));
      clock.advance(400 * 86_400_000);
      await kybatch(['prune', '--older-than', '90d', '--yes']);
      expect(existsSync(join(latest, 'rows.csv'))).toBe(true);
    },
  );
});

long(
  'the rows of an older run continue in a run of the list, and the link always leads to the newest tables',
  async () => {
    const clock = new JumpingClock('2026-01-05T09:00:00Z');
    await withJob({ clock, pipeline: ['stages: [record]'] }, async ({ rows, writeCsv, kybatch, cwd }) => {
      const latest = join(cwd, 'data', 'exports', 'latest', 'in');
      const shown = () => basename(readlinkSync(latest));
      const odd = { ...rows[2], name: 'Somebody Else Altogether' };
      writeCsv('in.csv', [rows[0], odd] as object[]);
      const first = jsonOf<LatestJson>(await kybatch(RUN));
      clock.advance(86_400_000);
      writeCsv('in.csv', [rows[0], rows[1], odd] as object[]);
      const second = await kybatch(RUN.filter((word) => word !== '--json'));
      expect(second.textOf('REVIEW_NEXT')).toMatch(/kybatch run \S*in\.csv --pipeline \S*p\.yaml --yes$/);
      const newest = shown();
      await decideAll({ kybatch, cwd }, 'confirm');
      const status = jsonOf<{ next: string; other_unfinished: object }>(await kybatch(['status', '--json']));
      expect(status.next).toMatch(/^kybatch run .*in\.csv --pipeline .*p\.yaml/);
      expect(status.other_unfinished).toEqual({ run: first.run, rows: 1 });
      clock.advance(60_000);
      const resumed = jsonOf<LatestJson>(await kybatch(['resume', first.run, '--json', '--yes']));
      expect(resumed).toMatchObject({ run: first.run, outcomes: { complete: 3 } });
      expect([basename(resumed.files ?? ''), resumed.files_latest]).toEqual([first.run, latest]);
      expect(shown()).toBe(first.run);
      expect(readFileSync(join(latest, 'rows.csv'), 'utf8').match(/,complete,/g)).toHaveLength(3);
      clock.advance(60_000);
      expect(jsonOf<LatestJson>(await kybatch(RUN))).toMatchObject({ run: newest, files_latest: latest });
      expect(readFileSync(join(latest, 'rows.csv'), 'utf8').match(/,complete,/g)).toHaveLength(3);
    });
  },
);
