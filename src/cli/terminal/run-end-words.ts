import { leftToJson } from '../../app/night/summary.js';
import type { RunEndView } from '../../app/run-end.js';
import { ROW_OUTCOMES, type RowOutcome } from '../../domain/outcomes.js';
import { revealsAnything } from '../../domain/reveals.js';
import { movedToJson } from './allowance-json.js';
import type { Suggestion } from './commands.js';
import { keptInWords, lackInWords, partialInWords } from './export-words.js';
import { invalidInWords } from './invalid-words.js';
import { iso } from './iso.js';
import { parkedInWords, refusedInWords } from './parked-words.js';
import { movedInWords } from './permission-words.js';
import { revealedInWords, revealsToJson } from './reveal-words.js';
import { count, shellWord, withCommas } from './text.js';
import { unknownInWords } from './unknown-words.js';

/** What leads on from the end of a start, as commands. */
export interface WaysOn {
  readonly next: Suggestion | undefined;
  readonly further: readonly Suggestion[];
  /** How to have tables that were not written. */
  readonly write: Suggestion | undefined;
  /** The flag that names the data directory. */
  readonly place: string;
}

/** The last lines: conservation, what was spent, files, and what to do next. */
export function endInWords(end: RunEndView, { next, further, write, place }: WaysOn): string {
  const { stopped } = end;
  const lines = [
    ...(stopped === null ? [] : [`Stopped: ${stopped.code}: ${stopped.message}`]),
    ...(stopped?.hint === undefined ? [] : [`  ${stopped.hint}`]),
    ...parkedInWords(parkedRows(end), place),
    ...refusedInWords(end),
    ...awaited(end),
    ...(end.ledBy === null
      ? stillToDo(end)
      : [`${end.ledBy || 'Another process'} leads the run now, and goes on with what is left`]),
    ...invalidInWords(end.invalid, end.rows),
    ...leftInWords(end),
    conservation({ byOutcome: end.outcomes }, end.rows),
    ...(end.worked || end.unitsCharged + end.unknownCalls > 0 ? [spentInWords(end, place)] : []),
    ...(end.helpers === 0
      ? []
      : [
          `${count(end.helpers, 'worker')} still ${end.helpers === 1 ? 'has' : 'have'} calls under way: what they come to is not in these figures`,
        ]),
    ...revealedInWords(end),
    ...movedInWords(end.moved),
    ...(end.workbook === null ? [] : [`Results: ${end.workbook}${questionsInside(end, place)}`]),
    ...keptInWords(end.keptWorkbook, place),
    ...(end.tables === null ? [] : [`Tables: ${end.tables}`, ...partialTables(end)]),
    ...(end.tablesBefore === null ? [] : [`Tables, as they were written before: ${end.tablesBefore}`]),
    ...(end.tablesLack === null ? [] : [lackInWords(end.tablesLack).trimEnd()]),
    ...(write === undefined
      ? []
      : [
          end.worked
            ? `Tables: not written${end.finished ? '' : ', the run is not finished'}. Write them as it stands with: ${write.command}`
            : `Tables: none are there. Write them, for nothing, with: ${write.command}`,
        ]),
    ...(end.log === null ? [] : [`Log: ${end.log}`]),
    ...further.map(({ words, command }) => `${words}: ${command}`),
    ...(next === undefined ? [] : [`${next.words}: ${next.command}`]),
  ];
  return `${lines.join('\n')}\n`;
}

const parkedRows = ({ parked, refusals, parkedUntil, putOff, spent }: RunEndView) => ({
  reasons: parked,
  refusals,
  until: parkedUntil,
  putOff,
  unknownInBudget: spent.unknownInBudget,
});

/** They are paid for, or may be: nobody need be afraid of the next start. */
function awaited({ waiting }: RunEndView): readonly string[] {
  if (waiting === 0) return [];
  const whose =
    waiting === 1 ? '1 row waits for its credit report' : `${count(waiting, 'row')} wait for their credit reports`;
  return [`${whose}: the next start looks for what was asked for, and buys nothing twice`];
}

/** Rows that wait for nothing but another start. */
function stillToDo({ parked, waiting, toDo }: RunEndView): readonly string[] {
  const rows = toDo - waiting - Object.values(parked).reduce((sum, held) => sum + held, 0);
  return rows > 0 ? [`${count(rows, 'row')} ${rows === 1 ? 'is' : 'are'} still to do`] : [];
}

/** A file that has lost its end looks like a list that has shrunk: only names tell a person which it is. */
function leftInWords({ departed, departedFirst }: RunEndView): readonly string[] {
  if (departed === 0) return [];
  const more = departed - departedFirst.length;
  return [
    `${count(departed, 'member')} ${departed === 1 ? 'has' : 'have'} left the list: not in the file any more`,
    ...departedFirst
      .map(leftToJson)
      .map(({ line, id, name }) =>
        fitted(`  line ${line} before: ${name ?? 'no name'}${id === null ? '' : ` (id ${id})`}`),
      ),
    ...(more > 0 ? [`  … and ${withCommas(more)} more: \`left_at\` in the table \`members\``] : []),
  ];
}

