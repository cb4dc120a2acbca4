import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../../src/ledger/db/sqlite/connection.js';
import { ledgerPath } from '../../../src/ledger/db/sqlite/open.js';
import { type Provider, startProvider } from '../../crash/provider.js';
import { buildWhenStale } from '../../helpers/build.js';
import { type PostgresServer, startPostgres, withClient } from '../../postgres/server.js';
import { CountingProxy } from '../counting-proxy.js';
import { cpuSeconds, parentOf } from '../cpu.js';
import { writeList } from '../list.js';
import { type Row, ratio, whole } from '../table.js';

export const title =
  'several processes on one ledger in PostgreSQL (record only, two calls a row); provider and PostgreSQL on this machine';

const MAIN = resolve(import.meta.dirname, '../../../dist/cli/main.js');
const ROWS = Number(process.env.KYBATCH_BENCH_ROWS ?? 20_000);
/** The last one takes a quarter of an hour. */
const PARTS = (process.env.KYBATCH_BENCH_PARTS ?? 'workers,sqlite,rows').split(',');
const LATENCY_MS = 200;
/** Calls at once of each worker if the provider is slow: at most ten rows a second. */
const PER_WORKER = 4;
const WINDOW_MS = Number(process.env.KYBATCH_BENCH_WINDOW_MS ?? 15_000);
const WORKERS = [1, 2, 4, 8];

/** The settings of a production server. */
const DURABLE = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  autovacuum: 'on',
  max_wal_size: '1GB',
};

