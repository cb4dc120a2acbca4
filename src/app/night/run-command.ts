import { spawn } from 'node:child_process';
import { redact } from '../../util/secret.js';
import type { Surroundings } from '../surroundings.js';

/** Runs a program with the summary on its standard input. Rejects unless it ends with 0; no shell reads its arguments. */
export function runCommand(
  [program, ...args]: readonly [string, ...string[]],
  summary: string,
  around: Surroundings,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const env = withoutKeys(around.env);
    const child = spawn(program, args, {
      cwd: around.cwd,
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: OWN_GROUP,
    });
    const end = () => {
      if (OWN_GROUP && child.pid !== undefined) killGroup(child.pid);
      else child.kill('SIGKILL');
      reject(signal.reason);
    };
    signal.addEventListener('abort', end, { once: true });
    child.on('error', reject);
    child.on('close', (code, killedBy) => {
      signal.removeEventListener('abort', end);
      if (code === 0) resolve();
      else reject(new Error(code === null ? `it was ended by ${killedBy}` : `it ended with ${code}`));
    });
    // Whoever does not read what it is told has ended, or will.
    child.stdin.on('error', () => {});
    child.stdin.end(summary);
  });
}

/** What a script has begun is ended with it, where there are groups of processes. */
const OWN_GROUP = process.platform !== 'win32';

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

const OURS = /^(?:KYBATCH_(?:V[12]_API_KEY|LEDGER_URL|WATCH_SECRET)(?:_FILE)?|PGPASSWORD|PGPASSFILE|PGSERVICEFILE)$/;

/** Neither the keys, nor where they are, nor anything that holds one. */
const withoutKeys = (env: Surroundings['env']): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) => value !== undefined && !OURS.test(name.toUpperCase()) && redact(value) === value,
    ),
  );
