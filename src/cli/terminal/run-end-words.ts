import { leftToJson } from '../../app/monitoring/notification-text.js';
import type { ExportView } from '../../app/run/export.js';
import type { RunEndView } from '../../app/run/run-end.js';
import { revealsAnything } from '../../domain/account-usage.js';
import { type Message, type MessageCode, message, sentence } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { count, durationInWords, listed, rowInWords, shortRun, withCommas } from '../../util/words.js';
import { contactsJson, movedInWords, movedJson, told } from './allowance-words.js';
import {
  amountsInWords,
  freshInWords,
  invalidInWords,
  moneyAfterAmounts,
  outcomeCounts,
  type ParkedRows,
  parkedDetails,
  parkedInWords,
  pauseOf,
  pendingInWords,
  refusedInWords,
  renewedInWords,
  revealsInWords,
  stopInWords,
} from './run-words.js';
import {
  hasNewAnswers,
  needInWords,
  priceInWords,
  raisedInWords,
  type Suggestion,
  suggestionInWords,
  suggestResults,
} from './suggestions.js';
import { shellWord, shortened } from './text.js';
import {
  block,
  commandLine,
  countLines,
  labelLines,
  marked,
  shortCommand,
  spaced,
  type ViewPart,
  view,
} from './view.js';

export interface NextSteps {
  readonly next: Suggestion | undefined;
  readonly further: readonly Suggestion[];
  readonly write: Suggestion | undefined;
  /** Continues the run after its review questions were answered. */
  readonly resume: Suggestion | undefined;
  /** Runs the list again when its invalid rows are mended. */
  readonly runAgain?: Suggestion | undefined;
  /** Continues the run with a higher limit, if the present one allows nothing more. */
  readonly raised?: Suggestion | undefined;
}

export interface AttemptFacts {
  readonly ms: number;
  /** An earlier attempt began the run. */
  readonly goesOn: boolean;
  /** Stored answers are bought again. */
  readonly fresh: boolean;
}

export const endInWords = (end: RunEndView, ways: NextSteps, facts: AttemptFacts = UNKNOWN): readonly Message[] => {
  const { stopsFor, ...head } = headline(end, facts);
  const { [stopsFor ?? '']: _, ...otherReasons } = end.parked;
  const waiting = pendingInWords({ waiting: end.waiting, parkedReasons: end.parked });
  return view(
    head.messages,
    outcomeCounts(
      { byOutcome: end.outcomes },
      end.rows,
      0,
      {
        pending: isAllToDo(end) ? waiting : listed([end.toDo > 0 && `${withCommas(end.toDo)} to do`, waiting]),
      },
      isAllToDo(end) ? {} : NOT_FINISHED,
    ),
    [
      ...view(
        (end.worked || end.unitsCharged + end.unknownCalls > 0) && spentInWords(end),
        end.unitsLeft !== null && labelled('UNITS_LEFT', 'Left', count(end.unitsLeft, 'unit')),
        filesInWords(end, ways),
        end.log !== null &&
          (end.stopped !== null || end.outcomes.failed > 0) &&
          labelled('LOG_WRITTEN', 'Log', end.log),
      ),
    ].map(({ code, text, state }, index) => message(code, index === 0 ? `\n${text}` : text, state)),
    spaced(sections(end, otherReasons, ways, facts)),
  );
};

/** False: rows to do that keep an earlier answer count with its outcome, or another run has unfinished rows. */
const isAllToDo = ({ toDo, outcomes }: RunEndView): boolean => toDo === outcomes.pending;

const NOT_FINISHED = { pending: 'not finished' } as const;

const UNKNOWN: AttemptFacts = { ms: 0, goesOn: false, fresh: false };

const labelled = (code: MessageCode, label: string, ...lines: readonly (string | false)[]): Message =>
  block(code, labelLines([[label, lines]]));

