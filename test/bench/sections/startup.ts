import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildWhenStale } from '../../helpers/build.js';
import { type Time, timeOf } from '../cpu.js';
import { interleaved, median } from '../measure.js';
import { type Row, ratio, whole } from '../table.js';

export const title =
  'how long a command takes, against `node -e 0`: user CPU and wall time, medians of 15 rounds in turn';

const MAIN = resolve(import.meta.dirname, '../../../dist/cli/main.js');
const rounds = 15;
/** `target`: times the user CPU of `node -e 0`, at most. */
const cases = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: '--version', args: [MAIN, '--version'] },
  { name: '--help', args: [MAIN, '--help'], target: 3 },
  { name: 'run --help', args: [MAIN, 'run', '--help'] },
  { name: 'completion bash', args: [MAIN, 'completion', 'bash'], target: 3 },
  { name: 'Tab behind `status --`', args: [MAIN, '__complete', 'status', '--'], target: 3 },
  { name: 'status', args: [MAIN, 'status'], target: 5 },
  { name: 'runs', args: [MAIN, 'runs'], target: 5 },
] as const satisfies readonly { name: string; args: readonly string[]; target?: number }[];

export async function run(): Promise<Row[]> {
  buildWhenStale();
  const cwd = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  try {
    for (const args of [
      ['sandbox', 'sample', '--rows', '50'],
      ['run', 'sample.csv', '--sandbox', '--yes', '--no-export'],
    ])
      spawnSync(process.execPath, [MAIN, ...args], { cwd });
    const measured = await interleaved(
      cases.map(
        ({ args }) =>
          () =>
            timeOf(args, cwd),
      ),
      rounds,
    );
    const [node = { userMs: Number.NaN, wallMs: Number.NaN }, ...commands] = measured.map(medians);
    return cases.map((one, at) => {
      const { userMs, wallMs } = at === 0 ? node : (commands[at - 1] ?? node);
      return {
        command: one.name,
        'user ms': whole(userMs),
        'times node': ratio(userMs / node.userMs),
        target: 'target' in one ? `≤ ${one.target}` : '',
        'wall ms': whole(wallMs),
        'times node, wall': ratio(wallMs / node.wallMs),
      };
    });
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

const medians = (times: readonly Time[]): Time => ({
  userMs: median(times.map(({ userMs }) => userMs)),
  wallMs: median(times.map(({ wallMs }) => wallMs)),
});
