// The review commands: list, export, apply, decide by rule, withdraw.

import { createHash } from 'node:crypto';
import { UsageError } from '../../domain/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { DecisionEntry, Recorded, RowRef } from '../../ledger/review/review.js';
import { type Applied, applySheet } from '../../review/apply.js';
import { applyRule, type LeftOut, type Rule } from '../../review/bulk-answer.js';
import {
  choiceKey,
  openQuestions,
  type Question,
  type QuestionSummary,
  questionId,
  questionsAbout,
} from '../../review/questions.js';
import { loadSheet } from '../../review/read-sheet.js';
import { recordAnswer } from '../../review/record-answer.js';
import { runSession, type SessionEnd } from '../../review/session.js';
import type { Keys, Screen } from '../../review/terminal.js';
import { saveSheet } from '../../review/write-sheet.js';
import { delimiterNamed } from '../../sheets/csv/records.js';
import {
  type DeciderOptions,
  deciderName,
  type PlaceOptions,
  pathIn,
  processEnvironment,
  type Workplace,
  withLedger,
} from '../environment.js';
import { fileTarget } from '../output-paths.js';
import { REVIEW_SHEET, type ReviewSheets } from '../run/next-step.js';
import { type ReleasedRun, releasedRuns } from '../run/progress.js';
import { filesOf } from '../run/stored-settings.js';
import { stageDependencies, withNotedAnswers } from './answer-question.js';
import { findReviewSheets, type QuestionSelection, selectQuestions, selectSummaries } from './questions.js';

export interface QuestionsOptions extends PlaceOptions, QuestionSelection {}

export function listQuestions(
  options: QuestionsOptions = {},
  environment = processEnvironment(),
): Promise<readonly Question[]> {
  return withLedger('read', options, environment, (ledger) => selectQuestions(options, ledger, environment));
}

/** The sheets that already contain the questions, and a free file name. */
export function reviewSheets(
  options: QuestionsOptions = {},
  environment = processEnvironment(),
): Promise<ReviewSheets> {
  return withLedger('read', options, environment, (ledger) => findReviewSheets(options, ledger, environment));
}

export interface ExportQuestionsOptions extends QuestionsOptions {
  /** The file of the sheet. Default: `review.csv`. */
  readonly out?: string | undefined;
  /** Overwrites an existing file, which may hold decisions. */
  readonly force?: boolean | undefined;
  /** The separator of a CSV: a character or its name. Default: a comma. */
  readonly delimiter?: string | undefined;
}

export interface WrittenSheet {
  readonly file: string;
  readonly questions: number;
  /** The open questions of all runs. */
  readonly open: number;
}

/** Writes the open questions for a spreadsheet: a workbook if the name ends with `.xlsx`, else CSV. */
export function exportQuestions(
  options: ExportQuestionsOptions = {},
  environment = processEnvironment(),
): Promise<WrittenSheet> {
  return withLedger('read', options, environment, async (ledger, { dataDir }) => {
    const questions = await selectQuestions(options, ledger, environment);
    const reads = (await ledger.runs.all()).flatMap(filesOf);
    const file = fileTarget(options.out ?? REVIEW_SHEET, dataDir, environment, reads);
    const { force: overwrite = false, delimiter } = options;
    await saveSheet(file, questions, {
      overwrite,
      delimiter: delimiter === undefined ? undefined : delimiterNamed(delimiter),
    });
    return { file, questions: questions.length, open: (await openQuestions(ledger.review)).length };
  });
}

export interface AppliedView extends Omit<Applied, 'released'> {
  readonly released: readonly ReleasedRun[];
}

/** Reads decisions from a sheet in any form a spreadsheet saves. Applying a sheet twice changes nothing. */
export async function applyAnswers(
  options: DeciderOptions & { readonly file: string /** Of a workbook. */; readonly sheet?: string | undefined },
  environment = processEnvironment(),
): Promise<AppliedView> {
  const lines = await loadSheet(pathIn(environment, options.file), options.sheet);
  return await withLedger('existing', options, environment, async (ledger) => {
    const [by, isNamed] = [deciderName(options, environment), options.by !== undefined];
    const applied = await applySheet(lines, ledger.review, by, environment.clock.now(), isNamed);
    return { ...applied, released: await releasedRuns(applied.released, ledger) };
  });
}

