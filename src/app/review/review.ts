import { createHash } from 'node:crypto';
import { UsageError } from '../../domain/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { DecisionEntry, Recorded, RowRef } from '../../ledger/review/review.js';
import type { StageDependenciesOf, StageDependency } from '../../ledger/review/withdrawal-effects.js';
import { applySheet, type Refusal } from '../../review/apply.js';
import type { Choice, Question } from '../../review/questions.js';
import { loadSheet } from '../../review/read-sheet.js';
import { recordAnswer } from '../../review/record-answer.js';
import { applyRule, type LeftOut, type Rule } from '../../review/rule.js';
import { runSession } from '../../review/session.js';
import type { Keys, Screen } from '../../review/terminal.js';
import { saveSheet } from '../../review/write-sheet.js';
import { delimiterNamed } from '../../sheets/csv/scan-record.js';
import { stages } from '../../stages/list.js';
import { configureStage } from '../../stages/stage.js';
import {
  type DeciderOptions,
  deciderName,
  type PlaceOptions,
  pathIn,
  processEnvironment,
  withLedger,
} from '../environment.js';
import { fileTarget } from '../output-paths.js';
import { REVIEW_SHEET, type ReviewSheets } from '../run/next-step.js';
import { type ReleasedRun, releasedRuns } from '../run/progress.js';
import { filesOf, findSettings } from '../run/stored-settings.js';
import { findReviewSheets, type QuestionSelection, selectQuestions } from './questions.js';

export interface QuestionsOptions extends PlaceOptions, QuestionSelection {}

/** The open questions with their candidates. */
export function listQuestions(
  options: QuestionsOptions = {},
  around = processEnvironment(),
): Promise<readonly Question[]> {
  return withLedger('read', options, around, (ledger) => selectQuestions(options, ledger, around));
}

