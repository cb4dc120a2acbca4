import { readFileSync } from 'node:fs';

/** As Linux counts them, on every machine of today. */
const TICKS_PER_SECOND = 100;

/** Processor time of a process so far; 0 where it is gone. `with children`: of those that have ended, too. */
export function cpuSeconds(pid: number, whose?: 'with children'): number {
  const fields = statOf(pid);
  const counted = whose === undefined ? fields.slice(11, 13) : fields.slice(11, 15);
  return counted.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

export const parentOf = (pid: number): number => Number(statOf(pid)[1] ?? 0);

/** From the state on: the name before it may hold anything. */
function statOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