export function decisions(
  options: PlaceOptions = {},
  environment = processEnvironment(),
): Promise<readonly DecisionEntry[]> {
  return withLedger('read', options, environment, ({ review }) => review.decisions());
}

/** Withdraws all decisions of one rule that are in force or wait for a second person. */
export function withdrawBatch(
  options: DeciderOptions & { readonly batch: string },
  environment = processEnvironment(),
): Promise<WithdrawnBatchView> {
  const { batch } = options;
  return withLedger('existing', options, environment, async (ledger, workplace) => {
    const all = (await ledger.review.decisions()).filter((entry) => [entry.batch, entry.firstBatch].includes(batch));
    const standing = all.filter(({ withdrawnAt }) => withdrawnAt === null);
    if (standing.length === 0)
      throw new UsageError(
        'BATCH_NOT_FOUND',
        all.length === 0
          ? `there is no batch ${batch}`
          : `all ${all.length} decisions of batch ${batch} are already withdrawn`,
        'List decisions and batches: `kybatch review decisions`',
      );
    const ids = standing.map(({ id }) => id);
    const rows = await withdraw(ids, options, workplace);
    return { batch, decisions: ids, ...(await restingRows(rows.flat(), ledger)) };
  });
}

/** Its rows for each decision. An unknown or withdrawn decision has no entry. */
async function withdraw(
  ids: readonly number[],
  options: DeciderOptions,
  workplace: Workplace,
): Promise<readonly (readonly RowRef[])[]> {
  const { ledger, clock } = workplace;
  const [groundsOf, by] = [await stageDependencies(ledger), deciderName(options, workplace)];
  const rows = await Promise.all(ids.map((id) => ledger.review.withdraw(id, by, clock.now(), groundsOf)));
  return rows.filter((each) => each !== undefined);
}

/** Rows that depended on a withdrawn decision. */
export interface WithdrawnRowsView {
  readonly rows: number;
  /** Of these, rows that need review again. */
  readonly asking: number;
  /** The runs of the other rows, which are processed again. */
  readonly released: readonly ReleasedRun[];
}

async function restingRows(rows: readonly RowRef[], ledger: Ledger): Promise<WithdrawnRowsView> {
  const found = await Promise.all(rows.map(async (at) => ({ at, row: await ledger.runs.row(at.runId, at.row) })));
  const goesOn = found.filter(({ row }) => row?.outcome !== 'needs_review').map(({ at }) => at);
  return {
    rows: rows.length,
    asking: rows.length - goesOn.length,
    released: await releasedRuns(goesOn, ledger),
  };
}

export interface WithdrawnBatchView extends WithdrawnRowsView {
  readonly batch: string;
  readonly decisions: readonly number[];
}

/** Withdraws a decision. Rows that depend on it are decided again. */
export function withdrawDecision(
  options: DeciderOptions & { readonly id: number },
  environment = processEnvironment(),
): Promise<WithdrawnRowsView & { readonly id: number }> {
  const { id } = options;
  return withLedger('existing', options, environment, async (ledger, workplace) => {
    const [rows] = await withdraw([id], options, workplace);
    if (rows === undefined)
      throw new UsageError(
        'DECISION_NOT_FOUND',
        `there is no decision ${id}, or it is already withdrawn`,
        'List the decisions: `kybatch review decisions`',
      );
    return { id, ...(await restingRows(rows, ledger)) };
  });
}

export interface AnswerOptions extends DeciderOptions, QuestionSelection {
  /** One key at a time. The end of the keys ends the session. Not called if there is no question. */
  readonly keys: () => Keys;
  readonly print: (text: string) => void;
  readonly screen?: (() => Screen) | undefined;
  /** Breaks lines between words. */
  readonly wrap?: ((text: string, columns: number) => string) | undefined;
}

export interface AnsweredView extends Omit<SessionEnd, 'released'> {
  readonly by: string;
  readonly released: readonly ReleasedRun[];
}

/** Asks one question at a time on the terminal. Each answer is on disk before the next question. */
export function answerQuestions(options: AnswerOptions, environment = processEnvironment()): Promise<AnsweredView> {
  return withLedger('existing', options, environment, async (ledger, workplace) => {
    const by = deciderName(options, environment);
    const groundsOf = await stageDependencies(ledger);
    const { released, ...end } = await withNotedAnswers(options, workplace, async () => {
      const questions = await selectQuestions(options, ledger, environment);
      return await runSession({
        questions,
        keys: questions.length === 0 ? NO_KEYS : options.keys(),
        print: options.print,
        screen: options.screen,
        wrap: options.wrap,
        review: ledger.review,
        by,
        now: () => environment.clock.now(),
        groundsOf,
      });
    });
    return { by, ...end, released: await releasedRuns(released, ledger) };
  });
}

