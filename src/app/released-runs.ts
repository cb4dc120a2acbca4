import type { Ledger } from '../ledger/ledger.js';
import type { RowRef } from '../ledger/review.js';
import { type Given, givenBefore } from './given.js';
import { isSandboxName } from './provider.js';

/** A run that has rows to go on with. */
export interface ReleasedRun {
  readonly run: string;
  readonly rows: number;
  /** It was made with the simulated provider, and goes on with it. */
  readonly sandbox: boolean;
  /** As its last start was. */
  readonly given: Given;
}

export async function releasedRuns(
  rows: readonly RowRef[],
  ledger: Pick<Ledger, 'runs' | 'reading'>,
): Promise<readonly ReleasedRun[]> {
  const ids = [...new Set(rows.map(({ runId }) => runId))];
  return await Promise.all(
    ids.map(async (run) => ({
      run,
      rows: rows.filter(({ runId }) => runId === run).length,
      sandbox: await isOnSandbox(run, ledger.runs),
      given: await givenBefore(run, ledger),
    })),
  );
}

export async function isOnSandbox(run: string, runs: Ledger['runs']): Promise<boolean> {
  const names = await Promise.all([runs.environmentName(run, 'v1'), runs.environmentName(run, 'v2')]);
  return names.some((name) => isSandboxName(name));
}