/** How the attempt ended. `stopsFor`: the reason for rows on hold that it names. */
function headline(end: RunEndView, { ms }: AttemptFacts) {
  const run = `Run ${shortRun(end.run)}`;
  const time = ms < 1000 ? '' : ` in ${durationInWords(ms)}`;
  const only = (message: Message) => ({ messages: [message] as readonly Message[], stopsFor: undefined });
  // The command itself has said that nothing was to do.
  if (!end.worked) return { messages: [], stopsFor: undefined };
  if (end.stopped !== null) return only(stoppedInWords(run, end.stopped));
  if (end.ledBy !== null)
    return only(
      marked(
        'LED_ELSEWHERE',
        'attention',
        `${run} continues elsewhere: ${end.ledBy || 'another process'} leads it now`,
      ),
    );
  if (end.finished)
    return only(
      end.outcomes.failed > 0
        ? marked('RUN_FINISHED', 'attention', `${run} finished${time}, but ${count(end.outcomes.failed, 'row')} failed`)
        : marked('RUN_FINISHED', 'done', `${run} finished${time}`),
    );
  if (end.interrupted)
    return only(marked('ROWS_TO_DO', 'attention', `${run} interrupted. Everything bought so far is stored.`));
  const pause = pauseOf({ toDo: end.toDo, waiting: end.waiting, parkedReasons: end.parked });
  if (pause === undefined) return only(marked('ROWS_TO_DO', 'attention', `${run} is not finished`));
  if (end.priceAboveLimit !== null && pause.reason === 'budget')
    return {
      messages: [
        marked('UNIT_PRICE_ABOVE_LIMIT', 'attention', `${run} paused: ${priceInWords(end.priceAboveLimit)}`),
        ...parkedDetails('budget', parkedRows(end)),
      ],
      stopsFor: 'budget' as const,
    };
  const { code, words, reason } = pause;
  const head = marked(code, 'attention', `${run} paused: ${words}${reason === 'budget' ? limitsInWords(end) : ''}`);
  const details = reason === undefined ? [] : parkedDetails(reason, parkedRows(end));
  return { messages: [head, ...details], stopsFor: reason };
}

/** The limit that was reached. Lost calls count against both. */
const limitsInWords = ({ limits: { units, reports }, spent }: RunEndView): string => {
  const areUnits = units !== null && spent.units + spent.unknownInBudget >= units;
  const areReports = reports !== null && spent.reports + spent.unknownInBudget >= reports;
  const given = listed([
    units !== null && (areUnits || !areReports) && count(units, 'unit'),
    reports !== null && (areReports || !areUnits) && count(reports, 'credit report'),
  ]);
  return given === '' ? '' : ` (${given})`;
};

const stoppedInWords = (run: string, stop: NonNullable<RunEndView['stopped']>): Message =>
  marked(stop.code as MessageCode, 'failed', `${run} stopped: ${stopInWords({ code: stop.code })}`, causeLines(stop));

export const causeLines = ({ message: why, hint }: NonNullable<RunEndView['stopped']>): readonly string[] =>
  [why, ...(hint?.split('\n') ?? [])].map((line) => `  ${line}`);

const parkedRows = ({ parked, refusals, parkedUntil, putOff, spent }: RunEndView): ParkedRows => ({
  reasons: parked,
  refusals,
  until: parkedUntil,
  putOff,
  unknownInBudget: spent.unknownInBudget,
});

/** An attempt may be one of several on its run. */
function spentInWords(end: RunEndView): Message {
  const { unitsCharged, unknownCalls, spent, money, worked, parked } = end;
  const after = moneyAfterAmounts(money);
  const isNothing = spent.units + spent.reports === 0 && after === '';
  const nothing = end.v2Calls === 0 ? 'nothing' : count(end.v2Calls, 'v2 call');
  const now = isNothing ? nothing : `${amountsInWords(spent, ', ')}${after}`;
  const prices = isNothing && end.v2Calls > 0 ? ' (v2 publishes no prices)' : '';
  const whole = { units: unitsCharged, reports: end.reportsCharged };
  const isOnly = worked && whole.units === spent.units && whole.reports === spent.reports;
  // Earlier attempts sent the others, also those of runs whose rows this run took over.
  const unknown = `${count(unknownCalls, 'call')} with unknown charge`;
  const ofNow = spent.unknown === unknownCalls ? '' : `, ${withCommas(spent.unknown)} now`;
  // Rows on hold have a section with the same command.
  const command = parked.in_doubt === undefined ? ': kybatch charges' : '';
  return labelled(
    'UNITS_SPENT',
    'Spent',
    `${now}${isOnly ? '' : ' now'}${prices}`,
    !isOnly && `${amountsInWords(whole, ', ')} in the whole run`,
    unknownCalls > 0 && `${unknown}${ofNow}${command}`,
  );
}