/** Which sheets ask them already, and where another can be written. */
export function reviewSheets(options: QuestionsOptions = {}, around = processEnvironment()): Promise<ReviewSheets> {
  return withLedger('read', options, around, (ledger) => findReviewSheets(options, ledger, around));
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
  around = processEnvironment(),
): Promise<{ readonly file: string; readonly questions: number }> {
  return withLedger('read', options, around, async (ledger, dataDir) => {
    const questions = await selectQuestions(options, ledger, around);
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
  around = processEnvironment(),
): Promise<AppliedView> {
  const lines = await loadSheet(pathIn(around, options.file), options.sheet);
  return await withLedger('existing', options, around, async (ledger) => {
    const [by, isNamed] = [deciderName(options, around), options.by !== undefined];
    const applied = await applySheet(lines, ledger.review, by, around.clock.now(), isNamed);
    return { ...applied, released: await releasedRuns(applied.released, ledger) };
  });
}

/** What was decided, by whom and when; the newest first, withdrawn ones too. */
export function decisions(
  options: PlaceOptions = {},
  around = processEnvironment(),
): Promise<readonly DecisionEntry[]> {
  return withLedger('read', options, around, ({ review }) => review.decisions());
}

/** Takes back all that was decided by one rule at once, as far as it is still in force, or held. */
export function withdrawBatch(
  options: DeciderOptions & { readonly batch: string },
  around = processEnvironment(),
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
    const groundsOf = await stageDependencies(ledger);
    const [by, now] = [deciderName(options, around), around.clock.now()];
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
  around = processEnvironment(),
): Promise<RestingView & { readonly id: number }> {
  const { id } = options;
  return withLedger('existing', options, around, async (ledger) => {
    const groundsOf = await stageDependencies(ledger);
    const rows = await ledger.review.withdraw(id, deciderName(options, around), around.clock.now(), groundsOf);
    if (rows === undefined)
      throw new UsageError(
        `there is no decision ${id} in force, or held for a second person`,
        '`kybatch review decisions` lists them.',
      );
    return { id, ...(await restingRows(rows, ledger)) };
  });
}

export interface AnswerOptions extends DeciderOptions, QuestionSelection {
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
export function answerQuestions(options: AnswerOptions, around = processEnvironment()): Promise<AnsweredView> {
  return withLedger('existing', options, around, async (ledger) => {
    const questions = await selectQuestions(options, ledger, around);
    const by = deciderName(options, around);
    const { released, ...end } = await runSession({
      questions,
      keys: questions.length === 0 ? NO_KEYS : options.keys(),
      print: options.print,
      screen: options.screen,
      review: ledger.review,
      by,
      now: () => around.clock.now(),
      groundsOf: await stageDependencies(ledger),
    });
    return { by, ...end, released: await releasedRuns(released, ledger) };
  });
}

const NO_KEYS: Keys = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
  drop: async () => {},
};

/** What rests on what in each run, with every stage: what another pipeline has settled for a row is in its run, too. */
async function stageDependencies({ runs }: Pick<Ledger, 'runs'>): Promise<StageDependenciesOf> {
  const pipelines = new Map((await runs.all()).map((run) => [run.id, findSettings(run)?.pipeline]));
  return (runId) => {
    const { options, idsShared = [] } = pipelines.get(runId) ?? {};
    const asTold = (stage: (typeof stages)[number]): StageDependency => {
      const { name, space, finds = [], additional = false } = configureStage(stage, options?.[stage.name]);
      return { name, space, finds, additional };
    };
    return { stages: stages.map(asTold), idsShared };
  };
}

/** What a rule would answer, and what it leaves to people who look at each. */
export interface RuleProposal {
  readonly by: string;
  readonly answers: readonly RuleAnswer[];
  readonly leftOut: ReadonlyMap<LeftOut, number>;
}

export interface RuleAnswer {
  readonly question: Question;
  /** Who is confirmed; undefined: nobody is meant. */
  readonly choice: Choice | undefined;
}

export interface RuleOptions extends DeciderOptions, QuestionSelection {
  readonly rule: Rule;
  /** The rule in words: it is noted with each decision. */
  readonly note: string;
  /** Asked once, before anything is written. */
  readonly agree: (proposal: RuleProposal) => Promise<boolean>;
}

export interface RuleView extends RuleProposal {
  readonly outcome: 'answered' | 'not_agreed' | 'nothing_fits';
  /** All that was said now, by this name: so it can be taken back at once. */
  readonly batch: string | null;
  readonly decided: number;
  /** Those that wait for a second person. */
  readonly held: number;
  readonly released: readonly ReleasedRun[];
}

/** One answer to all questions that fit a rule: one decision each, with the rule as its note. */
export function answerByRule(options: RuleOptions, around = processEnvironment()): Promise<RuleView> {
  return withLedger('existing', options, around, async (ledger) => {
    const by = deciderName(options, around);
    const proposal = propose(await selectQuestions(options, ledger, around), options.rule, by);
    const nothing = { ...proposal, batch: null, decided: 0, held: 0, released: [] };
    if (proposal.answers.length === 0) return { ...nothing, outcome: 'nothing_fits' };
    if (!(await options.agree(proposal))) return { ...nothing, outcome: 'not_agreed' };
    const now = around.clock.now();
    const { note, rule } = options;
    const batch = nameOf(proposal, note, now);
    const recorded: readonly Recorded[] = await Promise.all(
      proposal.answers.map(({ question, choice }) =>
        recordAnswer(ledger.review, question, { verdict: rule.verdict, choice, by, note, batch }, now),
      ),
    );
    const held = recorded.filter(({ kind }) => kind === 'held').length;
    const rows = recorded.flatMap(({ released }) => released);
    const released = await releasedRuns(rows, ledger);
    return { ...proposal, outcome: 'answered', batch, decided: recorded.length - held, held, released };
  });
}

function propose(questions: readonly Question[], rule: Rule, by: string): RuleProposal {
  const answers: RuleAnswer[] = [];
  const leftOut = new Map<LeftOut, number>();
  for (const question of questions) {
    const ruling = applyRule(question, rule, by);
    if (ruling.kind === 'answers') answers.push({ question, choice: ruling.choice });
    else leftOut.set(ruling.why, (leftOut.get(ruling.why) ?? 0) + 1);
  }
  return { by, answers, leftOut };
}

/** `R-…`: no spreadsheet takes it for a number, and no two batches have the same. */
function nameOf({ by, answers }: RuleProposal, note: string, now: number): string {
  const said = JSON.stringify([by, note, now, answers.map(({ question }) => question.id)]);
  return `R-${createHash('sha256').update(said).digest('hex').slice(0, 8)}`;
}
