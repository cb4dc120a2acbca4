import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildForBench } from '../build.js';
import { interleaved } from '../measure.js';
import { PER_API, runClient, toTable, writeWork } from '../pipeline-work.js';
import { startServer } from '../servers/start.js';
import type { Row } from '../table.js';

export const title =
  'rows a second with every stage on, against the same requests sent bare, 64 in flight on each API, one sandbox';

const ROWS = 500;
const repetitions = 3;

/** All stages but reports, which take long to arrive. */
const PIPELINE = `stages: [record, profile, registry, financials, firmographics, insights, ownership, screening, contacts]
search: {attempts: 1}
screening: {people_at_most: 3}
contacts: {people_at_most: 10}
`;

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  const buildFolder = buildForBench();
  const server = await startServer('sandbox', [buildFolder, 'prepared']);
  try {
    const requests = join(folder, 'requests.json');
    const shared = { buildFolder, origin: server.origin, keys: server.keys, requests, anyOutcome: true };
    const ours = writeWork(join(folder, 'ours.json'), folder, ROWS, { ...shared, concurrency: PER_API }, PIPELINE);
    const bare = writeWork(join(folder, 'bare.json'), folder, ROWS, { ...shared, concurrency: 2 * PER_API }, PIPELINE);
    // A warm-up round, which also writes the requests for the other client.
    await runClient(clientFile('ours'), ours);
    const sent = (JSON.parse(readFileSync(requests, 'utf8')) as unknown[]).length;
    const results = await interleaved(
      [() => runClient(clientFile('ours'), ours), () => runClient(clientFile('replay'), bare)],
      repetitions,
    );
    const names = [`(a) kybatch, ${(sent / ROWS).toFixed(1)} calls a row`, '(b) the same requests, bare'];
    return toTable(names, results);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

const clientFile = (name: string): string => fileURLToPath(new URL(`../clients/${name}.ts`, import.meta.url));