const fitted = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** Every row of the input is in exactly one of these. */
export function conservation(
  { byOutcome }: { readonly byOutcome: Readonly<Record<RowOutcome, number>> },
  rowCount: number,
  movedOn = 0,
): string {
  const sum = ROW_OUTCOMES.reduce((total, outcome) => total + byOutcome[outcome], 0) + movedOn;
  const counted = ROW_OUTCOMES.map((outcome) => `${byOutcome[outcome]} ${outcome}`);
  const parts = [...counted, ...(movedOn > 0 ? [`${movedOn} in later runs`] : [])].join(' + ');
  return sum === rowCount
    ? `${parts} = ${rowCount} ${rowCount === 1 ? 'row' : 'rows'}`
    : `${parts} = ${sum}, but the input has ${rowCount} ${rowCount === 1 ? 'row' : 'rows'}: this is a defect`;
}

/** A row that is to be bought again shows what was bought before: only one that never came to an end is missing. */
function partialTables({ finished, rows, outcomes, toDo }: RunEndView): readonly string[] {
  if (finished) return [];
  if (outcomes.pending > 0) return [partialInWords({ partial: true, rows, open: outcomes.pending }).trimEnd()];
  return [
    `They show the whole portfolio; ${count(toDo, 'row')} with the answers of before, until their turn has come.`,
  ];
}

function spentInWords({ run, unitsCharged, unknownCalls, spent, worked }: RunEndView, place: string): string {
  const all = `${count(unitsCharged, 'unit')} spent in run ${run}${unknownInWords(unknownCalls, place)}`;
  if (!worked) return `${all}.`;
  return `${all}; by this start: ${count(spent.units, 'unit')}, ${count(spent.reports, 'credit report')}${ownUnknown(spent.unknown, unknownCalls)}.`;
}

/** What became of some of them may be known by now. */
function ownUnknown(ofStart: number, ofRun: number): string {
  if (ofStart === 0 || ofRun === 0) return '';
  return ofStart < ofRun ? `, and ${ofStart} of those calls` : ', and those calls';
}

export function endToJson(end: RunEndView, { next, further, write }: WaysOn) {
  const { stopped, spent } = end;
  return {
    run: end.run,
    portfolio: end.portfolio,
    rows: end.rows,
    due: end.due,
    to_do: end.toDo,
    members_left: end.departed,
    ...(end.departed === 0 ? {} : { left_members: end.departedFirst.map(leftToJson) }),
    ...(end.watchAsked === 0 ? {} : { watch_asked: end.watchAsked }),
    outcomes: end.outcomes,
    ...(end.invalid.length === 0 ? {} : { invalid_reasons: end.invalid }),
    stages: end.stages,
    units_charged: end.unitsCharged,
    unknown_calls: end.unknownCalls,
    this_start: { units_charged: spent.units, credit_reports: spent.reports, unknown_calls: spent.unknown },
    ...(revealsAnything(end.reveals) ? { reveals: revealsToJson(end) } : {}),
    v2_permissions: end.moved.map(movedToJson),
    waiting: end.waiting,
    parked: end.parked,
    ...(end.parkedUntil === null ? {} : { parked_until: iso(end.parkedUntil) }),
    ...(end.putOff ? { workers_go_on_then: true } : {}),
    ...(end.helpers === 0 ? {} : { workers_under_way: end.helpers }),
    ...(end.ledBy === null ? {} : { led_by: end.ledBy }),
    ...(end.nextDueAt === null ? {} : { next_due_at: iso(end.nextDueAt) }),
    ...(end.refusals.length === 0 ? {} : { refusals: end.refusals }),
    ...(end.refusedRows === 0 ? {} : { refused_rows: end.refusedRows }),
    finished: end.finished,
    interrupted: end.interrupted,
    ...(stopped === null ? {} : { stopped: { code: stopped.code, message: stopped.message, hint: stopped.hint } }),
    ...(end.workbook === null ? {} : { results: end.workbook }),
    ...(end.keptWorkbook === null ? {} : { results_edited: end.keptWorkbook }),
    ...(end.tables === null ? {} : { files: end.tables, files_partial: end.outcomes.pending > 0 }),
    ...(end.tablesBefore === null ? {} : { files_before: end.tablesBefore }),
    ...(end.tablesLack === null
      ? {}
      : {
          files_lack: {
            answers_not_exported: end.tablesLack.answersNotExported,
            cells_not_exported: end.tablesLack.cellsNotExported,
            not_written: end.tablesLack.notWritten,
          },
        }),
    ...(write === undefined ? {} : { export: write.command }),
    ...(next === undefined ? {} : { next: next.command }),
    ...(further.length === 0 ? {} : { further: further.map(({ command }) => command) }),
  };
}

/** The workbook asks as well as a review sheet does. */
const questionsInside = ({ outcomes, workbook }: RunEndView, place: string): string =>
  outcomes.needs_review === 0
    ? ''
    : ` (its sheet Questions can be filled in, and read back with \`kybatch review apply ${shellWord(workbook ?? '')}${place}\`)`;