function filesInWords(end: RunEndView, { write }: NextSteps): ViewPart {
  const state = isAllToDo(end) ? 'to do' : NOT_FINISHED.pending;
  const { workbook, tables, tablesBefore, latest, finished, outcomes, rows, toDo } = end;
  const isPartial = tables !== null && !finished && outcomes.pending > 0;
  return [
    workbook !== null && labelled('RESULTS_WRITTEN', 'Results', workbook),
    tables !== null &&
      (workbook === null
        ? labelled('TABLES_WRITTEN', 'Tables', tables)
        : labelled('TABLES_WRITTEN', '', 'tables in the same folder')),
    isPartial &&
      labelled('TABLES_PARTIAL', '', `partial: ${withCommas(outcomes.pending)} of ${count(rows, 'row')} ${state}`),
    tables !== null &&
      !finished &&
      toDo > outcomes.pending &&
      labelled(
        'TABLES_SHOW_BEFORE',
        '',
        `${count(toDo - outcomes.pending, 'row has its', 'rows have their')} earlier answers until updated`,
      ),
    tablesBefore !== null && labelled('TABLES_FROM_BEFORE', 'Tables', `${tablesBefore} (unchanged)`),
    latest !== null && labelled('TABLES_LATEST', 'Latest', latest),
    write !== undefined && labelled('TABLES_NOT_WRITTEN', 'Tables', `not written: ${shortCommand(write.command)}`),
  ];
}

function sections(
  end: RunEndView,
  reasons: RunEndView['parked'],
  ways: NextSteps,
  facts: AttemptFacts,
): readonly Message[] {
  const steps = [ways.next, ...ways.further].filter((step) => step !== undefined);
  const step = (code: MessageCode) => steps.find((one) => one.code === code);
  const resume = step('RESUME_NEXT') ?? step('RUN_NEXT');
  const retry = step('RETRY_NEXT');
  const review = step('REVIEW_NEXT') ?? step('REVIEW_APPLY_NEXT');
  return view(
    keptInWords(end.keptWorkbook, end.keptAnswers),
    lackInWords(end.tablesLack),
    parkedInWords({ ...parkedRows(end), reasons }),
    steps.filter(({ code }) => code === 'DOUBT_NEXT').map((one) => message(one.code, commandLine(one.command))),
    refusedInWords(end),
    end.waiting > 0 &&
      message(
        'REPORTS_AWAITED',
        `${count(end.waiting, 'row waits', 'rows wait')} for a credit report. The next attempt fetches it and buys nothing twice.`,
      ),
    end.helpers > 0 &&
      message(
        'WORKERS_UNDER_WAY',
        `${count(end.helpers, 'worker still has', 'workers still have')} calls in flight, which are not counted here.`,
      ),
    changesInWords(end),
    leftInWords(end),
    revealedInWords(end),
    movedInWords(end.moved),
    retry !== undefined && failedInWords(end, retry),
    // The command that continues is at the end if rows are left in any case.
    review !== undefined &&
      reviewInWords(end, review, resume === undefined ? ways : { ...ways, resume: undefined }, facts),
    invalidInWords(end.invalid, end.rows, end.input, ways.runAgain),
    end.invalid.length === 0 && steps.filter(({ code }) => code === 'PLAN_NEXT').map(suggestionInWords),
    steps.filter(({ code }) => code === 'DOCTOR_NEXT').map(suggestionInWords),
    resume !== undefined && [resumeInWords(end, resume), facts.fresh && !facts.goesOn && freshInWords(end.run)],
    ways.raised !== undefined &&
      end.rest !== null &&
      raisedInWords(end.toDo, { ...end.rest, priceAboveLimit: end.priceAboveLimit }, ways.raised),
  );
}

