#!/usr/bin/env node
import { createInterface } from 'node:readline';
import { ExitCode } from '../domain/errors.js';
import { systemClock } from '../util/clock.js';
import { runCli } from './cli.js';
import { type Interrupt, type Outside, readKeys } from './terminal/io.js';
import { COLUMNS } from './terminal/view.js';

const INTERRUPTS: readonly Interrupt[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const outside: Outside = {
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  stdin: process.stdin.isTTY === true ? undefined : () => process.stdin,
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  get columns() {
    // A pipe has none, and a terminal of unknown size reports 0.
    return Math.min(process.stdout.columns || COLUMNS, process.stderr.columns || COLUMNS);
  },
  screens: { stdout: process.stdout.isTTY === true, stderr: process.stderr.isTTY === true },
  get rows() {
    return process.stderr.rows ?? process.stdout.rows;
  },
  keys: process.stdin.isTTY === true ? () => readKeys() : undefined,
  ask: process.stdin.isTTY === true && process.stderr.isTTY === true ? ask : undefined,
  onInterrupt(listener: (signal: Interrupt) => void) {
    for (const signal of INTERRUPTS) process.on(signal, listener);
    return () => {
      for (const signal of INTERRUPTS) process.off(signal, listener);
    };
  },
};

/** Asks on stderr, because stdout is for results. Ctrl-C and Ctrl-D give no answer. */
function ask(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.on('close', () => resolve(undefined));
    lines.on('SIGINT', () => lines.close());
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

// A reader that closes the pipe (`| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  outside.stderr(`error: stdout cannot be written (${error.code}). The result is incomplete.\n`);
  process.exitCode = ExitCode.internal;
});
// A closed stderr does not stop the run.
process.stderr.on('error', () => {});

const code = await runCli(process.argv.slice(2), outside);
process.exitCode ??= code;
