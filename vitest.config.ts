import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/helpers/build.ts'],
    pool: 'threads',
    // By default one core is left idle, which on two cores is half of them.
    maxWorkers: 2,
    testTimeout: 30_000,
  },
});
