import type { RunEndView } from '../../app/run-end.js';
import { ROW_OUTCOMES, type RowOutcome } from '../../domain/outcomes.js';
import type { Suggestion } from './commands.js';
import { lackInWords } from './export-words.js';
import { count } from './text.js';

/** The last lines: conservation, what was spent, files, and what to do next. `write`: how to have tables that were not written. */
export function endInWords(end: RunEndView, next: Suggestion | undefined, write: Suggestion | undefined): string {
  const { stopped } = end;
  const lines = [
    ...(stopped === null ? [] : [`Stopped: ${stopped.code}: ${stopped.message}`]),
    ...(stopped?.hint === undefined ? [] : [`  ${stopped.hint}`]),
    ...Object.entries(end.parked).map(
      ([reason, rows]) => `${count(rows, 'row')} ${rows === 1 ? 'waits' : 'wait'} for ${PARKED[reason] ?? reason}`,
    ),
    conservation({ byOutcome: end.outcomes }, end.rows),
    spentInWords(end),
    ...(end.tables === null ? [] : [`Tables: ${end.tables}`]),
    ...(end.tablesLack === null ? [] : [lackInWords(end.tablesLack).trimEnd()]),
    ...(write === undefined
      ? []
      : [
          `Tables: not written${end.finished ? '' : ', the run is not finished'}. Write them as it stands with: ${write.command}`,
        ]),
    ...(end.log === null ? [] : [`Log: ${end.log}`]),
    ...(next === undefined ? [] : [`${next.words}: ${next.command}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Every row of the input is in exactly one of these. */
export function conservation(
  { byOutcome }: { readonly byOutcome: Readonly<Record<RowOutcome, number>> },
  rowCount: number,
): string {
  const sum = ROW_OUTCOMES.reduce((total, outcome) => total + byOutcome[outcome], 0);
  const parts = ROW_OUTCOMES.map((outcome) => `${byOutcome[outcome]} ${outcome}`).join(' + ');
  return sum === rowCount
    ? `${parts} = ${rowCount} rows`
    : `${parts} = ${sum}, but the input has ${rowCount} rows: this is a defect`;
}

function spentInWords({ run, unitsCharged, spent, worked }: RunEndView): string {
  const all = `${count(unitsCharged, 'unit')} spent in run ${run}`;
  if (!worked) return `${all}.`;
  const unknown =
    spent.unknown === 0 ? '' : `, ${count(spent.unknown, 'call')} with unknown charge (\`kybatch doubt\` lists them)`;
  return `${all}; by this start: ${count(spent.units, 'unit')}, ${count(spent.reports, 'credit report')}${unknown}.`;
}

export const PARKED: Readonly<Record<string, string>> = {
  allowance: 'the allowance: the provider says it is spent',
  budget: 'another start: the budget of the last one is spent',
  scope: 'a scope that the key lacks (`kybatch doctor` names it)',
  in_doubt: 'a person: their answers were lost or unreadable and may have been charged (`kybatch doubt` lists them)',
  unanswered:
    'the next start: their answers were lost or could not be read, while others were answered (`errors` has what came)',
};

export function endToJson(end: RunEndView, next: Suggestion | undefined, write: Suggestion | undefined) {
  const { stopped, spent } = end;
  return {
    run: end.run,
    rows: end.rows,
    outcomes: end.outcomes,
    stages: end.stages,
    units_charged: end.unitsCharged,
    this_start: { units_charged: spent.units, credit_reports: spent.reports, unknown_calls: spent.unknown },
    waiting: end.waiting,
    parked: end.parked,
    finished: end.finished,
    interrupted: end.interrupted,
    ...(stopped === null ? {} : { stopped: { code: stopped.code, message: stopped.message, hint: stopped.hint } }),
    ...(end.tables === null ? {} : { files: end.tables }),
    ...(end.tablesLack === null
      ? {}
      : {
          files_lack: {
            answers_not_exported: end.tablesLack.answersNotExported,
            not_written: end.tablesLack.notWritten,
          },
        }),
    ...(write === undefined ? {} : { export: write.command }),
    ...(next === undefined ? {} : { next: next.command }),
  };
}
