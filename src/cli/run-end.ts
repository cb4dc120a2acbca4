import { ROW_OUTCOMES } from '../domain/outcomes.js';
import type { RunEnd } from '../engine/run.js';
import type { Progress, RunRecord } from '../ledger/ledger.js';
import type { Io } from './io.js';

export interface EndView {
  readonly run: RunRecord;
  readonly json: boolean;
  readonly againFlags: string;
}

/** The last lines: conservation, units, and what to do next. */
export function printEnd(end: RunEnd, view: EndView, io: Io): void {
  const { progress, stopped } = end;
  const next = nextCommand(end, view);
  if (view.json) io.stdout(`${JSON.stringify(toJson(end, view, next))}\n`);
  const lines = [
    ...(stopped === undefined ? [] : [`Stopped: ${stopped.code}: ${stopped.message}`, `  ${stopped.hint}`]),
    ...Object.entries(progress.parkedReasons).map(
      ([reason, count]) => `${count} row(s) wait for: ${PARKED[reason] ?? reason}`,
    ),
    conservation(progress, view.run.rowCount),
    `${progress.unitsCharged} unit(s) spent in run ${view.run.id}.`,
    ...(next === undefined ? [] : [`Go on with: ${next}`]),
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

const PARKED: Readonly<Record<string, string>> = {
  allowance: 'the allowance (the provider says it is spent)',
  budget: 'the budget (raise --budget)',
  scope: 'a scope that the key lacks',
  in_doubt: 'a person: their calls were lost and may have been charged (kybatch usage shows them)',
};

function nextCommand(end: RunEnd, { run, againFlags }: EndView): string | undefined {
  if (!end.finished) return `kybatch resume ${run.id}${againFlags}`;
  if (end.progress.byOutcome.failed > 0) return `kybatch retry ${run.id}${againFlags}`;
  return end.progress.byOutcome.needs_review > 0 ? `kybatch review export ${run.id}` : undefined;
}

function toJson(end: RunEnd, { run }: EndView, next: string | undefined) {
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
    ...(next === undefined ? {} : { next }),
  };
}
