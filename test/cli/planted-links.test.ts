import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { noteExport } from '../../src/export/export-folders.js';
import { acquireLock, CommitCount, connect } from '../../src/ledger/db/sqlite/connection.js';
import { ManualClock } from '../../src/util/clock.js';
import { writeAtomically, writeFlushed } from '../../src/util/files.js';
import { openLog } from '../../src/util/logger.js';
import { withFolder } from '../helpers/cli.js';

const KEPT = 'somebody else’s file';

/** Functions that write a file of the data folder. They may refuse, but not follow a link. */
const writers: readonly [string, (dataDir: string, path: string) => unknown][] = [
  ['kybatch.lock', (dataDir) => acquireLock(dataDir).release()],
  ['kybatch.commits', (dataDir) => countCommit(dataDir)],
  ['exports.jsonl', (dataDir) => noteExport(dataDir, { run: 'r', folder: '/x', at: '2026-01-05' })],
  ['logs/a.log', (_, path) => writeLog(path)],
  ['answers/1', (_, path) => writeFlushed(path, 'a', 'new')],
  [`metrics.prom.${process.pid}.part`, (dataDir) => writeAtomically(join(dataDir, 'metrics.prom'), 'new')],
];

function countCommit(dataDir: string): void {
  const database = connect(join(dataDir, 'kybatch.db'));
  const count = new CommitCount(database);
  count.add();
  count.note();
  database.close();
}

function writeLog(path: string): void {
  const log = openLog({ path, clock: new ManualClock(), secrets: [] });
  log.info('event', {});
  log.close();
}

describe.each(writers)('a link planted as %s', (name, write) => {
  const planted = (target: string, use: (path: string) => void) =>
    withFolder(async (folder) => {
      const dataDir = join(folder, 'data');
      for (const inside of ['logs', 'answers']) mkdirSync(join(dataDir, inside), { recursive: true });
      const path = join(folder, target);
      symlinkSync(path, join(dataDir, name));
      if (target === 'kept') writeFileSync(path, KEPT, { mode: 0o644 });
      await (async () => write(dataDir, join(dataDir, name)))().catch(() => {});
      use(path);
    });

  test('changes nothing of its target', () =>
    planted('kept', (path) => {
      expect(readFileSync(path, 'utf8')).toBe(KEPT);
      expect(statSync(path).mode & 0o777).toBe(0o644);
    }));

  test('creates no target', () => planted('missing', (path) => expect(existsSync(path)).toBe(false)));
});

test.each(writers)('without a link %s is written', (name, write) =>
  withFolder(async (folder) => {
    const dataDir = join(folder, 'data');
    for (const inside of ['logs', 'answers']) mkdirSync(join(dataDir, inside), { recursive: true });
    await write(dataDir, join(dataDir, name));
    expect(existsSync(join(dataDir, name.replace(/\.\d+\.part$/, '')))).toBe(true);
  }),
);
