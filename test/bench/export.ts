import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExportSummary } from '../../src/export/summary.js';
import { buildForBench } from './build.js';
import { makeNextNight, makeNights } from './export/make-nights.js';
import { makeRun } from './export/make-run.js';
import type { Measured } from './export/measured.js';
import { formatTable } from './table.js';

/**
 * The cost of an export beside its two writers alone. Each case runs in its own process, for its own peak memory.
 * `--small` is a tenth of it. `--nights N` measures only a night of N members with one in a hundred due.
 */
const members = Number(process.argv[process.argv.indexOf('--nights') + 1]);
const onlyNights = process.argv.includes('--nights');
const scale = process.argv.includes('--small') ? 0.1 : 1;
const companies = Math.round(7_000 * scale);
const many = Math.round(100_000 * scale);

const built = buildForBench();
const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-export-'));
try {
  if (onlyNights) await measureNights(members);
  else await measureAll();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A whole export in single files and in parts, and the next night, which links the parts without changes. */
async function measureNights(count: number): Promise<void> {
  const dataDir = join(folder, 'nights');
  await makeNights(dataDir, count);
  const single = measureOnce('single', 'nights');
  rmSync(join(dataDir, 'single'), { recursive: true });
  const whole = measure('whole', 'nights');
  await makeNextNight(dataDir, count);
  const night = measure('night', 'nights');
  const { parts } = JSON.parse(readFileSync(join(dataDir, 'night', 'summary.json'), 'utf8')) as ExportSummary;
  const line = (name: string, { seconds, cpuSeconds, peakMb }: Measured) => ({
    [`${count} members`]: name,
    s: seconds.toFixed(1),
    'CPU s': cpuSeconds.toFixed(1),
    'of the whole': (seconds / whole.seconds).toFixed(3),
    'CPU of the whole': (cpuSeconds / whole.cpuSeconds).toFixed(3),
    'peak RSS MB': peakMb.toFixed(0),
  });
  console.log(
    formatTable([
      line('whole, single files', single),
      line('whole, in parts', whole),
      line('night, one in a hundred due', night),
    ]),
  );
  console.log(`${parts?.written} parts written, ${parts?.taken_over} linked`);
}

async function measureAll(): Promise<void> {
  const values = await makeRun(join(folder, 'flat'), { companies, kind: 'flat' });
  const small = await makeRun(join(folder, 'half'), { companies: companies / 2, kind: 'flat' });
  console.log(`${companies} companies, ${values} flat-financial values\n`);
  const csv = measure('csv', 'flat');
  const csvHalf = measure('csv', 'half');
  const parquet = measure('parquet', 'flat');
  const parquetHalf = measure('parquet', 'half');
  const stringify = measure('csv-stringify', 'flat');
  const duckRows = measure('duckdb-rows', 'flat');
  const duckTable = measure('duckdb-table', 'flat');
  const line = (name: string, { seconds, cpuSeconds, rows, peakMb }: Measured, against = '') => ({
    case: name,
    s: seconds.toFixed(2),
    'CPU s': cpuSeconds.toFixed(2),
    'thousand rows/s': Math.round(rows / seconds / 1_000).toString(),
    'peak RSS MB': peakMb.toFixed(0),
    'ours / alone': against,
  });
  const ratio = (ours: Measured, alone: Measured) =>
    `${(alone.seconds / ours.seconds).toFixed(2)} (CPU ${(alone.cpuSeconds / ours.cpuSeconds).toFixed(2)})`;
  console.log(
    formatTable([
      line('export to CSV', csv, ratio(csv, stringify)),
      line('csv-stringify alone, rows in memory', stringify),
      line('export to Parquet', parquet, `${ratio(parquet, duckRows)}; ${ratio(parquet, duckTable)}`),
      line('DuckDB alone, rows in JavaScript memory', duckRows),
      line('DuckDB alone, a table of its own', duckTable),
      line('export of half the run to CSV', csvHalf),
      line('export of half the run to Parquet', parquetHalf),
    ]),
  );
  console.log(`${small} values in half the run: memory must not grow from there to the whole.\n`);
  const lines = [];
  for (const count of [many / 4, many]) {
    const name = `many-${count}`;
    await makeRun(join(folder, name), { companies: count, kind: 'record' });
    const { seconds, cpuSeconds, peakMb } = measure('csv', name);
    lines.push({
      'companies (full records)': String(count),
      s: seconds.toFixed(2),
      'CPU s': cpuSeconds.toFixed(2),
      'µs per company': ((seconds / count) * 1e6).toFixed(0),
      'peak RSS MB': peakMb.toFixed(0),
    });
  }
  console.log(formatTable(lines));
}

/** The faster of two: the machine may have been busy with something else. */
function measure(what: string, name: string): Measured {
  const [first, second] = [measureOnce(what, name), measureOnce(what, name)];
  return first.seconds < second.seconds ? first : second;
}

function measureOnce(what: string, name: string): Measured {
  const script = fileURLToPath(new URL('./export/case.ts', import.meta.url));
  const child = spawnSync(process.execPath, ['--import', 'tsx', script, what, join(folder, name), built], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (child.status !== 0) throw new Error(`${what} failed: ${child.stderr}`);
  return JSON.parse(child.stdout) as Measured;
}