export async function run(): Promise<Row[]> {
  buildWhenStale();
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  const server = await startPostgres(DURABLE);
  const allowance = 1_000_000_000;
  const slow = await startProvider({
    prepared: true,
    allowance,
    faults: { latency: { medianMs: LATENCY_MS, p99Ms: LATENCY_MS } },
  });
  const quick = await startProvider({ prepared: true, allowance });
  try {
    const bench = new Bench(folder, server);
    const rows: Row[] = [];
    if (PARTS.includes('workers')) rows.push(...(await moreWorkers(bench, slow)));
    if (PARTS.includes('sqlite')) rows.push(...(await besideSqlite(bench, quick)));
    if (PARTS.includes('rows')) rows.push(...(await moreRows(bench, quick)));
    return rows;
  } finally {
    await slow.stop();
    await quick.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function moreWorkers(bench: Bench, provider: Provider): Promise<Row[]> {
  const rows: Row[] = [];
  let one: number | undefined;
  for (const workers of WORKERS) {
    const measured = await bench.together(workers, provider);
    one ??= measured.rowsPerSecond;
    const share = measured.rowsPerSecond / (one * workers);
    rows.push(toRow(`${workers} at ${LATENCY_MS} ms`, measured, share, 'of linear'));
  }
  return rows;
}

/** These runs count through a proxy, which is slower, so they use fewer rows. */
async function besideSqlite(bench: Bench, provider: Provider): Promise<Row[]> {
  const sqlite = await bench.alone('sqlite', ROWS, provider);
  const postgres = await bench.alone('postgres', ROWS, provider);
  const few = Math.round(ROWS / 10);
  const counted = await bench.alone('counted', few, provider);
  const share = ({ rowsPerSecond }: Measured) => rowsPerSecond / sqlite.rowsPerSecond;
  return [
    toRow(`SQLite, ${whole(ROWS)} rows`, sqlite, 1, ''),
    toRow(`1 on loopback, ${whole(ROWS)} rows`, postgres, share(postgres), 'of SQLite'),
    toRow(`counted, ${whole(few)} rows`, counted, share(counted), 'of SQLite'),
  ];
}

async function moreRows(bench: Bench, provider: Provider): Promise<Row[]> {
  const small = await bench.alone('postgres', ROWS, provider);
  const large = await bench.alone('postgres', ROWS * 10, provider);
  const share = small.rowsPerSecond / large.rowsPerSecond;
  return [
    toRow(`1 on loopback, ${whole(ROWS)} rows`, small, 1, ''),
    toRow(`1 on loopback, ${whole(ROWS * 10)} rows`, large, share, 'time a row'),
  ];
}

interface Measured {
  readonly rowsPerSecond: number;
  readonly workerMs: number;
  readonly postgresMs: number;
  readonly statements?: number;
  readonly roundTrips?: number;
  readonly commits?: number;
  readonly load: number;
}

const toRow = (what: string, measured: Measured, share: number, of: string): Row => ({
  workers: what,
  'rows/s': measured.rowsPerSecond.toFixed(1),
  ratio: of === '' ? '' : `${ratio(share)} ${of}`,
  'CPU ms a row, workers': measured.workerMs.toFixed(1),
  PostgreSQL: measured.postgresMs.toFixed(1),
  'commits a row': measured.commits?.toFixed(1) ?? '',
  statements: measured.statements?.toFixed(1) ?? '',
  'round trips': measured.roundTrips?.toFixed(1) ?? '',
  'load of the machine': measured.load.toFixed(1),
});

class Bench {
  #databases = 0;

  constructor(
    private readonly folder: string,
    private readonly server: PostgresServer,
  ) {}

  /** Rows a second between two looks, while all processes are running. */
  async together(workers: number, provider: Provider): Promise<Measured> {
    const url = await this.#database();
    const atMost = PER_WORKER / ((2 * LATENCY_MS) / 1000);
    const input = await this.#input(Math.ceil(workers * atMost * (WINDOW_MS / 1000 + 90)));
    const pipeline = this.#pipeline(PER_WORKER);
    const env = { ...provider.env, KYBATCH_LEDGER_URL: url };
    const run = ['run', input, '--pipeline', pipeline, '--yes', '--no-export'];
    const children = [this.#spawn(run, env, 0)];
    for (let worker = 1; worker < workers; worker++) children.push(this.#spawn(['worker'], env, worker));
    try {
      return await withClient(url, async (client) => {
        const settled = async () => {
          const { rows } = await client.query<{ settled: string }>(
            "SELECT count(*) AS settled FROM kybatch.rows WHERE outcome <> 'pending'",
          );
          return Number(rows[0]?.settled ?? 0);
        };
        // Each of them needs some time to start and to reach its speed.
        for (;;) {
          const { rows } = await client.query('SELECT 1 FROM kybatch.starts WHERE ended_at IS NULL');
          if (rows.length === workers && (await settled()) > workers * 20) break;
          await sleep(200);
        }
        const before = { at: performance.now(), settled: await settled(), ...(await this.#cpu(url, children)) };
        await sleep(WINDOW_MS);
        const after = { at: performance.now(), settled: await settled(), ...(await this.#cpu(url, children)) };
        const rows = after.settled - before.settled;
        return {
          rowsPerSecond: rows / ((after.at - before.at) / 1000),
          workerMs: ((after.workers - before.workers) * 1000) / rows,
          postgresMs: ((after.postgres - before.postgres) * 1000) / rows,
          commits: (after.commits - before.commits) / rows,
          load: loadavg()[0] ?? Number.NaN,
        };
      });
    } finally {
      const ends = children.filter(({ exitCode }) => exitCode === null).map((child) => once(child, 'exit'));
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(ends);
    }
  }

  /** One process, all rows: the time from the first finished row to the last. */
  async alone(where: 'sqlite' | 'postgres' | 'counted', count: number, provider: Provider): Promise<Measured> {
    const url = where === 'sqlite' ? undefined : await this.#database();
    const input = await this.#input(count);
    const proxy = where === 'counted' && url !== undefined ? await CountingProxy.open(url) : undefined;
    const env = { ...provider.env, ...(url !== undefined && { KYBATCH_LEDGER_URL: proxy?.url ?? url }) };
    const slot = 100 + ++this.#databases;
    const child = this.#spawn(['run', input, '--pipeline', this.#pipeline(64), '--yes', '--no-export'], env, slot);
    const before = url === undefined ? undefined : await this.#cpu(url, []);
    let workers = 0;
    const watch = setInterval(() => {
      workers = cpuSeconds(child.pid ?? 0) || workers;
    }, 100);
    const [code] = (await once(child, 'exit')) as [number | null];
    clearInterval(watch);
    if (code !== 0 && code !== 3) throw new Error(`the run ended with ${code}`);
    const after = url === undefined ? undefined : await this.#cpu(url, []);
    proxy?.close();
    const seconds = url === undefined ? fromSqlite(join(this.folder, `data-${slot}`)) : await fromPostgres(url);
    return {
      rowsPerSecond: count / seconds,
      workerMs: (workers * 1000) / count,
      postgresMs: (((after?.postgres ?? 0) - (before?.postgres ?? 0)) * 1000) / count,
      ...(after !== undefined && before !== undefined && { commits: (after.commits - before.commits) / count }),
      ...(proxy !== undefined && { statements: proxy.statements / count, roundTrips: proxy.roundTrips / count }),
      load: loadavg()[0] ?? Number.NaN,
    };
  }

  async #database(): Promise<string> {
    const name = `bench_${++this.#databases}`;
    await withClient(this.server.url('postgres'), (client) => client.query(`CREATE DATABASE ${name}`));
    const url = this.server.url(name);
    const [code] = await once(this.#spawn(['ledger', 'migrate'], { KYBATCH_LEDGER_URL: url }, 0), 'exit');
    if (code !== 0) throw new Error(`migrate ended with ${code}`);
    return url;
  }

  async #input(count: number): Promise<string> {
    const path = join(this.folder, `${count}.csv`);
    await writeList(path, count);
    return path;
  }

  #pipeline(concurrency: number): string {
    const path = join(this.folder, `machines-${concurrency}.yaml`);
    writeFileSync(path, `stages: [record]\nsearch: {attempts: 1}\nconcurrency: ${concurrency}\n`);
    return path;
  }

  #spawn(args: readonly string[], more: Readonly<Record<string, string>>, slot: number): ChildProcess {
    const env = { PATH: process.env.PATH ?? '', KYBATCH_DATA_DIR: join(this.folder, `data-${slot}`), ...more };
    return spawn(process.execPath, [MAIN, ...args], { cwd: this.folder, env, stdio: ['ignore', 'ignore', 'ignore'] });
  }

  /** Processor time of the workers and of the server with all its backends, including ended ones, and its commits. */
  #cpu(
    url: string,
    children: readonly ChildProcess[],
  ): Promise<{ readonly workers: number; readonly postgres: number; readonly commits: number }> {
    return withClient(url, async (client) => {
      const { rows } = await client.query<{ own: number; pid: number; commits: string }>(
        `SELECT pg_backend_pid() AS own, pid, (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits
         FROM pg_stat_activity`,
      );
      const postmaster = parentOf(rows[0]?.own ?? 0);
      const backends = rows.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
      return {
        workers: children.reduce((sum, { pid }) => sum + cpuSeconds(pid ?? 0), 0),
        postgres: backends + cpuSeconds(postmaster, 'with children'),
        commits: Number(rows[0]?.commits ?? 0),
      };
    });
  }
}

const SPAN = 'SELECT (max(updated_at) - min(updated_at)) / 1000.0 AS seconds FROM';

function fromSqlite(dataDir: string): number {
  const database = connect(ledgerPath(dataDir), { readonly: true });
  try {
    return database.prepare<[], { seconds: number }>(`${SPAN} rows`).get()?.seconds ?? Number.NaN;
  } finally {
    database.close();
  }
}

const fromPostgres = (url: string): Promise<number> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ seconds: string }>(`${SPAN} kybatch.rows`);
    return Number(rows[0]?.seconds);
  });
