import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Sandbox } from '../../src/sandbox/index.js';
import { dropLedgersIn } from './ledger-place.js';

const ROOT = resolve(import.meta.dirname, '../..');

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another user. Only root may choose one. */
  readonly uid?: number | undefined;
  /** `build` has one file for each source. Users run `dist`. */
  readonly from?: 'dist' | 'build';
}

/** The built command line, as a user runs it, without the environment of the test. */
export function startCli(
  args: readonly string[],
  options: CliOptions,
): { child: ChildProcess; finished: Promise<Finished> } {
  const env = { PATH: process.env.PATH ?? '', HOME: options.cwd, ...options.env };
  const { cwd, uid, from = 'dist' } = options;
  const child = spawn(process.execPath, [join(ROOT, from, 'cli/main.js'), ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const finished = new Promise<Finished>((done, fail) => {
    child.on('error', fail);
    child.on('close', (code, signal) => done({ code, signal, stdout, stderr }));
  });
  return { child, finished };
}

export const cli = (args: readonly string[], options: CliOptions): Promise<Finished> =>
  startCli(args, options).finished;

export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-'));
  try {
    return await use(folder);
  } finally {
    await dropLedgersIn(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The variables that a user exports to reach this sandbox. */
export const environmentFor = (sandbox: Sandbox): Record<string, string> => ({
  KYBATCH_V1_BASE_URL: sandbox.v1BaseUrl,
  KYBATCH_V1_API_KEY: sandbox.keys.v1,
  KYBATCH_V2_BASE_URL: sandbox.v2BaseUrl,
  KYBATCH_V2_API_KEY: sandbox.keys.v2,
  KYBATCH_V2_ROUTES: sandbox.routesFile,
});
