import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildWhenStale } from '../../helpers/build.js';
import { type Time, timeOf } from '../cpu.js';
import { interleaved, median } from '../measure.js';
import { type Row, whole } from '../table.js';

export const title = 'what a list bought in part would cost: user CPU of `plan` and `portfolios`, medians of 3 in turn';

const MAIN = resolve(import.meta.dirname, '../../../dist/cli/main.js');
const rows = Number(process.env.KYBATCH_BENCH_ROWS ?? 50_000);
const units = Math.round(rows * 0.34);

export async function run(): Promise<Row[]> {
  buildWhenStale();
  const cwd = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  const commands = [
    ['plan', 'sample.csv', '--sandbox', '--json'],
    ['portfolios', '--sandbox', '--json'],
  ];
  try {
    for (const args of [
      ['sandbox', 'sample', '--rows', String(rows), '--dirty'],
      ['run', 'sample.csv', '--sandbox', '--max-units', String(units), '--no-export'],
    ])
      spawnSync(process.execPath, [MAIN, ...args], { cwd });
    const measured = await interleaved(
      commands.map((args) => (): Time => timeOf([MAIN, ...args], cwd)),
      3,
    );
    return commands.map(([command = ''], at) => ({
      rows: whole(rows),
      'bought, units': whole(units),
      command,
      'user s': (median((measured[at] ?? []).map(({ userMs }) => userMs)) / 1_000).toFixed(1),
    }));
  } finally {
    rmSync(cwd, { recursive: true });
  }
}
