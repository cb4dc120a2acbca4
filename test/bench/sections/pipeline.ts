import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildForBench } from '../build.js';
import { interleaved } from '../measure.js';
import { PER_API, runClient, toTable, writeWork } from '../pipeline-work.js';
import { startServer } from '../servers/start.js';
import type { Row } from '../table.js';

export const title =
  'rows a second, four calls a row (1 KB, 43 KB, 1 KB, 72 KB on average), everything stored, 64 in flight on each API, one sandbox';

const repetitions = 3;

/** Each client gets enough rows for half a minute, slow ones fewer. All use one sandbox, in turn. */
const clients = [
  { file: 'ours', name: '(a) kybatch', rows: 16_000 },
  { file: 'minimal', name: '(b) minimal loop, nothing parsed or compressed', rows: 16_000 },
  { file: 'by-hand', name: '(c) p-limit, fetch, one file per answer', rows: 2_000 },
  { file: 'crawlee', name: '(d) Crawlee HttpCrawler, disk storage', rows: 200 },
] as const;

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  const buildFolder = buildForBench();
  const crawlee = installCrawlee(folder);
  const server = await startServer('sandbox', [buildFolder, 'prepared']);
  try {
    const present = clients.filter(({ file }) => file !== 'crawlee' || crawlee !== undefined);
    const works = present.map(({ file, rows }) =>
      writeWork(join(folder, `${file}.json`), folder, rows, {
        buildFolder,
        origin: server.origin,
        keys: server.keys,
        // kybatch counts each API's calls separately. The others count them together, so their limit is twice as high.
        concurrency: file === 'ours' ? PER_API : 2 * PER_API,
      }),
    );
    // A warm-up round: the sandbox's code is compiled and its bodies are prepared.
    await runClient(clientFile('minimal'), works[present.findIndex(({ file }) => file === 'by-hand')] ?? '');
    const results = await interleaved(
      present.map(
        ({ file }, index) =>
          () =>
            runClient(clientFile(file), works[index] ?? '', crawlee ?? ''),
      ),
      repetitions,
    );
    return toTable(
      present.map(({ name }) => name),
      results,
    );
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

const clientFile = (name: string): string => fileURLToPath(new URL(`../clients/${name}.ts`, import.meta.url));

/** Peers are no dependencies. They are installed for the bench alone, and left out if that fails. */
function installCrawlee(folder: string): string | undefined {
  const own = join(folder, 'crawlee');
  try {
    mkdirSync(own);
    writeFileSync(join(own, 'package.json'), '{"name":"peers","private":true}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '@crawlee/http@3'], {
      cwd: own,
      stdio: 'ignore',
      timeout: 180_000,
    });
    return own;
  } catch {
    console.log('Crawlee could not be installed here: it is left out.');
    return undefined;
  }
}
