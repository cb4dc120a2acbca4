import type { JobStore, LaterRows, WaitingRow } from '../ledger/jobs.js';
import type { Ledger } from '../ledger/ledger.js';
import type { RunRecord } from '../ledger/runs.js';

const EVERY_ROW = 2 ** 31;

interface LaidWork {
  readonly run: RunRecord;
  readonly ledger: Ledger;
  /** The only rows that are to move. */
  readonly only?: readonly number[] | undefined;
}

/** What can move, cut into jobs. */
export async function layJobs(startId: number, jobs: JobStore, work: LaidWork): Promise<void> {
  const { run, ledger, only } = work;
  // Whoever does not lead changes nothing of what others are working on.
  const elsewhere = await jobs.lead({ runId: run.id, startId });
  const isFree = (row: number) => !elsewhere.has(row);
  if (only === undefined) await ledger.runs.releaseParked(run.id);
  const rows = only ?? (await ledger.runs.pendingRows(run.id));
  const waiting = only === undefined ? await waitingRows(run.id, ledger) : [];
  await jobs.lay(
    { runId: run.id, startId },
    rows.filter(isFree),
    waiting.filter(({ row }) => isFree(row)),
  );
}

async function waitingRows(runId: string, { runs }: Ledger): Promise<readonly WaitingRow[]> {
  const waits = await runs.dueRows(runId, Number.MAX_SAFE_INTEGER, EVERY_ROW);
  return waits.map(({ row, nextAt }) => ({ row, nextAt: nextAt ?? 0 }));
}

/** What nothing but the time keeps from going on: an allowance that comes back. Rows that have not set out wait for it too. */
export async function putOff({ run, ledger, only }: LaidWork): Promise<LaterRows | undefined> {
  const held = ledger.jobs !== undefined && only === undefined ? await ledger.runs.parkedRows(run.id) : [];
  if (held.length === 0) return undefined;
  const until = held.reduce((first, { nextAt }) => Math.min(first, nextAt), Number.MAX_SAFE_INTEGER);
  const rows = [...held.map(({ row }) => row), ...(await ledger.runs.pendingRows(run.id))];
  return { rows, until, waiting: await waitingRows(run.id, ledger) };
}
