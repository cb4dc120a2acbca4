#!/usr/bin/env node
import { systemClock } from '../util/clock.js';
import { runCli } from './cli.js';
import type { Io } from './io.js';
import { readKeys } from './keys.js';

const io: Io = {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  columns: process.stderr.columns ?? 100,
  keys: process.stdin.isTTY === true ? readKeys : undefined,
  onInterrupt(listener) {
    process.on('SIGINT', listener);
    process.on('SIGTERM', listener);
    return () => {
      process.off('SIGINT', listener);
      process.off('SIGTERM', listener);
    };
  },
};

// A reader that goes away (`| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// Personal data is written: files are for their owner only.
process.umask(0o077);
process.exitCode = await runCli(process.argv.slice(2), io);