function failedInWords({ outcomes: { failed }, failures }: RunEndView, retry: Suggestion): Message {
  return marked(
    retry.code,
    'attention',
    `${count(failed, 'row')} failed. The table errors has the details. To try again:`,
    commandLine(retry.command),
    countLines(
      failures.map(({ code, count: rows, row, line }) => [
        rows,
        code,
        `${rows === 1 ? '' : 'first '}${rowInWords(row, line)}`,
      ]),
      4,
    ),
  );
}

/** A sheet with new answers comes first. Otherwise the new workbook has all questions. */
function reviewInWords(end: RunEndView, review: Suggestion, { resume }: NextSteps, { goesOn }: AttemptFacts): Message {
  const rows = end.outcomes.needs_review;
  const needs = `${count(rows, 'row needs', 'rows need')} review${goesOn ? newQuestions(end) : ''}.`;
  // A sheet that was exported since the tables were written comes before their workbook.
  const workbook = end.workbook ?? (/ review apply /.test(review.command) ? null : end.workbookBefore);
  if (workbook === null || hasNewAnswers(review))
    return marked(
      review.code,
      'attention',
      `${needs} ${review.words}:`,
      commandLine(review.command),
      / review apply /.test(review.command) && resume && commandLine(resume.command),
    );
  const { words, command } = suggestResults(workbook);
  return marked(
    review.code,
    'attention',
    `${needs} ${words}:`,
    commandLine(command),
    resume && commandLine(resume.command),
  );
}

/** After a review, an attempt may come upon further questions. A withdrawn answer is asked for again. */
function newQuestions({ left: { questions }, outcomes: { needs_review: all } }: RunEndView): string {
  if (questions === 0) return ', no new questions';
  return `, ${questions >= all ? 'all' : withCommas(questions)} new or asked again`;
}

/** The same limits again. All rows together may need more, which is for the user to allow. */
function resumeInWords({ rest, toDo, limits, parked, parkedUntil }: RunEndView, resume: Suggestion): Message {
  const isLimited = rest !== null && (limits.units !== null || limits.reports !== null);
  const isImpossible =
    rest !== null && ((limits.units === 0 && rest.units > 0) || (limits.reports === 0 && rest.reports > 0));
  const when =
    (parked.allowance ?? 0) > 0 ? ` ${renewedInWords(parkedUntil)}` : isLimited ? ' with the same limits again' : '';
  return block(
    resume.code,
    isImpossible && 'A limit of 0 never finishes the rows to do.',
    `Continue${when}:`,
    commandLine(resume.command),
    rest !== null && needInWords(toDo, rest),
  );
}

function changesInWords({ importantChanges, run }: RunEndView): ViewPart {
  return (
    (importantChanges ?? 0) > 0 &&
    marked(
      'IMPORTANT_CHANGES',
      'attention',
      `${count(importantChanges ?? 0, 'important change')} at companies of the list:`,
      commandLine(`kybatch changes --since ${shortRun(run)}`),
    )
  );
}

/** A file that lost its end looks like a list that became shorter. The names show which it is. */
function leftInWords({ arrived, departed, departedFirst }: RunEndView): ViewPart {
  const more = departed - departedFirst.length;
  const hasKeys = departedFirst.some(({ inputId }) => inputId !== null);
  return (
    departed > 0 &&
    block(
      'MEMBERS_LEFT',
      `${count(departed, 'company', 'companies')} left the list:`,
      departedFirst
        .map(leftToJson)
        .map(({ line, id, name }) =>
          shortened(`  ${name ?? 'no name'}${id === null ? '' : ` (id ${id})`}, line ${line} before`, 80),
        ),
      more > 0 && `  … and ${withCommas(more)} more (table members, column left_at)`,
      arrived >= departed && !hasKeys && '  A corrected row counts as left and new. A column `id` keeps it.',
    )
  );
}

