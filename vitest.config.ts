import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { Order } from './test/helpers/order.js';

/**
 * The files of tests lie in memory where there is room for them: thousands of ledgers are made, and each of their commits
 * waits for the disk. Nothing here can tell the two apart: whatever dies, the machine goes on.
 */
const inMemory = '/dev/shm';
const room = statfsSync(existsSync(inMemory) ? inMemory : '/');
const folder = existsSync(inMemory) && room.bavail * room.bsize > 4 * 2 ** 30 ? { TMPDIR: inMemory } : {};

const SOURCES = join(import.meta.dirname, 'src', sep);
const BUILT = join(import.meta.dirname, 'build', sep);

/**
 * Tests name our sources and get what was built of them (test/helpers/build.ts sees to it that it is not older): Node
 * loads that by itself. To have each of the sources transformed for each thread, and every name of theirs looked up in
 * what came of it, took a quarter of the time. Users run the same code, in fewer files (.ci/bundle.ts): tests that start the
 * command line run those.
 */
const built: Plugin = {
  name: 'built',
  enforce: 'pre',
  resolveId(id, importer) {
    if (importer === undefined || !id.startsWith('.')) return undefined;
    const path = resolve(dirname(importer), id);
    return path.startsWith(SOURCES) && path.endsWith('.js') ? BUILT + path.slice(SOURCES.length) : undefined;
  },
};

/**
 * These replace modules, patterns or timers, or watch modules being loaded. Other tests must not see that, and timers of
 * other tests must not fire in them: a repeated one would fire millions of times in sixty days.
 */
const ALONE = ['test/adding/**/*.test.ts', 'test/hostile/patterns.test.ts', 'test/util/sleep.test.ts'];

/** What only real processes on a real machine can show: disks that fill up, other users, kills, timers. They take long. */
const MACHINE = [
  'test/crash/*.test.ts',
  'test/docs/deploy.test.ts',
  'test/e2e/full-disk.test.ts',
  'test/e2e/other-user.test.ts',
  'test/soak/*.test.ts',
];

/** In a real browser, which not every machine has. */
const PAGE = ['test/page/*.test.ts'];

/** What `npm test` leaves out as a whole is not even loaded. */
const LONG = process.argv.includes('!long') ? filesTagged('long') : [];

function filesTagged(tag: string): string[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((file) => join('test', file));
  return files.filter(
    (file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').startsWith(`/** @module-tag ${tag} */`),
  );
}

/** One thread loads our modules once, for all of its files. */
const together = { isolate: false, server: { deps: { external: [/\/build\//] } } };

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/build.ts'],
    pool: 'threads',
    // By default one core is left idle, which on two cores is half of them. Many tests wait for a process: one more than
    // there are cores keeps those busy.
    maxWorkers: availableParallelism() + 1,
    // A machine may be slow, or busy with other things: only what hangs ends by the clock.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    env: folder,
    sequence: { sequencer: Order },
    // `npm test` leaves these out, `npm run test:long` runs them alone; a file or a name that is asked for runs whole.
    tags: [
      { name: 'long', description: 'what is long to watch: many nights, many rows, many bytes (npm run test:long)' },
      { name: 'words', description: 'judges words themselves: left out where they are changed (npm run test:wording)' },
    ],
    // No test is seen to import a source.
    forceRerunTriggers: [join(SOURCES, '**')],
    projects: [
      {
        extends: true,
        plugins: [built],
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, ...MACHINE, ...PAGE, ...LONG],
          ...together,
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, exclude: LONG, server: { deps: { external: [/\/build\//] } } },
      },
      { extends: true, plugins: [built], test: { name: 'machine', include: MACHINE, ...together } },
      { extends: true, plugins: [built], test: { name: 'page', include: PAGE, ...together } },
    ],
  },
});
