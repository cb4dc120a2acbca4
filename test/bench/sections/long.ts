import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildForBench } from '../build.js';
import { type Watched, watchCommand } from '../cpu.js';
import { writeList } from '../list.js';
import { startServer } from '../servers/start.js';
import { type Row, whole } from '../table.js';

export const title = 'a list from its first call to its tables (record only, two calls a row, tables in parts)';

const rows = Number(process.env.KYBATCH_BENCH_ROWS ?? 20_000);

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  const buildFolder = buildForBench();
  const server = await startServer('sandbox', [buildFolder, 'prepared']);
  try {
    const [input, pipeline, dataDir] = ['list.csv', 'long.yaml', 'data'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const settings = 'stages: [record]\nsearch: {attempts: 1}\nconcurrency: 64\nexport: {parts_above: 1000}\n';
    writeFileSync(pipeline, settings);
    await writeList(input, rows);
    const env = {
      PATH: process.env.PATH ?? '',
      KYBATCH_V1_BASE_URL: `${server.origin}/api/v1`,
      KYBATCH_V1_API_KEY: server.keys.v1,
    };
    const kybatch = (...args: string[]) =>
      watchCommand([join(buildFolder, 'cli', 'main.js'), ...args, '--quiet', '--data-dir', dataDir], env);
    const bought = await kybatch('run', input, '--pipeline', pipeline, '--yes', '--no-export');
    const exported = await kybatch('export');
    const again = await kybatch('export');
    return [
      line('calls', bought, bytesIn(dataDir)),
      line('tables', exported, bytesIn(join(dataDir, 'exports'))),
      line('tables again, parts linked', again, bytesIn(join(dataDir, 'exports'))),
    ];
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

const line = (step: string, { seconds, cpuSeconds, rssMb }: Watched, bytes: number): Row => ({
  [`${whole(rows)} rows`]: step,
  s: whole(seconds),
  'µs a row': whole((seconds / rows) * 1e6),
  'CPU µs a row': whole((cpuSeconds / rows) * 1e6),
  'peak RSS MB': whole(rssMb),
  'bytes on disk a row': whole(bytes / rows),
});

/** Linked files count once. */
function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(folder, name)));
  const sizes = new Map(files.filter((file) => file.isFile()).map(({ ino, size }) => [ino, size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
