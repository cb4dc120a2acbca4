import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildForBench } from '../build.js';
import { watchCommand } from '../cpu.js';
import { writeList } from '../list.js';
import { type ServerProcess, startServer } from '../servers/start.js';
import { type Row, ratio, whole } from '../table.js';

export const title =
  'ten times the rows: time and memory a row, and `run` on an input that is finished (record only, two calls a row)';

const small = Number(process.env.KYBATCH_BENCH_ROWS ?? 20_000);
const sizes = [small, small * 10];

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  const buildFolder = buildForBench();
  const server = await startServer('sandbox', [buildFolder, 'prepared']);
  try {
    writeFileSync(join(folder, 'scale.yaml'), 'stages: [record]\nsearch: {attempts: 1}\nconcurrency: 64\n');
    const measured: Measured[] = [];
    for (const rows of sizes) measured.push(await measure(rows, folder, buildFolder, server));
    return toTable(measured);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

interface Measured {
  readonly rows: number;
  readonly seconds: number;
  readonly rssMb: number;
  readonly againSeconds: number;
  readonly bytes: number;
}

function toTable(measured: readonly Measured[]): Row[] {
  const [first] = measured;
  const perRow = ({ seconds, rows }: Measured) => seconds / rows;
  return measured.map((one) => ({
    rows: whole(one.rows),
    'µs a row': whole(perRow(one) * 1e6),
    'time a row, ratio': ratio(perRow(one) / perRow(first ?? one)),
    'peak RSS MB': whole(one.rssMb),
    'RSS, ratio': ratio(one.rssMb / (first ?? one).rssMb),
    'bytes on disk a row': whole(one.bytes / one.rows),
    'run again, s': one.againSeconds.toFixed(2),
  }));
}

async function measure(rows: number, folder: string, buildFolder: string, server: ServerProcess): Promise<Measured> {
  const input = join(folder, `${rows}.csv`);
  const dataDir = join(folder, `data-${rows}`);
  await writeList(input, rows);
  const args = [
    join(buildFolder, 'cli', 'main.js'),
    'run',
    input,
    '--pipeline',
    join(folder, 'scale.yaml'),
    '--yes',
    '--data-dir',
    dataDir,
    '--no-export',
  ];
  const env = {
    PATH: process.env.PATH ?? '',
    KYBATCH_V1_BASE_URL: `${server.origin}/api/v1`,
    KYBATCH_V1_API_KEY: server.keys.v1,
  };
  const first = await watchCommand(args, env);
  const again = await watchCommand(args, env);
  return { rows, ...first, againSeconds: again.seconds, bytes: statSync(join(dataDir, 'kybatch.db')).size };
}
