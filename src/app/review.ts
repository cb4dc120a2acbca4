import { UsageError } from '../domain/errors.js';
import type { Ledger } from '../ledger/ledger.js';
import type { DecisionEntry, RowRef } from '../ledger/review.js';
import { applySheet } from '../review/apply.js';
import type { Refusal } from '../review/check-line.js';
import type { Screen } from '../review/fit-screen.js';
import type { Keys } from '../review/keys.js';
import { loadSheet } from '../review/load-sheet.js';
import type { Question } from '../review/questions.js';
import { saveSheet } from '../review/save-sheet.js';
import { runSession } from '../review/session.js';
import { delimiterNamed } from '../sheets/delimiter.js';
import { askedQuestions, type WhichQuestions } from './asked-questions.js';
import { type DeciderOptions, decider } from './decider.js';
import { fileTarget } from './file-target.js';
import { groundsOfRuns } from './grounds.js';
import { REVIEW_SHEET, type ReviewSheets } from './next-step.js';
import { type ReleasedRun, releasedRuns } from './released-runs.js';
import { sheetsFor } from './review-sheet.js';
import { filesOf } from './stored-settings.js';
import { here, type PlaceOptions, pathIn, withLedger } from './surroundings.js';

export interface QuestionsOptions extends PlaceOptions, WhichQuestions {}

/** The open questions with their candidates. */
export function listQuestions(options: QuestionsOptions = {}, around = here()): Promise<readonly Question[]> {
  return withLedger('read', options, around, (ledger) => askedQuestions(options, ledger, around));
}

/** Which sheets ask them already, and where another can be written. */
export function reviewSheets(options: QuestionsOptions = {}, around = here()): Promise<ReviewSheets> {
  return withLedger('read', options, around, (ledger) => sheetsFor(options, ledger, around));
}

export interface ExportQuestionsOptions extends QuestionsOptions {
  /** Where the sheet goes; `review.csv` without it. */
  readonly out?: string | undefined;
  /** Overwrite a file that is there, and may hold decisions. */
  readonly force?: boolean | undefined;
  /** Between the cells of a CSV: a character, or its name; a comma without it. */
  readonly delimiter?: string | undefined;
}

/** Writes the open questions for a spreadsheet: as a workbook where the file is named `.xlsx`, else as CSV. */
export function exportQuestions(
  options: ExportQuestionsOptions = {},
  around = here(),
): Promise<{ readonly file: string; readonly questions: number }> {
  return withLedger('read', options, around, async (ledger, dataDir) => {
    const questions = await askedQuestions(options, ledger, around);
    const reads = (await ledger.runs.all()).flatMap(filesOf);
    const file = fileTarget(options.out ?? REVIEW_SHEET, dataDir, around, reads);
    const { force: overwrite = false, delimiter } = options;
    await saveSheet(file, questions, {
      overwrite,
      delimiter: delimiter === undefined ? undefined : delimiterNamed(delimiter),
    });
    return { file, questions: questions.length };
  });
}

export interface AppliedView {
  /** Decisions written down now. */
  readonly applied: number;
  /** Those of them that say `not_sure`: their questions stay open. */
  readonly notSure: number;
  /** Those of them that wait for a second person; and of these, against whom somebody else has said otherwise. */
  readonly held: number;
  readonly disagreeing: number;
  /** Those of them whose question has candidates by now that the sheet does not show. */
  readonly unseen: number;
  /** Those of them that answer what another pipeline has asked than the one that was run last: they count with that. */
  readonly later: number;
  /** What was decided already; of several people who say the same of one question, each counts. */
  readonly unchanged: number;
  /** Lines without a decision. */
  readonly blank: number;
  readonly refused: readonly Refusal[];
  readonly released: readonly ReleasedRun[];
}

/** Reads decisions back from a sheet, however a spreadsheet saved it. Applying one again changes nothing. */
export async function applyAnswers(
  options: DeciderOptions & { readonly file: string /** Of a workbook. */; readonly sheet?: string | undefined },
  around = here(),
): Promise<AppliedView> {
  const lines = await loadSheet(pathIn(around, options.file), options.sheet);
  return await withLedger('existing', options, around, async (ledger) => {
    const [by, isNamed] = [decider(options, around), options.by !== undefined];
    const applied = await applySheet(lines, ledger.review, by, around.clock.now(), isNamed);
    return { ...applied, released: await releasedRuns(applied.released, ledger) };
  });
}

