// Runs as processes of their own: started here, going on when their starter ends, and paused on request.

import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../domain/errors.js';
import { type AppEnvironment, dataDirOf, ledgerOf, type PlaceOptions, withLedger } from '../environment.js';
import { doneOnce } from '../page-thread.js';
import type { ProviderOptions } from '../provider/provider.js';
import { workStateOf } from './progress.js';
import { namedRun } from './runs.js';

/** `src/app/run` and `dist/app/run` are at the same depth. */
const PROGRAM = join(import.meta.dirname, '../../cli/main.js');

/** How long to wait for the run to begin. A long list takes longer to read, and its run appears later. */
const APPEARS_MS = 10_000;
const LOOK_MS = 100;

export interface StartedProcess {
  /** The run that it works on. Null: none has begun yet. */
  readonly run: string | null;
  /** If it has ended already: its exit code, and the last message that it printed. */
  readonly ended: { readonly exit: number | null; readonly said: string } | null;
}

const lastStarts = new Map<string, StartedProcess>();

/** The process that this page started last. Undefined: none. */
export const lastStarted = (options: ProviderOptions, environment: AppEnvironment): StartedProcess | undefined =>
  lastStarts.get(dataDirOf(options, environment));

/** True if another process keeps the ledger file. A page that records answers has it for an instant: `most` looks. */
export async function isLedgerHeld(options: PlaceOptions, environment: AppEnvironment, most = LOOKS): Promise<boolean> {
  const { dataDir, ledgerUrl } = ledgerOf(options, environment);
  if (ledgerUrl !== undefined) return false;
  const { isLocked } = await import('../../ledger/db/sqlite/connection.js');
  for (let looks = 1; isLocked(dataDir) === true; looks += 1) {
    if (looks === most) return true;
    await environment.clock.sleep(LOOK_MS);
  }
  return false;
}

const LOOKS = 15;

/** `words`: a command with its flags. A double click starts it once. */
export const startProcess = (
  words: readonly string[],
  options: ProviderOptions,
  environment: AppEnvironment,
): Promise<StartedProcess> =>
  doneOnce(JSON.stringify(['process', dataDirOf(options, environment), words]), () =>
    start(words, options, environment),
  );

/** What it prints goes to a file beside the logs. */
async function start(
  words: readonly string[],
  options: ProviderOptions,
  environment: AppEnvironment,
): Promise<StartedProcess> {
  const { clock } = environment;
  const dataDir = dataDirOf(options, environment);
  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 });
  const log = join(dataDir, 'logs', `page-${clock.now()}.log`);
  const out = openSync(log, 'wx', 0o600);
  const flags = [...(options.sandbox === true ? ['--sandbox'] : []), '--data-dir', dataDir, '--no-color'];
  const child = spawn(process.execPath, [PROGRAM, ...words, ...flags], {
    cwd: environment.cwd,
    env: environment.env as NodeJS.ProcessEnv,
    detached: true,
    stdio: ['ignore', out, out],
  });
  closeSync(out);
  let state: StartedProcess = { run: null, ended: null };
  const note = (change: Partial<StartedProcess>) => {
    state = { ...state, ...change };
    lastStarts.set(dataDir, state);
  };
  note({});
  const end = (exit: number | null) => note({ ended: { exit, said: lastMessage(log) } });
  child.on('exit', end);
  child.on('error', () => end(null));
  child.unref();
  const quiet = { ...environment, onNote: () => {} };
  const find = () => withLedger('read', options, quiet, ({ reading }) => reading.runOfProcess(workerName(child.pid)));
  for (const until = clock.now() + APPEARS_MS; clock.now() < until; await clock.sleep(LOOK_MS)) {
    // The ledger appears with the first run.
    const run = await find().catch(() => undefined);
    if (run !== undefined) note({ run });
    if (state.run !== null || state.ended !== null) return state;
  }
  return state;
}

/** The error and its hint, else the last line. */
function lastMessage(log: string): string {
  // Old logs are pruned.
  const text = existsSync(log) ? readFileSync(log, 'utf8').trim() : '';
  const at = text.lastIndexOf('error: ');
  return at === -1 ? (text.split('\n').at(-1) ?? '') : text.slice(at);
}

/** As attempts are recorded. */
const workerName = (pid: number | undefined): string => `${hostname()}:${pid}`;

/** Lets the process of a run finish its calls and stop, as Ctrl-C does. */
export function pauseRun(
  options: PlaceOptions & { readonly run: string },
  environment: AppEnvironment,
): Promise<string> {
  return withLedger('read', options, environment, async (ledger) => {
    const run = await namedRun(options.run, ledger);
    const { isLed } = await workStateOf(run, ledger, environment.clock.now());
    const worker = isLed ? await ledger.reading.processOf(run.id) : null;
    if (worker == null) throw new UsageError('NOT_RUNNING', `no process works on run ${run.id}`);
    const [, host, pid] = /^(.*):(\d+)$/.exec(worker) ?? [];
    if (host !== hostname())
      throw new UsageError('RUNS_ELSEWHERE', `run ${run.id} works on ${host}`, 'Stop it there, with Ctrl-C.');
    process.kill(Number(pid), 'SIGINT');
    return run.id;
  });
}
