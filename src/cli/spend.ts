import { exitCodeOfRun, leftToJson } from '../app/monitoring/summary.js';
import type { ContinueProposal } from '../app/run/continue-run.js';
import { ContinueError } from '../app/run/next-step.js';
import type { RunEndView } from '../app/run/run-end.js';
import type { CommandWording, SpendingEvent, SpendingOptions } from '../app/run/spending.js';
import { revealsAnything } from '../domain/account-usage.js';
import { ExitCode, KybatchError } from '../domain/errors.js';
import { type Message, message } from '../util/message-parts.js';
import { readSpendingFlags, type SpendingArgs } from './run-flags.js';
import { askYesNo, InterruptListener, type Io, printJson } from './terminal/io.js';
import { ProgressDisplay } from './terminal/progress.js';
import {
  conservation,
  findingsInWords,
  invalidInWords,
  keptInWords,
  lackInWords,
  movedInWords,
  movedToJson,
  parkedInWords,
  partialInWords,
  proposalInWords,
  refusedInWords,
  revealsInWords,
  startInWords,
  stoppedInWords,
  unknownInWords,
} from './terminal/run-words.js';
import { placeFlags, type Suggestion, suggestCommand, suggestionInWords } from './terminal/suggestions.js';
import { count, iso, shellWord, withCommas } from './terminal/text.js';

export interface Spending {
  /** The use case, with the flags and the terminal as its options. */
  readonly work: (options: SpendingOptions) => Promise<RunEndView>;
  /** What is said when there was nothing to do. */
  readonly nothing: (end: RunEndView) => Message;
}

/** What `run`, `resume` and `retry` have in common: progress, interrupts, the last lines and the exit code. */
export async function spend({ work, nothing }: Spending, args: SpendingArgs, io: Io): Promise<ExitCode> {
  const interrupts = new InterruptListener();
  let display: ProgressDisplay | undefined;
  const listen = (event: SpendingEvent) => {
    if (event.kind === 'started') {
      io.say(startInWords(event, placeFlags(args)));
      interrupts.start(io);
      display = new ProgressDisplay(event, io);
    }
    display?.listen(event);
  };
  try {
    const { drain, abort } = interrupts;
    const said: CommandWording = {
      command: (step) => suggestCommand(step, args).command,
      interruptedAs: () => interrupts.exitCode,
    };
    const end = await work({ ...readSpendingFlags(args), listen, drain, abort, said }).finally(() => display?.stop());
    if (!end.worked) io.say(nothing(end));
    const ways = {
      next: end.next === null ? undefined : suggestCommand(end.next, args),
      further: end.further.map((step) => suggestCommand(step, args)),
      write:
        end.tables === null && end.tablesBefore === null
          ? suggestCommand({ kind: 'export', run: end.run }, args)
          : undefined,
      place: placeFlags(args),
    };
    const messages = endInWords(end, ways);
    if (args.json) printJson(io, endToJson(end, ways), messages);
    // With --quiet a start that has done all it could says nothing: who waits for a person, the exit code tells.
    io.say(messages, isAllDone(end) ? 'stderr' : 'alert');
    return exitCodeOfRun(end, interrupts.exitCode);
  } catch (error) {
    const told = error instanceof ContinueError ? withCommand(error, args) : error;
    throw interrupts.abort.aborted ? asInterrupted(told, interrupts.exitCode) : told;
  } finally {
    interrupts.stop();
  }
}

/** Who interrupts while nothing can be written down has ended it: what was away is only why so much is left. */
function asInterrupted(error: unknown, exit: ExitCode | undefined): unknown {
  if (!(error instanceof KybatchError) || error.exit !== ExitCode.unavailable || exit === undefined) return error;
  const { message, code, hint } = error;
  return new KybatchError(message, { code, hint, exit, cause: error });
}

/** Nothing is left but questions to people, and rows that nobody can ask about; and nobody's work was put elsewhere. */
const isAllDone = ({ finished, outcomes, tablesLack, keptWorkbook }: RunEndView): boolean =>
  finished && outcomes.failed === 0 && tablesLack === null && keptWorkbook === null;