/** What was decided, by whom and when; the newest first, withdrawn ones too. */
export function decisions(options: PlaceOptions = {}, around = here()): Promise<readonly DecisionEntry[]> {
  return withLedger('read', options, around, ({ review }) => review.decisions());
}

/** Takes back all that was decided by one rule at once, as far as it is still in force, or held. */
export function withdrawBatch(
  options: DeciderOptions & { readonly batch: string },
  around = here(),
): Promise<WithdrawnBatchView> {
  const { batch } = options;
  return withLedger('existing', options, around, async (ledger) => {
    const all = (await ledger.review.decisions()).filter((entry) => [entry.batch, entry.firstBatch].includes(batch));
    const standing = all.filter(({ withdrawnAt }) => withdrawnAt === null);
    if (standing.length === 0)
      throw new UsageError(
        all.length === 0
          ? `there is no batch ${batch}`
          : `all ${all.length} decisions of batch ${batch} are withdrawn already`,
        '`kybatch review decisions` lists them, each with its batch in brackets.',
      );
    const groundsOf = await groundsOfRuns(ledger);
    const [by, now] = [decider(options, around), around.clock.now()];
    const rows = await Promise.all(standing.map(({ id }) => ledger.review.withdraw(id, by, now, groundsOf)));
    const resting = await restingRows(
      rows.flatMap((each) => each ?? []),
      ledger,
    );
    return { batch, decisions: standing.map(({ id }) => id), ...resting };
  });
}

/** Rows that rested on what was withdrawn. */
export interface RestingView {
  readonly rows: number;
  /** Those of them that wait for an answer again, as they did before. */
  readonly asking: number;
  /** The runs of the others, which are looked at anew. */
  readonly released: readonly ReleasedRun[];
}

async function restingRows(rows: readonly RowRef[], ledger: Ledger): Promise<RestingView> {
  const found = await Promise.all(rows.map(async (at) => ({ at, row: await ledger.runs.row(at.runId, at.row) })));
  const goesOn = found.filter(({ row }) => row?.outcome !== 'needs_review').map(({ at }) => at);
  return {
    rows: rows.length,
    asking: rows.length - goesOn.length,
    released: await releasedRuns(goesOn, ledger),
  };
}

export interface WithdrawnBatchView extends RestingView {
  readonly batch: string;
  readonly decisions: readonly number[];
}

/** Takes a decision back; rows that rest on it are decided again. */
export function withdrawDecision(
  options: DeciderOptions & { readonly id: number },
  around = here(),
): Promise<RestingView & { readonly id: number }> {
  const { id } = options;
  return withLedger('existing', options, around, async (ledger) => {
    const groundsOf = await groundsOfRuns(ledger);
    const rows = await ledger.review.withdraw(id, decider(options, around), around.clock.now(), groundsOf);
    if (rows === undefined)
      throw new UsageError(
        `there is no decision ${id} in force, or held for a second person`,
        '`kybatch review decisions` lists them.',
      );
    return { id, ...(await restingRows(rows, ledger)) };
  });
}

export interface AnswerOptions extends DeciderOptions, WhichQuestions {
  /** One key at a time; the end of it ends the session. Not asked for where there is no question. */
  readonly keys: () => Keys;
  readonly print: (text: string) => void;
  /** The terminal, as large as it is now: no more candidates are shown at a time than it holds. */
  readonly screen?: (() => Screen) | undefined;
}

export interface AnsweredView {
  readonly by: string;
  readonly decided: number;
  /** Questions that wait for a second person now. */
  readonly held: number;
  /** Questions that stay open because the person said so. */
  readonly notSure: number;
  readonly left: number;
  /** It was ended by Ctrl-C. */
  readonly interrupted: boolean;
  readonly released: readonly ReleasedRun[];
}

/** One question at a time, with a person at the keys. Each answer is on disk before the next question. */
export function answerQuestions(options: AnswerOptions, around = here()): Promise<AnsweredView> {
  return withLedger('existing', options, around, async (ledger) => {
    const questions = await askedQuestions(options, ledger, around);
    const by = decider(options, around);
    const { released, ...end } = await runSession({
      questions,
      keys: questions.length === 0 ? NO_KEYS : options.keys(),
      print: options.print,
      screen: options.screen,
      review: ledger.review,
      by,
      now: () => around.clock.now(),
      groundsOf: await groundsOfRuns(ledger),
    });
    return { by, ...end, released: await releasedRuns(released, ledger) };
  });
}

const NO_KEYS: Keys = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
  drop: async () => {},
};