/** One line for scripts that read a log. What is 0 is left out. */
export function endAsPairs(end: RunEndView, exit: number): Message {
  const { outcomes, spent } = end;
  const state = end.finished
    ? 'finished'
    : end.interrupted
      ? 'interrupted'
      : end.stopped === null
        ? 'paused'
        : 'stopped';
  const { pending: _, ...settled } = outcomes;
  const counts = {
    ...settled,
    to_do: end.toDo,
    units: spent.units,
    reports: spent.reports,
    unknown_calls: spent.unknown,
  };
  return message(
    'RUN_SUMMARY',
    listed(
      [
        'kybatch',
        `run=${end.run}`,
        `state=${state}`,
        `rows=${end.rows}`,
        ...Object.entries(counts).map(([name, number]) => number > 0 && `${name}=${number}`),
        `exit=${exit}`,
      ],
      ' ',
    ),
  );
}

export const endJson = (end: RunEndView, { next, further, write }: NextSteps) => ({
  ...pick(end, 'run', 'portfolio', 'rows', 'due', 'toDo'),
  membersLeft: end.departed,
  leftMembers: end.departed > 0 ? end.departedFirst.map(leftToJson) : undefined,
  watchAsked: end.watchAsked || undefined,
  outcomes: end.outcomes,
  invalidReasons: unlessEmpty(end.invalid.map(({ firstRows: _, ...reason }) => reason)),
  ...pick(end, 'stages', 'unitsCharged', 'unknownCalls'),
  thisStart: {
    unitsCharged: end.spent.units,
    creditReports: end.spent.reports,
    unknownCalls: end.spent.unknown,
    money: end.money,
  },
  reveals: revealsAnything(end.reveals) ? revealsJson(end) : undefined,
  v2Permissions: end.moved.map(movedJson),
  ...pick(end, 'waiting', 'parked'),
  parkedUntil: end.parkedUntil ?? undefined,
  priceAboveLimit: end.priceAboveLimit ?? undefined,
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
  filesLatest: end.latest ?? undefined,
  filesLack: end.tablesLack ?? undefined,
  export: write?.command,
  next: next?.command,
  further: unlessEmpty(further.map(({ command }) => command)),
});

const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

type Revealed = Pick<RunEndView, 'reveals' | 'contacts'>;

/** The contacts that this attempt revealed, and the provider's own count: others may share the account. */
function revealedInWords({ reveals, contacts }: Revealed): ViewPart {
  if (!revealsAnything(reveals)) return null;
  const counted =
    contacts !== null &&
    `  v2 counts ${told(contacts.emailCount)} e-mail addresses and ${told(contacts.phoneCount)} phone numbers from ${contacts.dateFrom} to ${contacts.dateTo}, of all users of the account.`;
  return block('CONTACTS_REVEALED', `This attempt asked for ${revealsInWords(reveals)}.`, counted);
}

const revealsJson = ({ reveals, contacts }: Revealed) => ({
  asked: reveals,
  counted: contacts && contactsJson(contacts),
});

export const lackInWords = (lack: ExportView['lack']): readonly Message[] =>
  view(
    lack !== null && [
      lack.answersNotExported > 0 &&
        marked(
          'ANSWERS_NOT_EXPORTED',
          'attention',
          `The tables lack ${count(lack.answersNotExported, 'stored answer')} that cannot be read.`,
          '  errors.csv names each (not_exported), and how to get it again.',
        ),
      lack.cellsNotExported > 0 &&
        marked(
          'CELLS_NOT_EXPORTED',
          'attention',
          `${count(lack.cellsNotExported, 'cell')} of the ledger ${lack.cellsNotExported === 1 ? 'is' : 'are'} damaged and empty in the tables.`,
          '  errors.csv names each (ROW_DAMAGED), and what to do.',
        ),
      lack.notWritten.map(({ table, format, reason }) =>
        marked(
          'TABLE_NOT_WRITTEN',
          'failed',
          `The table ${table} was not written as ${format}: ${sentence(reason)}`,
          '  The other files are there.',
        ),
      ),
    ],
  );

/** Tells where the edited workbook is, and how to apply answers that are not recorded yet. */
export const keptInWords = (kept: string | null, hasAnswers: boolean): ViewPart =>
  kept !== null && [
    marked('WORKBOOK_KEPT', 'attention', `The previous results.xlsx was edited. It is kept as`, `    ${kept}`),
    hasAnswers &&
      block(
        'REVIEW_APPLY_NEXT',
        '  To apply the answers in it:',
        commandLine(`kybatch review apply ${shellWord(kept)}`),
      ),
  ];
