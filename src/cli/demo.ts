import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../util/clock.js';
import { runCli } from './cli.js';
import { ExitCode } from './exit-codes.js';
import type { Io } from './io.js';

/** The same from `src/cli` and from `dist/cli`. */
const ROOT = resolve(import.meta.dirname, '../..');
const INPUT = join('fixtures', 'portfolio.csv');
const DATA = join('data', 'demo');

const io: Io = {
  stdout: () => {},
  stderr: (text) => process.stderr.write(text),
  // Nothing of a real account comes near it.
  env: {},
  cwd: ROOT,
  clock: systemClock,
  interactive: process.stderr.isTTY === true,
  columns: process.stderr.columns ?? 100,
  onInterrupt(listener) {
    process.on('SIGINT', listener);
    return () => process.off('SIGINT', listener);
  },
};

interface End {
  readonly run: string;
  readonly rows: number;
  readonly outcomes: Readonly<Record<'complete' | 'no_match' | 'needs_review' | 'invalid' | 'failed', number>>;
  readonly units_charged: number;
}

process.umask(0o077);
rmSync(join(ROOT, DATA), { recursive: true, force: true });
io.stderr(`kybatch run ${INPUT} --sandbox --data-dir ${DATA}\n\n`);
let printed = '';
const code = await runCli(['run', INPUT, '--sandbox', '--data-dir', DATA, '--json'], {
  ...io,
  stdout: (text) => {
    printed += text;
  },
});
// 3 is how this run must end: some rows are for people.
if (code !== ExitCode.rowsOpen) throw new Error(`the demo ended with exit code ${code}; see above`);
io.stderr(summary(JSON.parse(printed) as End));

function summary({ run, rows, outcomes, units_charged }: End): string {
  const flags = `--data-dir ${DATA}`;
  return `
What you have seen: a portfolio of ${rows} companies went through both APIs of a simulated provider; nothing was charged for real.
  ${outcomes.complete} were identified beyond doubt, and what the provider has about them was bought: record, financials, credit report
  ${outcomes.needs_review} are for a person: kybatch never guesses which company is meant
  ${outcomes.no_match} is unknown to the provider
  ${outcomes.invalid} cannot be asked about: no country, no identifier

The ${units_charged} units are what the real provider would have charged. Each answer is owned now: run it again, and it costs 0.

Try next, from this folder:
  npx kybatch review list ${flags}       the open questions, with the evidence
  npx kybatch status ${run} ${flags}
  npx kybatch usage ${flags}             where the units went
  npx kybatch run ${INPUT} --sandbox ${flags}   again: nothing is spent
  npx kybatch plan your-own.csv                    what your own file would cost, before anything is spent
`;
}