/** The same error, with the command that goes on, or those of which somebody has to choose one. */
export function withCommand(
  { message, code, hint = '', exit, next, others, cause }: ContinueError,
  args: Parameters<typeof suggestCommand>[1],
): KybatchError {
  const { words, command } = suggestCommand(next, args);
  const said = next.kind === 'plan' ? 'Plan it with' : words;
  const commands = [command, ...others.map((other) => suggestCommand(other, args).command)];
  const how = commands.length === 1 ? `: ${command}` : ` one of\n${commands.map((one) => `  ${one}`).join('\n')}`;
  return new KybatchError(message, { code, hint: `${hint}\n${said}${how}`.trim(), exit, cause });
}

/**
 * True if spending was agreed to by a flag or is agreed to now. Nobody is asked where there is no terminal. `about`: what
 * it is that is agreed to; where a person is asked it is said even with --quiet.
 */
export async function confirmSpending(
  about: readonly Message[],
  question: string,
  args: SpendingArgs,
  io: Io,
): Promise<boolean> {
  const { ask } = io;
  const asks = !args.yes && !args.sandbox && ask !== undefined;
  io.say(about, asks ? 'alert' : 'stderr');
  return !asks || (await askYesNo(question, ask));
}

/** Says how many rows would move and what that may cost, then asks; undefined where there is nobody to ask. */
export const confirmContinue = (args: SpendingArgs, io: Io) =>
  io.ask === undefined
    ? undefined
    : (proposal: ContinueProposal) =>
        confirmSpending(
          [...findingsInWords(proposal.findings), ...proposalInWords(proposal, placeFlags(args))],
          'Go on?',
          args,
          io,
        );

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
export function endInWords(end: RunEndView, { next, further, write, place }: WaysOn): readonly Message[] {
  return [
    ...(end.stopped === null ? [] : [stoppedInWords(end.stopped)]),
    ...parkedInWords(parkedRows(end), place),
    ...refusedInWords(end),
    ...awaited(end),
    ...(end.ledBy === null
      ? stillToDo(end)
      : [
          message(
            'LED_ELSEWHERE',
            `${end.ledBy || 'Another process'} leads the run now, and goes on with what is left`,
          ),
        ]),
    ...invalidInWords(end.invalid, end.rows),
    ...leftInWords(end),
    conservation({ byOutcome: end.outcomes }, end.rows),
    ...(end.worked || end.unitsCharged + end.unknownCalls > 0 ? [spentInWords(end, place)] : []),
    ...(end.helpers === 0
      ? []
      : [
          message(
            'WORKERS_UNDER_WAY',
            `${count(end.helpers, 'worker')} still ${end.helpers === 1 ? 'has' : 'have'} calls under way: what they come to is not in these figures`,
          ),
        ]),
    ...revealedInWords(end),
    ...movedInWords(end.moved),
    ...(end.workbook === null
      ? []
      : [message('RESULTS_WRITTEN', `Results: ${end.workbook}${questionsInside(end, place)}`)]),
    ...keptInWords(end.keptWorkbook, place),
    ...(end.tables === null ? [] : [message('TABLES_WRITTEN', `Tables: ${end.tables}`), ...partialTables(end)]),
    ...(end.tablesBefore === null
      ? []
      : [message('TABLES_FROM_BEFORE', `Tables, as they were written before: ${end.tablesBefore}`)]),
    ...lackInWords(end.tablesLack),
    ...(write === undefined
      ? []
      : [
          message(
            'TABLES_NOT_WRITTEN',
            end.worked
              ? `Tables: not written${end.finished ? '' : ', the run is not finished'}. Write them as it stands with: ${write.command}`
              : `Tables: none are there. Write them, for nothing, with: ${write.command}`,
          ),
        ]),
    ...(end.log === null ? [] : [message('LOG_WRITTEN', `Log: ${end.log}`)]),
    ...further.map(suggestionInWords),
    ...(next === undefined ? [] : [suggestionInWords(next)]),
  ];
}

const parkedRows = ({ parked, refusals, parkedUntil, putOff, spent }: RunEndView) => ({
  reasons: parked,
  refusals,
  until: parkedUntil,
  putOff,
  unknownInBudget: spent.unknownInBudget,
});

