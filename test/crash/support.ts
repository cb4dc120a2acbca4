import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/index.js';
import { type CallRow, lineOf, wholeCompanies, writeInput } from '../engine/support.js';
import { withSandbox } from '../helpers/sandbox.js';

export const BOUNDARIES = [
  'before-intent',
  'after-intent',
  'after-answer',
  'inside-settlement',
  'after-settlement',
  'before-checkpoint',
  'after-checkpoint',
] as const;

export type Kill =
  | {
      readonly boundary: (typeof BOUNDARIES)[number];
      readonly occurrence: number;
      /** Only calls of this operation count. */
      readonly operation?: string;
    }
  | { readonly afterMs: number };

export const CONCURRENCY = 4;
/** Longer than any report of these tests takes to be listed. */
const LOOK_FOR_MS = 900;
const DRIVER = resolve(import.meta.dirname, 'driver.mjs');

export interface Mortuary {
  readonly sandbox: Sandbox;
  /** Runs one process to its end: true if it finished the run, false if it was killed. */
  live(kill: Kill | null): Promise<boolean>;
  books(): Books;
}

export interface Books {
  readonly calls: readonly CallRow[];
  readonly outcomes: Readonly<Record<string, number>>;
}

/** All stages, with as many requests as they can take. */
export const EVERY_STAGE = `stages: [record, profile, registry, financials, firmographics, insights, ownership, screening, contacts, credit-report]
record: {modules: [lite, officers, shareholders, group, financial], all_pages: true}
registry: {all_pages: true}
screening: {people_at_most: 2}
contacts: {people_at_most: 3, reveal: [email], reveal_at_most: 2}
`;

/** A sandbox that survives, and a data directory for processes that do not. The pipeline is given, or this one. */
export async function withMortuary<T>(
  rows: number,
  options: SandboxOptions,
  use: (mortuary: Mortuary) => Promise<T>,
  pipeline?: string,
): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'kybatch-crash-'));
  try {
    return await withSandbox({ reportDelayMs: { min: 0, max: 120 }, ...options }, async ({ sandbox }) => {
      const input = join(dataDir, 'input.csv');
      const lines = wholeCompanies(sandbox, rows).map((company) => lineOf(company));
      writeInput(input, lines);
      const file = join(dataDir, 'pipeline.yaml');
      if (pipeline !== undefined) writeFileSync(file, pipeline);
      const work = { dataDir, input, pipeline: pipeline === undefined ? 'analyst' : file };
      return await use({
        sandbox,
        live: (kill) => live(work, sandbox, kill),
        books: () => readBooks(dataDir),
      });
    });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface LifeWork {
  readonly dataDir: string;
  readonly input: string;
  readonly pipeline: string;
}

function live(work: LifeWork, sandbox: Sandbox, kill: Kill | null): Promise<boolean> {
  const job = {
    ...work,
    concurrency: CONCURRENCY,
    lookForMs: LOOK_FOR_MS,
    kill: kill !== null && 'boundary' in kill ? kill : null,
    v1BaseUrl: sandbox.v1BaseUrl,
    v1Key: sandbox.keys.v1,
    v2BaseUrl: sandbox.v2BaseUrl,
    v2Key: sandbox.keys.v2,
    routesFile: sandbox.routesFile,
  };
  const child = spawn(process.execPath, [DRIVER, JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    if (kill !== null && 'afterMs' in kill) timer ??= setTimeout(() => child.kill('SIGKILL'), kill.afterMs);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (signal === 'SIGKILL') return done(false);
      const last = stdout.trim().split('\n').at(-1) ?? '';
      if (code === 0 && last.startsWith('{') && JSON.parse(last).finished === true) return done(true);
      fail(new Error(`the process ended with ${code ?? signal}: ${last}\n${stderr}\n${whatIsLeft(work.dataDir)}`));
    });
  });
}

/** The output of a failed test: the rows that are not done, and the newest errors and calls. */
function whatIsLeft(dataDir: string): string {
  const database = connect(ledgerPath(dataDir), { readonly: true });
  try {
    const all = (query: string) => database.prepare(query).all();
    const rows = all("SELECT * FROM rows WHERE outcome = 'pending'");
    const errors = all('SELECT * FROM errors ORDER BY id DESC LIMIT 8');
    const calls = all('SELECT * FROM calls ORDER BY id DESC LIMIT 24');
    return JSON.stringify({ rows, errors, calls }, (key, value) => (/key|body|bytes/.test(key) ? undefined : value));
  } finally {
    database.close();
  }
}

function readBooks(dataDir: string): Books {
  const database = connect(ledgerPath(dataDir), { readonly: true });
  try {
    const outcomes = database
      .prepare<[], { outcome: string; count: number }>('SELECT outcome, count(*) AS count FROM rows GROUP BY 1')
      .all();
    return {
      calls: database.prepare<[], CallRow>('SELECT *, hex(request_key) AS request_key FROM calls ORDER BY id').all(),
      outcomes: Object.fromEntries(outcomes.map(({ outcome, count }) => [outcome, count])),
    };
  } finally {
    database.close();
  }
}
