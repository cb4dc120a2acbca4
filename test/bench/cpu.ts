import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** Linux uses this figure on all current machines. */
const TICKS_PER_SECOND = 100;

/** Processor time of a process so far, 0 if it has ended. `with children` includes children that have ended. */
export function cpuSeconds(pid: number, whose?: 'with children'): number {
  const fields = statOf(pid);
  const counted = whose === undefined ? fields.slice(11, 13) : fields.slice(11, 15);
  return counted.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

export const parentOf = (pid: number): number => Number(statOf(pid)[1] ?? 0);

/** The fields after the name, because the name may hold any character. */
function statOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

export interface Time {
  readonly userMs: number;
  readonly wallMs: number;
}

/**
 * The shell reports milliseconds of its children. Linux reports the time of another process in hundredths of a second.
 */
export function timeOf(args: readonly string[], cwd: string): Time {
  const script = 'TIMEFORMAT="%3U %3R"; time "$0" "$@" >/dev/null 2>/dev/null';
  const printed = execFileSync('bash', ['-c', `{ ${script}; } 2>&1`, process.execPath, ...args], { cwd });
  const [user = Number.NaN, wall = Number.NaN] = printed.toString().trim().split(' ').map(Number);
  return { userMs: user * 1_000, wallMs: wall * 1_000 };
}

export interface Watched {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly rssMb: number;
}

export async function watchCommand(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Watched> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const pid = child.pid ?? 0;
  let [rssKb, cpu] = [0, 0];
  const watch = setInterval(() => {
    rssKb = Math.max(rssKb, peakKb(pid));
    cpu = Math.max(cpu, cpuSeconds(pid));
  }, 100);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(watch);
  if (code !== 0 && code !== 3) throw new Error(`the command ended with ${code}`);
  return { seconds: (performance.now() - started) / 1000, cpuSeconds: cpu, rssMb: rssKb / 1024 };
}

function peakKb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