/** They are paid for, or may be: nobody need be afraid of the next start. */
function awaited({ waiting }: RunEndView): readonly Message[] {
  if (waiting === 0) return [];
  const whose =
    waiting === 1 ? '1 row waits for its credit report' : `${count(waiting, 'row')} wait for their credit reports`;
  return [message('REPORTS_AWAITED', `${whose}: the next start looks for what was asked for, and buys nothing twice`)];
}

/** Rows that wait for nothing but another start. */
function stillToDo({ parked, waiting, toDo }: RunEndView): readonly Message[] {
  const rows = toDo - waiting - Object.values(parked).reduce((sum, held) => sum + held, 0);
  return rows > 0 ? [message('ROWS_TO_DO', `${count(rows, 'row')} ${rows === 1 ? 'is' : 'are'} still to do`)] : [];
}

/** A file that has lost its end looks like a list that has shrunk: only names tell a person which it is. */
function leftInWords({ departed, departedFirst }: RunEndView): readonly Message[] {
  if (departed === 0) return [];
  const more = departed - departedFirst.length;
  const lines = [
    `${count(departed, 'member')} ${departed === 1 ? 'has' : 'have'} left the list: not in the file any more`,
    ...departedFirst
      .map(leftToJson)
      .map(({ line, id, name }) =>
        fitted(`  line ${line} before: ${name ?? 'no name'}${id === null ? '' : ` (id ${id})`}`),
      ),
    ...(more > 0 ? [`  … and ${withCommas(more)} more: \`left_at\` in the table \`members\``] : []),
  ];
  return [message('MEMBERS_LEFT', lines.join('\n'))];
}

const fitted = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** A row that is to be bought again shows what was bought before: only one that never came to an end is missing. */
function partialTables({ finished, rows, outcomes, toDo }: RunEndView): readonly Message[] {
  if (finished) return [];
  if (outcomes.pending > 0) return partialInWords({ partial: true, rows, open: outcomes.pending });
  return [
    message(
      'TABLES_SHOW_BEFORE',
      `They show the whole portfolio; ${count(toDo, 'row')} with the answers of before, until their turn has come.`,
    ),
  ];
}

function spentInWords({ run, unitsCharged, unknownCalls, spent, worked }: RunEndView, place: string): Message {
  const all = `${count(unitsCharged, 'unit')} spent in run ${run}${unknownInWords(unknownCalls, place)}`;
  if (!worked) return message('UNITS_SPENT', `${all}.`);
  return message(
    'UNITS_SPENT',
    `${all}; by this start: ${count(spent.units, 'unit')}, ${count(spent.reports, 'credit report')}${ownUnknown(spent.unknown, unknownCalls)}.`,
  );
}

/** What became of some of them may be known by now. */
function ownUnknown(ofStart: number, ofRun: number): string {
  if (ofStart === 0 || ofRun === 0) return '';
  return ofStart < ofRun ? `, and ${ofStart} of those calls` : ', and those calls';
}

function endToJson(end: RunEndView, { next, further, write }: WaysOn) {
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

type Revealed = Pick<RunEndView, 'reveals' | 'contacts'>;

/** What of people this start has asked for, beside what the provider counts: its range is wider, and others may share the account. */
function revealedInWords({ reveals, contacts }: Revealed): readonly Message[] {
  if (!revealsAnything(reveals)) return [];
  const asked = `This start has asked for ${revealsInWords(reveals)}`;
  if (contacts === null)
    return [message('CONTACTS_REVEALED', `${asked}; how many v2 counts (/metrics/contacts) is not told.`)];
  const { emailCount, phoneCount, dateFrom, dateTo } = contacts;
  return [
    message(
      'CONTACTS_REVEALED',
      `${asked}; v2 counts (/metrics/contacts) e-mail addresses ${told(emailCount)}, phone numbers ${told(phoneCount)} from ${dateFrom} to ${dateTo}, whoever had them revealed.`,
    ),
  ];
}

const told = (value: number | null): string => (value === null ? 'not told' : withCommas(value));

const revealsToJson = ({ reveals, contacts }: Revealed) => ({
  asked: reveals,
  counted: contacts && {
    date_from: contacts.dateFrom,
    date_to: contacts.dateTo,
    email_count: contacts.emailCount,
    phone_count: contacts.phoneCount,
  },
});
