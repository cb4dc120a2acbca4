import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildForBench } from '../build.js';
import { interleaved } from '../measure.js';
import { PER_API, runClient, toTable, writeWork } from '../pipeline-work.js';
import { startServer } from '../servers/start.js';
import type { Row } from '../table.js';

export const title =
  'the rows of `pipeline`, by this code and by that of another checkout, in turn on one sandbox (KYBATCH_BENCH_AGAINST)';

const CLIENT = 'test/bench/clients/ours.ts';
const repetitions = Number(process.env.KYBATCH_BENCH_REPETITIONS ?? 5);
const rows = Number(process.env.KYBATCH_BENCH_ROWS ?? 6_000);

/** The other checkout has its packages installed. It is built as this one is, and driven by its own client. */
export async function run(): Promise<Row[]> {
  const against = process.env.KYBATCH_BENCH_AGAINST;
  if (against === undefined) {
    console.log('Left out: KYBATCH_BENCH_AGAINST names no other checkout.');
    return [];
  }
  const other = resolve(against);
  const { buildForBench: buildOther }: typeof import('../build.js') = await import(
    pathToFileURL(join(other, 'test/bench/build.ts')).href
  );
  const here = fileURLToPath(new URL('../../../', import.meta.url));
  const sides = [
    { root: here, name: 'this code', buildFolder: buildForBench() },
    { root: other, name: against, buildFolder: buildOther() },
  ] as const;
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  const server = await startServer('sandbox', [sides[0].buildFolder, 'prepared']);
  try {
    const { origin, keys } = server;
    const cases = sides.map(({ root, buildFolder }, index) => {
      const shared = { buildFolder, origin, keys, concurrency: PER_API };
      const work = writeWork(join(folder, `${index}.json`), folder, rows, shared);
      return () => runClient(join(root, CLIENT), work);
    });
    // A warm-up round: the sandbox's code is compiled and its bodies are prepared.
    await cases[0]?.();
    return toTable(
      sides.map(({ name }) => name),
      await interleaved(cases, repetitions),
    );
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
