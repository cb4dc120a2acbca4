import { execFileSync, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRegistry } from '../../../src/sandbox/registry/index.js';
import { buildForBench } from '../build.js';
import type { Done, Work, WorkRow } from '../clients/work.js';
import { interleaved, median } from '../measure.js';
import { startServer } from '../servers/start.js';
import { type Row, ratio, whole } from '../table.js';

export const title =
  'rows a second, four calls a row (1 KB, 43 KB, 1 KB, 72 KB on average), everything stored, 64 in flight on each API, one sandbox';

const repetitions = 3;
const PER_API = 64;

/** Each client gets rows enough for half a minute; the slow ones fewer. All work on the same sandbox, in turn. */
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
        // kybatch counts each API's calls by themselves; the others count them together, so theirs are twice as many.
        concurrency: file === 'ours' ? PER_API : 2 * PER_API,
      }),
    );
    // A round that does not count: in it the sandbox's code is compiled and its bodies are prepared.
    await runClient('minimal', works[present.findIndex(({ file }) => file === 'by-hand')] ?? '', '');
    const results = await interleaved(
      present.map(
        ({ file }, index) =>
          () =>
            runClient(file, works[index] ?? '', crawlee ?? ''),
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

function toTable(names: readonly string[], results: readonly (readonly Done[])[]): Row[] {
  const speeds = results.map((dones) => median(dones.map(({ rows, seconds }) => rows / seconds)));
  const [ours = Number.NaN] = speeds;
  return names.map((name, index) => {
    const dones = results[index] ?? [];
    return {
      client: name,
      'rows/s': whole(speeds[index] ?? Number.NaN),
      'kybatch is': `${ratio(ours / (speeds[index] ?? Number.NaN))} times`,
      'CPU ms a row': median(dones.map(({ cpuSeconds, rows }) => (cpuSeconds * 1000) / rows)).toFixed(2),
      'KB on disk a row': whole(median(dones.map(({ bytesOnDisk, rows }) => bytesOnDisk / rows / 1024))),
      'RSS MB': whole(median(dones.map(({ rssMb }) => rssMb))),
    };
  });
}

function runClient(file: string, work: string, crawlee: string): Promise<Done> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL(`../clients/${file}.ts`, import.meta.url)), [work, crawlee]);
    let done: Done | undefined;
    child.on('message', (message) => {
      done = message as Done;
    });
    child.on('exit', (code) =>
      done !== undefined && code === 0 ? resolve(done) : reject(new Error(`${file} ended with ${code}`)),
    );
  });
}

function writeWork(
  path: string,
  folder: string,
  count: number,
  { concurrency, ...shared }: Pick<Work, 'buildFolder' | 'origin' | 'keys' | 'concurrency'>,
): string {
  const companies = largeCompanies(count);
  const input = `${path}.csv`;
  const pipeline = join(folder, 'bench.yaml');
  const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
  const lines = companies.map(({ name, location, registrationNumber }) =>
    [name, location, registrationNumber].map(quote).join(','),
  );
  writeFileSync(input, `name,country,registration_number\n${lines.join('\n')}\n`);
  writeFileSync(pipeline, 'stages: [record, financials]\nsearch: {attempts: 1}\n');
  const routes = join(shared.buildFolder, 'sandbox', 'routes.yaml');
  writeFileSync(
    path,
    JSON.stringify({ ...shared, input, pipeline, routes, concurrency, rows: companies } satisfies Work),
  );
  return path;
}

/** Companies with long records, each the only one with its number and known to both APIs. */
function largeCompanies(count: number): (WorkRow & { readonly name: string })[] {
  const registry = createRegistry({ seed: 1 });
  const found: (WorkRow & { readonly name: string })[] = [];
  for (let index = 0; found.length < count && index < registry.size; index++) {
    const company = registry.company(index);
    const { name, countryCode: location, registrationNumber, v1Id, v2Id } = company;
    const traits = registry.traits(company);
    const whole = !traits.noAccounts && !traits.noRecord && !traits.unknownToV2 && !traits.identityMismatch;
    if (!traits.large || !whole || registrationNumber === null || BY_STATE.has(location)) continue;
    if (registry.search({ location, registrationNumber }, 'forgiving').length !== 1) continue;
    found.push({ name, location, registrationNumber, v1Id, v2Id });
  }
  return found;
}

/** Where a number names a company only together with a state or a court. */
const BY_STATE = new Set(['US', 'CA', 'CN', 'DE']);

/** Peers are no dependencies: they are installed for the bench alone, and left out where that fails. */
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