const NO_KEYS: Keys = {
  [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }),
  drop: async () => {},
};

/** The answers that a rule would give, and the questions it leaves out. */
export interface RuleProposal<Asked extends QuestionSummary = Question> {
  readonly by: string;
  readonly answers: readonly RuleAnswer<Asked>[];
  readonly leftOut: ReadonlyMap<LeftOut, number>;
}

export interface RuleAnswer<Asked extends QuestionSummary = Question> {
  readonly question: Asked;
  /** The confirmed company. Undefined: none of the candidates. */
  readonly choice: Asked['candidates'][number] | undefined;
}

/** Those of a rule may be thousands, so only the first are read as a person sees them. */
export interface RulePreview extends Omit<RuleProposal, 'answers'> {
  /** Null: none of the candidates. */
  readonly answers: readonly { readonly question: string; readonly candidate: string | null }[];
  readonly shown: RuleProposal['answers'];
}

export interface RuleOptions extends DeciderOptions, QuestionSelection {
  readonly rule: Rule;
  /** The rule in words, noted with each decision. */
  readonly note: string;
  /** Called once before anything is written. */
  readonly agree: (proposal: RuleProposal) => Promise<boolean>;
}

export interface RuleView extends RuleProposal {
  readonly outcome: 'answered' | 'not_agreed' | 'nothing_fits';
  /** The name of this group of decisions, to withdraw them together. */
  readonly batch: string | null;
  readonly decided: number;
  /** Decisions that wait for a second person. */
  readonly held: number;
  readonly released: readonly ReleasedRun[];
}

/** Answers all questions that fit a rule: one decision each, with the rule as its note. */
export function answerByRule(options: RuleOptions, environment = processEnvironment()): Promise<RuleView> {
  return withLedger('existing', options, environment, async (ledger) => {
    const by = deciderName(options, environment);
    const proposal = propose(await selectQuestions(options, ledger, environment), options.rule, by);
    const nothing = { ...proposal, batch: null, decided: 0, held: 0, released: [] };
    if (proposal.answers.length === 0) return { ...nothing, outcome: 'nothing_fits' };
    if (!(await options.agree(proposal))) return { ...nothing, outcome: 'not_agreed' };
    const now = environment.clock.now();
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

/** The answers that a rule would give. Nothing is written, and a run may have the ledger. */
export function previewRule(
  { rule, shown, ...options }: Omit<RuleOptions, 'agree' | 'note'> & { readonly shown: number },
  environment = processEnvironment(),
): Promise<RulePreview> {
  return withLedger('read', options, environment, async (ledger) => {
    const by = deciderName(options, environment);
    const { answers, leftOut } = propose(await selectSummaries(options, ledger, environment), rule, by);
    const first = answers.slice(0, shown).map(({ question }) => question);
    const named = answers.map(({ question, choice }) => ({
      question: questionId(question),
      candidate: choice === undefined ? null : choiceKey(choice.id),
    }));
    return {
      by,
      answers: named,
      leftOut,
      shown: propose(await questionsAbout(ledger.review, first), rule, by).answers,
    };
  });
}

function propose<Asked extends QuestionSummary>(
  questions: readonly Asked[],
  rule: Rule,
  by: string,
): RuleProposal<Asked> {
  const answers: RuleAnswer<Asked>[] = [];
  const leftOut = new Map<LeftOut, number>();
  for (const question of questions) {
    const ruling = applyRule(question, rule, by);
    if (ruling.kind === 'answers') answers.push({ question, choice: ruling.choice });
    else leftOut.set(ruling.why, (leftOut.get(ruling.why) ?? 0) + 1);
  }
  return { by, answers, leftOut };
}

/** `R-…`: no spreadsheet reads it as a number, and no two batches have the same. */
function nameOf({ by, answers }: RuleProposal, note: string, now: number): string {
  const said = JSON.stringify([by, note, now, answers.map(({ question }) => question.id)]);
  return `R-${createHash('sha256').update(said).digest('hex').slice(0, 8)}`;
}
