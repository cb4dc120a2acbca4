import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Pool } from 'undici';
import { connect } from '../../../src/ledger/db/sqlite/connection.js';
import { buildWhenStale } from '../../helpers/build.js';
import { writeList } from '../list.js';
import { startServer } from '../servers/start.js';
import { type Row, ratio, whole } from '../table.js';

export const title =
  'where the provider is the limit: rows/s of the whole command against slots / (latency x calls a row), 64 in flight on each API (KYBATCH_BENCH_AGAINST: also by another checkout that is built)';

const CONCURRENCY = 64;
/** Search and record on v1, search and financials on v2. */
const CALLS_OF_API = 2;
const share = Number(process.env.KYBATCH_BENCH_SHARE ?? 1);
const cases = [
  { latencyMs: 200, rows: 4_000 * share },
  { latencyMs: 800, rows: 2_000 * share },
  { latencyMs: 800, rows: 8_000 * share },
];

export async function run(): Promise<Row[]> {
  buildWhenStale();
  const against = process.env.KYBATCH_BENCH_AGAINST;
  const builds = [{ code: 'this', folder: resolve(import.meta.dirname, '../../..') }];
  if (against !== undefined) builds.push({ code: against, folder: resolve(against) });
  const table: Row[] = [];
  for (const one of cases) {
    const bare = { 'a bare loop, of the ideal': ratio(await shareOfBareLoop(one)) };
    for (const { code, folder } of builds) table.push({ code, ...(await measure(one, folder)), ...bare });
  }
  return table;
}

/** The limit for a client that only sends the calls of one API and reads the answers. */
async function shareOfBareLoop({ latencyMs, rows }: (typeof cases)[number]): Promise<number> {
  const build = resolve(import.meta.dirname, '../../../build');
  const server = await startServer('sandbox', [build, 'prepared', String(latencyMs)]);
  const pool = new Pool(server.origin, { connections: CONCURRENCY });
  const headers = { authorization: `Bearer ${server.keys.v1}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ location: 'GB', registration_number: '00000001' });
  const calls = rows * CALLS_OF_API;
  const from = performance.now();
  try {
    let left = calls;
    const send = async () => {
      while (left-- > 0) {
        const answer = await pool.request({ method: 'POST', path: '/api/v1/kyb/search', headers, body });
        await answer.body.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, send));
    return (calls * latencyMs) / CONCURRENCY / (performance.now() - from);
  } finally {
    await pool.close();
    await server.stop();
  }
}

/** The command as users get it, from the checkout in `root`. */
async function measure({ latencyMs, rows }: (typeof cases)[number], root: string): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  const server = await startServer('sandbox', [join(root, 'build'), 'prepared', String(latencyMs)]);
  try {
    const [input, pipeline, dataDir] = ['in.csv', 'p.yaml', 'data'].map((name) => join(folder, name)) as Paths;
    writeFileSync(
      pipeline,
      `stages: [record, financials]\nsearch: {attempts: 1}\nconcurrency: ${CONCURRENCY}\nids_shared: false\n`,
    );
    await writeList(input, rows);
    const args = ['run', input, '--pipeline', pipeline, '--yes', '--data-dir', dataDir, '--no-export'];
    const env = {
      PATH: process.env.PATH ?? '',
      KYBATCH_V1_BASE_URL: `${server.origin}/api/v1`,
      KYBATCH_V1_API_KEY: server.keys.v1,
      KYBATCH_V2_BASE_URL: `${server.origin}/api/v2`,
      KYBATCH_V2_API_KEY: server.keys.v2,
      KYBATCH_V2_ROUTES: join(root, 'dist', 'sandbox', 'routes.yaml'),
    };
    const from = Date.now();
    const child = spawn(process.execPath, [join(root, 'dist', 'cli', 'main.js'), ...args, '--quiet'], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    const to = Date.now();
    if (code !== 0 && code !== 3) throw new Error(`the run ended with ${code}`);
    return toRow(latencyMs, rows, { from, to }, flightsIn(join(dataDir, 'kybatch.db')));
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

type Paths = [input: string, pipeline: string, dataDir: string];

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Flight {
  readonly api: 'v1' | 'v2';
  readonly at: number;
  readonly ms: number;
}

/** The sent calls in the ledger. */
function flightsIn(ledger: string): readonly Flight[] {
  const database = connect(ledger, { readonly: true });
  try {
    return database
      .prepare<[], Flight>(
        `SELECT api, started_at AS at, coalesce(duration_ms, 0) AS ms FROM calls
         JOIN environments ON environments.id = environment_id WHERE run_id IS NOT NULL AND charge <> 'owned' ORDER BY started_at`,
      )
      .all();
  } finally {
    database.close();
  }
}

/** The ideal client makes only the calls that were made: a row without a match makes fewer. */
function toRow(latencyMs: number, rows: number, { from, to }: Span, flights: readonly Flight[]): Row {
  const first = Math.min(...flights.map(({ at }) => at));
  const last = Math.max(...flights.map(({ at, ms }) => at + ms));
  const callsOf = (api: string) => flights.filter((flight) => flight.api === api).length;
  const ideal = (Math.max(callsOf('v1'), callsOf('v2')) * latencyMs) / 1000 / CONCURRENCY;
  const fullAfter = (api: 'v1' | 'v2'): string => {
    const ofApi = flights.filter((flight) => flight.api === api);
    const full = ofApi.find(({ at }) => inFlight(ofApi, at) >= CONCURRENCY * 0.95);
    return full === undefined ? 'never' : ((full.at - first) / 1000).toFixed(1);
  };
  return {
    'latency ms': whole(latencyMs),
    rows: whole(rows),
    'calls v1 / v2 a row': `${ratio(callsOf('v1') / rows)} / ${ratio(callsOf('v2') / rows)} of ${CALLS_OF_API}`,
    'rows/s': ratio((rows * 1000) / (to - from)),
    'of the ideal': ratio((ideal * 1000) / (to - from)),
    'from the first call to the last': ratio((ideal * 1000) / (last - first)),
    's before the first call': ratio((first - from) / 1000),
    's after the last': ratio((to - last) / 1000),
    'a call took ms': whole(flights.reduce((sum, { ms }) => sum + ms, 0) / flights.length),
    'v1 full after s': fullAfter('v1'),
    'v2 full after s': fullAfter('v2'),
  };
}

const inFlight = (flights: readonly Flight[], at: number): number =>
  flights.filter((flight) => flight.at <= at && at < flight.at + flight.ms).length;
