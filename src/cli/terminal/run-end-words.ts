// The closing lines of `run`, `resume` and `retry`, and their JSON.

import { leftToJson } from '../../app/monitoring/summary.js';
import type { RunEndView } from '../../app/run/run-end.js';
import { revealsAnything } from '../../domain/account-usage.js';
import { type Message, message } from '../../util/message-parts.js';
import {
  conservation,
  contactsJson,
  invalidInWords,
  keptInWords,
  lackInWords,
  movedInWords,
  movedJson,
  parkedInWords,
  partialInWords,
  refusedInWords,
  revealsInWords,
  stoppedInWords,
  told,
  unknownInWords,
} from './run-words.js';
import { type Suggestion, suggestionInWords } from './suggestions.js';
import { count, shellWord, withCommas } from './text.js';
import { block, pick, type ViewPart, view } from './view.js';

/** The next steps after an attempt, as commands. */
export interface WaysOn {
  readonly next: Suggestion | undefined;
  readonly further: readonly Suggestion[];
  /** Writes tables that were not written. */
  readonly write: Suggestion | undefined;
  /** The flag that names the data directory. */
  readonly place: string;
}

/** The last lines: rows by outcome, the units spent, the files, and the next step. */
export const endInWords = (end: RunEndView, { next, further, write, place }: WaysOn): readonly Message[] =>
  view(
    end.stopped !== null && stoppedInWords(end.stopped),
    parkedInWords(parkedRows(end), place),
    refusedInWords(end),
    awaited(end),
    end.ledBy === null
      ? stillToDo(end)
      : message('LED_ELSEWHERE', `${end.ledBy || 'Another process'} leads the run now, and goes on with what is left`),
    invalidInWords(end.invalid, end.rows),
    leftInWords(end),
    conservation({ byOutcome: end.outcomes }, end.rows),
    (end.worked || end.unitsCharged + end.unknownCalls > 0) && spentInWords(end, place),
    end.helpers > 0 &&
      message(
        'WORKERS_UNDER_WAY',
        `${count(end.helpers, 'worker still has', 'workers still have')} calls under way: what they come to is not in these figures`,
      ),
    revealedInWords(end),
    movedInWords(end.moved),
    end.workbook !== null && message('RESULTS_WRITTEN', `Results: ${end.workbook}${questionsInside(end, place)}`),
    keptInWords(end.keptWorkbook, place),
    end.tables !== null && [message('TABLES_WRITTEN', `Tables: ${end.tables}`), partialTables(end)],
    end.tablesBefore !== null &&
      message('TABLES_FROM_BEFORE', `Tables, as they were written before: ${end.tablesBefore}`),
    lackInWords(end.tablesLack),
    write !== undefined &&
      message(
        'TABLES_NOT_WRITTEN',
        end.worked
          ? `Tables: not written${end.finished ? '' : ', the run is not finished'}. Write them as it stands with: ${write.command}`
          : `Tables: none are there. Write them, for nothing, with: ${write.command}`,
      ),
    end.log !== null && message('LOG_WRITTEN', `Log: ${end.log}`, 'detail'),
    further.map(suggestionInWords),
    next !== undefined && suggestionInWords(next),
  );

const parkedRows = ({ parked, refusals, parkedUntil, putOff, spent }: RunEndView) => ({
  reasons: parked,
  refusals,
  until: parkedUntil,
  putOff,
  unknownInBudget: spent.unknownInBudget,
});

function awaited({ waiting }: RunEndView): ViewPart {
  const whose = count(waiting, 'row waits for its credit report', 'rows wait for their credit reports');
  return (
    waiting > 0 &&
    message('REPORTS_AWAITED', `${whose}: the next start looks for what was asked for, and buys nothing twice`)
  );
}

/** Rows that wait for nothing but another attempt. */
function stillToDo({ parked, waiting, toDo }: RunEndView): ViewPart {
  const rows = toDo - waiting - Object.values(parked).reduce((sum, held) => sum + held, 0);
  return rows > 0 && message('ROWS_TO_DO', `${count(rows, 'row is', 'rows are')} still to do`);
}

/** A file that lost its end looks like a list that became shorter. The names show which it is. */
function leftInWords({ departed, departedFirst }: RunEndView): ViewPart {
  const more = departed - departedFirst.length;
  return (
    departed > 0 &&
    block(
      'MEMBERS_LEFT',
      `${count(departed, 'member has', 'members have')} left the list: not in the file any more`,
      departedFirst
        .map(leftToJson)
        .map(({ line, id, name }) =>
          fitted(`  line ${line} before: ${name ?? 'no name'}${id === null ? '' : ` (id ${id})`}`),
        ),
      more > 0 && `  … and ${withCommas(more)} more: \`left_at\` in the table \`members\``,
    )
  );
}

