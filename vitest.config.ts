import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { Order } from './test/helpers/order.js';

/**
 * Temporary files are kept in memory if it has room. Tests make thousands of ledgers, and each commit waits for the
 * disk. No test depends on the disk, because the machine itself never fails.
 */
const inMemory = '/dev/shm';
const room = statfsSync(existsSync(inMemory) ? inMemory : '/');
const folder = existsSync(inMemory) && room.bavail * room.bsize > 4 * 2 ** 30 ? { TMPDIR: inMemory } : {};

const SOURCES = join(import.meta.dirname, 'src', sep);
const BUILT = join(import.meta.dirname, 'build', sep);

/**
 * Tests import sources but load their compiled files, which Node does without a transform. test/helpers/build.ts keeps
 * these up to date. Transforming each source in each thread took a quarter of the time. Users run that code in fewer
 * files (.ci/bundle.ts), and so do tests that start the command line.
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
 * These replace modules, patterns or timers, or watch modules being loaded. Other tests must not see that. Their timers
 * must not fire here either: a repeated one would fire millions of times in sixty days.
 */
const ALONE = ['test/adding/**/*.test.ts', 'test/hostile/patterns.test.ts', 'test/util/sleep.test.ts'];

/** Only real processes on a real machine show full disks, other users, kills and timers. These tests take long. */
const MACHINE = [
  'test/crash/*.test.ts',
  'test/docs/deploy.test.ts',
  'test/e2e/full-disk.test.ts',
  'test/e2e/other-user.test.ts',
  'test/soak/*.test.ts',
];

/** In a real browser, which not every machine has. */
const PAGE = ['test/page/*.test.ts'];

/** A file that `npm test` leaves out completely is not loaded. */
const LONG = process.argv.includes('!long') ? filesTagged('long') : [];

function filesTagged(tag: string): string[] {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((file) => join('test', file));
  return files.filter(
    (file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').startsWith(`/** @module-tag ${tag} */`),
  );
}

/** One thread loads the modules of kybatch once, for all of its files. */
const together = { isolate: false, server: { deps: { external: [/\/build\//] } } };

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/build.ts'],
    pool: 'threads',
    // By default one core is left idle, which is half of two. Many tests wait for a process, so one worker more than
    // there are cores keeps them busy.
    maxWorkers: availableParallelism() + 1,
    // A machine may be slow or busy, so only a test that hangs reaches these limits.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    env: folder,
    sequence: { sequencer: Order },
    // `npm test` leaves these out and `npm run test:long` runs only these. Vitest runs all tests of a file or name that
    // you give it.
    tags: [
      { name: 'long', description: 'many nights, rows or bytes (npm run test:long)' },
      { name: 'words', description: 'checks words, and is left out by npm run test:wording, which changes them' },
    ],
    // Tests import compiled files, so vitest cannot see that they depend on a source.
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
