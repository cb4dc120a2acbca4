import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Connection, connect } from '../../../src/ledger/db/sqlite/connection.js';
import { buildForBench } from '../build.js';
import { cpuSeconds } from '../cpu.js';
import { writeList } from '../list.js';
import { median } from '../measure.js';
import { startServer } from '../servers/start.js';
import { type Row, whole } from '../table.js';

const rows = Number(process.env.KYBATCH_BENCH_ROWS ?? 100_000);
/** A folder that keeps the ledger for the next measurement. */
const kept = process.env.KYBATCH_BENCH_FOLDER;
const ROUNDS = 3;
/** Longer than a page keeps any count during a run with commits. */
const KEPT_MS = 5_100;

export const title = `pages of \`kybatch ui\` beside a ledger of ${whole(rows)} rows, about a tenth of them with questions (record only): medians of ${ROUNDS} rounds in turn`;

export async function run(): Promise<Row[]> {
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  const main = join(buildForBench(), 'cli', 'main.js');
  try {
    mkdirSync(folder, { recursive: true });
    const dataDir = join(folder, 'data');
    if (existsSync(dataDir)) await command(main, folder, ['ledger', 'migrate', '--data-dir', dataDir]);
    else await fill(main, folder, dataDir);
    return await measure(main, folder, dataDir);
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true });
  }
}

async function fill(main: string, folder: string, dataDir: string): Promise<void> {
  const server = await startServer('sandbox', [join(main, '..', '..'), 'prepared']);
  try {
    writeFileSync(join(folder, 'page.yaml'), 'stages: [record]\nsearch: {attempts: 1}\nconcurrency: 64\n');
    await writeList(join(folder, 'list.csv'), rows);
    const args = ['run', 'list.csv', '--pipeline', 'page.yaml', '--yes', '--no-export', '--data-dir', dataDir];
    const env = { KYBATCH_V1_BASE_URL: `${server.origin}/api/v1`, KYBATCH_V1_API_KEY: server.keys.v1 };
    await command(main, folder, args, env);
  } finally {
    await server.stop();
  }
}

async function command(main: string, folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [main, ...args], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0 && code !== 3) throw new Error(`${args[0]} ended with ${code}`);
}

interface Twin {
  readonly questions: readonly { readonly question: string }[];
  readonly facets: { readonly reason: readonly { readonly value: string }[] };
  readonly rows: readonly {
    readonly company: { readonly space: string; readonly id: string } | null;
    readonly registration_number: string;
    readonly name: string;
    readonly run_id: string;
  }[];
}

async function measure(main: string, folder: string, dataDir: string): Promise<Row[]> {
  const started = performance.now();
  const args = ['ui', '--no-open', '--by', 'ann', '--data-dir', dataDir];
  const child = spawn(process.execPath, [main, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const database = connect(join(dataDir, 'kybatch.db'));
  try {
    const [printed] = (await once(child.stdout, 'data')) as [Buffer];
    const readyMs = performance.now() - started;
    const link = new URL(printed.toString().trim());
    const entered = await fetch(link, { redirect: 'manual' });
    const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';');
    const ask = async (path: string, accept = 'text/html') => {
      const response = await fetch(new URL(path, link), { headers: { cookie, accept } });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
      return text;
    };
    const timed = async (path: string, accept?: string) => {
      const [wall, cpu] = [performance.now(), cpuSeconds(child.pid ?? 0)];
      await ask(path, accept);
      return { wall: performance.now() - wall, cpu: (cpuSeconds(child.pid ?? 0) - cpu) * 1_000 };
    };
    const first = await timed('/');
    const twin = async (path: string) => JSON.parse(await ask(path, 'application/json')) as Twin;
    const review = await twin('/review');
    const listed = (await twin('/companies?outcome=complete')).rows.filter(({ company }) => company !== null);
    const one = listed[7];
    if (one?.company == null) throw new Error('no company');
    const reason = review.facets.reason[0]?.value ?? '';
    const named = encodeURIComponent(one.name.split(' ')[0] ?? '');
    const paths = [
      ['home', '/'],
      ['questions', '/review'],
      ['questions of a reason, page 10', `/review?reason=${reason}&from=450`],
      ['one question', `/review/${review.questions[20]?.question ?? ''}`],
      ['all that fit', `/review/rule?reason=${reason}`],
      ['companies', '/companies'],
      ['companies, page 1,000', '/companies?from=49950'],
      ['companies by outcome', '/companies?outcome=needs_review'],
      ['companies sorted by name', '/companies?sort=name'],
      ['companies sorted by update, last first', '/companies?sort=updated&desc=1'],
      ['search by name', `/companies?q=${named}`],
      ['search by number', `/companies?q=${encodeURIComponent(one.registration_number)}`],
      ['search for what is not there', '/companies?q=qxzzy'],
      ['one company', `/companies/${one.company.space}/${one.company.id}`],
      ['runs', '/runs'],
      ['one run', `/runs/${one.run_id}`],
      ['changes', '/changes'],
      ['usage', '/usage'],
      ['decisions', '/decisions'],
      ['questions, JSON', '/review', 'application/json'],
      ['one run, JSON', `/runs/${one.run_id}`, 'application/json'],
    ] as const;
    const measured = paths.map(() => ({ warm: [] as Time[], fresh: [] as Time[] }));
    for (let round = 0; round < ROUNDS; round++)
      for (const [at, [, path, accept]] of paths.entries()) {
        countCommit(database);
        await delay(KEPT_MS);
        measured[at]?.fresh.push(await timed(path, accept));
        measured[at]?.warm.push(await timed(path, accept));
      }
    const start = { wall: readyMs, cpu: Number.NaN };
    return [
      toRow('from the command to the link', [start], []),
      toRow('the first page', [first], []),
      ...paths.map(([name], at) => toRow(name, measured[at]?.fresh ?? [], measured[at]?.warm ?? [])),
    ];
  } finally {
    database.close();
    child.kill('SIGINT');
    await once(child, 'exit');
  }
}

/** Reads what a page rereads after each commit of a run. */
const countCommit = (database: Connection): void => {
  database.pragma(`user_version = ${Number(database.pragma('user_version', { simple: true })) + 1}`);
};

interface Time {
  readonly wall: number;
  readonly cpu: number;
}

function toRow(name: string, fresh: readonly Time[], warm: readonly Time[]): Row {
  const cell = (times: readonly Time[], of: keyof Time) => {
    const value = median(times.map((time) => time[of]));
    return Number.isNaN(value) ? '' : whole(value);
  };
  return {
    page: name,
    'ms after a commit': cell(fresh, 'wall'),
    'CPU ms': cell(fresh, 'cpu'),
    'ms again': cell(warm, 'wall'),
    'CPU ms again': cell(warm, 'cpu'),
  };
}
