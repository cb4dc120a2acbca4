import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/**
 * The files of tests lie in memory where there is room for them: thousands of ledgers are made, and each of their commits
 * waits for the disk. Nothing here can tell the two apart: whatever dies, the machine goes on.
 */
const inMemory = '/dev/shm';
const room = statfsSync(existsSync(inMemory) ? inMemory : '/');
const folder = existsSync(inMemory) && room.bavail * room.bsize > 4 * 2 ** 30 ? { TMPDIR: inMemory } : {};

/** These put modules of their own in the place of ours: nobody else may meet those. */
const ALONE = ['test/adding/**/*.test.ts'];

/** What only real processes on a real machine can show: disks that fill up, other users, kills, timers. They take long. */
const MACHINE = [
  'test/crash/*.test.ts',
  'test/docs/deploy.test.ts',
  'test/e2e/full-disk.test.ts',
  'test/e2e/other-user.test.ts',
  'test/soak/*.test.ts',
];

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/build.ts'],
    pool: 'threads',
    // By default one core is left idle, which on two cores is half of them. Many tests wait for a process: one more than
    // there are cores keeps those busy.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 30_000,
    env: folder,
    projects: [
      // Importing everything anew for each file took a third of the time.
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: [...ALONE, ...MACHINE], isolate: false },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
      { extends: true, test: { name: 'machine', include: MACHINE, isolate: false } },
    ],
  },
});
