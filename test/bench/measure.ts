/** Takes the cases in turn, round after round, so that a slow minute of the machine affects all of them. */
export async function interleaved<T>(
  cases: readonly (() => T | Promise<T>)[],
  repetitions: number,
): Promise<readonly T[][]> {
  const results = cases.map(() => [] as T[]);
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const [index, measure] of cases.entries()) results[index]?.push(await measure());
  }
  return results;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** Microseconds per call of a synchronous function, over at least this many milliseconds. */
export function microseconds(call: () => unknown, leastMs: number): number {
  const started = performance.now();
  let calls = 0;
  let elapsedMs = 0;
  while (elapsedMs < leastMs) {
    for (let index = 0; index < 20; index++) call();
    calls += 20;
    elapsedMs = performance.now() - started;
  }
  return (elapsedMs * 1_000) / calls;
}