const fitted = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** A due row shows its earlier answers until it is bought again. A row that was never bought is missing. */
function partialTables({ finished, rows, outcomes, toDo }: RunEndView): ViewPart {
  if (finished) return null;
  if (outcomes.pending > 0) return partialInWords({ partial: true, rows, open: outcomes.pending });
  return message(
    'TABLES_SHOW_BEFORE',
    `They show the whole portfolio; ${count(toDo, 'row')} with the answers of before, until their turn has come.`,
  );
}

function spentInWords({ run, unitsCharged, unknownCalls, spent, worked }: RunEndView, place: string): Message {
  const all = `${count(unitsCharged, 'unit')} spent in run ${run}${unknownInWords(unknownCalls, place)}`;
  if (!worked) return message('UNITS_SPENT', `${all}.`);
  return message(
    'UNITS_SPENT',
    `${all}; by this start: ${count(spent.units, 'unit')}, ${count(spent.reports, 'credit report')}${ownUnknown(spent.unknown, unknownCalls)}.`,
  );
}

/** Some of the lost calls may be settled by now. */
function ownUnknown(ofAttempt: number, ofRun: number): string {
  if (ofAttempt === 0 || ofRun === 0) return '';
  return ofAttempt < ofRun ? `, and ${ofAttempt} of those calls` : ', and those calls';
}

export const endJson = (end: RunEndView, { next, further, write }: WaysOn) => ({
  ...pick(end, 'run', 'portfolio', 'rows', 'due', 'toDo'),
  membersLeft: end.departed,
  leftMembers: end.departed > 0 ? end.departedFirst.map(leftToJson) : undefined,
  watchAsked: end.watchAsked || undefined,
  outcomes: end.outcomes,
  invalidReasons: unlessEmpty(end.invalid),
  ...pick(end, 'stages', 'unitsCharged', 'unknownCalls'),
  thisStart: { unitsCharged: end.spent.units, creditReports: end.spent.reports, unknownCalls: end.spent.unknown },
  reveals: revealsAnything(end.reveals) ? revealsJson(end) : undefined,
  v2Permissions: end.moved.map(movedJson),
  ...pick(end, 'waiting', 'parked'),
  parkedUntil: end.parkedUntil ?? undefined,
  workersGoOnThen: end.putOff || undefined,
  workersUnderWay: end.helpers || undefined,
  ledBy: end.ledBy ?? undefined,
  nextDueAt: end.nextDueAt ?? undefined,
  refusals: unlessEmpty(end.refusals),
  refusedRows: end.refusedRows || undefined,
  ...pick(end, 'finished', 'interrupted'),
  stopped: end.stopped === null ? undefined : pick(end.stopped, 'code', 'message', 'hint'),
  results: end.workbook ?? undefined,
  resultsEdited: end.keptWorkbook ?? undefined,
  ...(end.tables === null ? {} : { files: end.tables, filesPartial: end.outcomes.pending > 0 }),
  filesBefore: end.tablesBefore ?? undefined,
  filesLack: end.tablesLack ?? undefined,
  export: write?.command,
  next: next?.command,
  further: unlessEmpty(further.map(({ command }) => command)),
});

const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

const questionsInside = ({ outcomes, workbook }: RunEndView, place: string): string =>
  outcomes.needs_review === 0
    ? ''
    : ` (its sheet Questions can be filled in, and read back with \`kybatch review apply ${shellWord(workbook ?? '')}${place}\`)`;

type Revealed = Pick<RunEndView, 'reveals' | 'contacts'>;

/** The contacts that this attempt revealed, and the provider's own count: others may share the account. */
function revealedInWords({ reveals, contacts }: Revealed): ViewPart {
  if (!revealsAnything(reveals)) return null;
  const counted =
    contacts === null
      ? 'how many v2 counts (/metrics/contacts) is not told.'
      : `v2 counts (/metrics/contacts) e-mail addresses ${told(contacts.emailCount)}, phone numbers ${told(contacts.phoneCount)} from ${contacts.dateFrom} to ${contacts.dateTo}, whoever had them revealed.`;
  return message('CONTACTS_REVEALED', `This start has asked for ${revealsInWords(reveals)}; ${counted}`);
}

const revealsJson = ({ reveals, contacts }: Revealed) => ({
  asked: reveals,
  counted: contacts && contactsJson(contacts),
});
