import { ROW_OUTCOMES } from '../domain/outcomes.js';
import type { RunEnd } from '../engine/run.js';
import type { Progress, RunRecord } from '../ledger/ledger.js';
import type { Io } from './io.js';
import { placeFlags } from './spending.js';
import { count } from './text.js';

export interface EndView {
  readonly run: RunRecord;
  readonly json: boolean;
  readonly budgetUnits: number | null;
  /** Searches and a record: the most that a row can still cost. */
  readonly unitsPerRowAtMost: number;
  /** The flags that make the same command line again, with another budget where that is what stopped the run. */
  readonly againFlags: (budget?: number) => string;
  /** The `--data-dir` of this command line, if it has one. */
  readonly dataDir: string | undefined;
  readonly files: string | undefined;
  readonly log: string | undefined;
}

/** The last lines: conservation, units, files, and what to do next. */
export function printEnd(end: RunEnd, view: EndView, io: Io): void {
  const { progress, stopped } = end;
  const next = nextCommand(end, view);
  if (view.json) io.stdout(`${JSON.stringify(toJson(end, view, next))}\n`);
  const lines = [
    ...(stopped === undefined ? [] : [`Stopped: ${stopped.code}: ${stopped.message}`, `  ${stopped.hint}`]),
    ...Object.entries(progress.parkedReasons).map(
      ([reason, rows]) => `${count(rows, 'row')} ${rows === 1 ? 'waits' : 'wait'} for ${PARKED[reason] ?? reason}`,
    ),
    conservation(progress, view.run.rowCount),
    `${count(progress.unitsCharged, 'unit')} spent in run ${view.run.id}.`,
    ...(view.files === undefined ? [] : [`Tables: ${view.files}`]),
    ...(view.log === undefined ? [] : [`Log: ${view.log}`]),
    ...(next === undefined ? [] : [`${next.words}: ${next.command}`]),
  ];
  io.stderr(`${lines.join('\n')}\n`);
}

/** Every row of the input is in exactly one of these. */
export function conservation({ byOutcome }: Progress, rowCount: number): string {
  const sum = ROW_OUTCOMES.reduce((total, outcome) => total + byOutcome[outcome], 0);
  const parts = ROW_OUTCOMES.map((outcome) => `${byOutcome[outcome]} ${outcome}`).join(' + ');
  return sum === rowCount
    ? `${parts} = ${rowCount} rows`
    : `${parts} = ${sum}, but the input has ${rowCount} rows: this is a defect`;
}

export const PARKED: Readonly<Record<string, string>> = {
  allowance: 'the allowance: the provider says it is spent',
  budget: 'a higher budget',
  scope: 'a scope that the key lacks',
  in_doubt: 'a person: their calls were lost and may have been charged (`kybatch usage` shows them)',
};

interface Next {
  readonly words: string;
  readonly command: string;
}

function nextCommand(end: RunEnd, view: EndView): Next | undefined {
  const { run, againFlags, budgetUnits } = view;
  const { byOutcome, parkedReasons, unitsCharged } = end.progress;
  if (!end.finished) {
    const spent = (parkedReasons.budget ?? 0) > 0 && budgetUnits !== null;
    // Enough for every open row, however its searches end.
    const budget = spent ? unitsCharged + byOutcome.pending * view.unitsPerRowAtMost : undefined;
    return { words: 'Go on with', command: `kybatch resume ${run.id}${againFlags(budget)}` };
  }
  if (byOutcome.failed > 0)
    return { words: 'Try the failed rows again with', command: `kybatch retry ${run.id}${againFlags()}` };
  if (byOutcome.needs_review > 0)
    return { words: 'Answer the open questions with', command: `kybatch review export ${run.id}${placeFlags(view)}` };
  return undefined;
}

function toJson(end: RunEnd, { run, files }: EndView, next: Next | undefined) {
  const { progress, stopped } = end;
  return {
    run: run.id,
    rows: run.rowCount,
    outcomes: progress.byOutcome,
    stages: progress.stages,
    units_charged: progress.unitsCharged,
    waiting: progress.waiting,
    parked: progress.parkedReasons,
    finished: end.finished,
    interrupted: end.interrupted,
    ...(stopped === undefined ? {} : { stopped: { code: stopped.code, message: stopped.message, hint: stopped.hint } }),
    ...(files === undefined ? {} : { files }),
    ...(next === undefined ? {} : { next: next.command }),
  };
}
