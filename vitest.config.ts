import { defineConfig } from 'vitest/config';

/** These put modules of their own in the place of ours: nobody else may meet those. */
const ALONE = ['test/adding/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/build.ts'],
    pool: 'threads',
    // By default one core is left idle, which on two cores is half of them.
    maxWorkers: 2,
    testTimeout: 30_000,
    projects: [
      // Importing everything anew for each file took a third of the time.
      { extends: true, test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: ALONE, isolate: false } },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
