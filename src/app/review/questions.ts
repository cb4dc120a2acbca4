import { existsSync } from 'node:fs';
import { stagesOf } from '../../config/pipeline.js';
import { UsageError } from '../../domain/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { KnownRows } from '../../ledger/review/review.js';
import { checkSheet } from '../../review/apply.js';
import { facetsOf, matchesFilter, type QuestionFilter } from '../../review/filter.js';
import {
  openQuestions,
  type Question,
  type QuestionSummary,
  questionsAbout,
  summarizeOpenQuestions,
  withDecisions,
} from '../../review/questions.js';
import type { SheetLine } from '../../review/read-sheet.js';
import { isNewAnswer, outdatedSheetCheck, repeatedLineCheck } from '../../review/record-answer.js';
import { type Message, message } from '../../util/message-parts.js';
import { type AppEnvironment, dataDirOf, keptUntilCommit, type PlaceOptions, pathIn } from '../environment.js';
import { portfoliosNamed } from '../portfolio/open-list.js';
import { type ContinueStep, type QuestionScope, REVIEW_SHEET, type ReviewSheets } from '../run/next-step.js';
import { namedRun } from '../run/runs.js';
import { findSettings } from '../run/stored-settings.js';

/** Which open questions. Default: all. */
export interface QuestionSelection extends QuestionScope {
  readonly filter?: QuestionFilter | undefined;
  /** Only the first ones. */
  readonly limit?: number | undefined;
}

export async function selectQuestions(
  { filter = {}, limit, ...asking }: QuestionSelection & PlaceOptions,
  ledger: QuestionsLedger,
  environment: AppEnvironment,
): Promise<readonly Question[]> {
  const isSome = limit !== undefined || Object.values(filter).some((part) => part !== undefined);
  if (!isSome) {
    const runs = await runsOfQuestions(asking, ledger, environment);
    return await withAskingPipelines(await openQuestions(ledger.review, runs), ledger);
  }
  const meant = await selectSummaries({ filter, limit, ...asking }, ledger, environment);
  return await withAskingPipelines(await questionsAbout(ledger.review, meant), ledger);
}

export async function selectSummaries(
  { filter = {}, limit, ...asking }: QuestionSelection & PlaceOptions,
  ledger: QuestionsLedger,
  environment: AppEnvironment,
): Promise<readonly QuestionSummary[]> {
  const open = await readSummaries(asking, ledger, environment);
  const meant = open.filter((question) => matchesFilter(question, filter)).slice(0, limit);
  if (meant.length === 0 && open.length > 0) environment.onNote?.(noneMeant(open));
  return meant;
}

export async function readSummaries(
  options: QuestionScope & PlaceOptions,
  ledger: QuestionsLedger,
  environment: AppEnvironment,
): Promise<readonly QuestionSummary[]> {
  const runs = await runsOfQuestions(options, ledger, environment);
  const dataDir = dataDirOf(options, environment);
  return await keptUntilCommit(['questions', runs ?? null], ledger, dataDir, async () =>
    withDecisions(await openInOrder(runs, ledger, dataDir), ledger.review),
  );
}

/** The open questions of some runs, or of all, without their decisions. */
export function openInOrder(runs: readonly string[] | undefined, ledger: QuestionsLedger, dataDir: string) {
  const key = JSON.stringify([dataDir, runs]);
  const known = knownRows.get(key) ?? { places: '', byPlace: new Map(), list: [] };
  if (knownRows.size >= KNOWN_LISTS) knownRows.clear();
  knownRows.set(key, known);
  return keptUntilCommit(['open', runs ?? null], ledger, dataDir, () =>
    summarizeOpenQuestions(ledger.review, runs, known),
  );
}

/** The rows that wait, by place and runs, so that a commit costs only the rows that it changed. */
const knownRows = new Map<string, KnownRows>();
const KNOWN_LISTS = 4;

/** Lists the existing reasons, so that a mistyped one is noticed. */
function noneMeant(open: readonly QuestionSummary[]): Message {
  const reasons = facetsOf(open).reason.map(({ value, questions }) => `${value} (${questions})`);
  return message(
    'QUESTIONS_OF_OTHER_KIND',
    `no question fits. The reasons of the ${open.length} open ${open.length === 1 ? 'question' : 'questions'}: ${reasons.join(', ')}`,
  );
}

/** For questions that the last pipeline did not ask, names the newest pipeline of their list that does. */
export async function withAskingPipelines(
  questions: readonly Question[],
  { runs }: Pick<QuestionsLedger, 'runs'>,
): Promise<readonly Question[]> {
  if (!questions.some(({ beside }) => beside)) return questions;
  const newestFirst = (await runs.all()).toSorted((a, b) => b.createdAt - a.createdAt);
  const askedBy = ({ rows, space, stage }: Question): string | undefined => {
    const list = newestFirst.find(({ id }) => id === rows[0]?.runId)?.portfolioId;
    for (const run of newestFirst.filter(({ portfolioId }) => portfolioId !== null && portfolioId === list)) {
      const pipeline = findSettings(run)?.pipeline;
      const asks = (one: { readonly name: string; readonly space: string }) =>
        stage === null ? one.space === space : one.name === stage;
      if (pipeline !== undefined && stagesOf(pipeline).some(asks)) return run.pipelineName;
    }
    return undefined;
  };
  return questions.map((question) => (question.beside ? { ...question, askedBy: askedBy(question) } : question));
}

export type QuestionsLedger = Pick<Ledger, 'runs' | 'portfolios' | 'review'>;

/** The runs whose questions are meant. The newest run of a list counts all its rows. Undefined: all. */
export async function runsOfQuestions(
  { run, portfolio }: QuestionScope,
  { runs, portfolios }: QuestionsLedger,
  environment: AppEnvironment,
): Promise<readonly string[] | undefined> {
  if (run !== undefined && portfolio !== undefined)
    throw new UsageError('QUESTIONS_SCOPE_TWICE', 'a run and --portfolio exclude each other', 'Leave one of them out.');
  const named = run === undefined ? undefined : await namedRun(run, { runs });
  const ofNewest = named?.portfolioId != null && (await portfolios.lastRun(named.portfolioId))?.id === named.id;
  if (named !== undefined && !ofNewest) return [named.id];
  if (named === undefined && portfolio === undefined) return undefined;
  const lists =
    portfolio === undefined
      ? [named?.portfolioId]
      : portfoliosNamed(portfolio, await portfolios.all(), environment).map(({ id }) => id);
  const ofLists = (await runs.all()).filter(({ portfolioId }) => portfolioId !== null && lists.includes(portfolioId));
  return ofLists.map(({ id }) => id);
}

/** The usual name of a review workbook. */
const REVIEW_WORKBOOK = 'review.xlsx';

/** A suggested export must not overwrite a sheet that a person may be filling in. */
export async function withReviewSheets<Step extends ContinueStep>(
  steps: readonly Step[],
  ledger: QuestionsLedger,
  environment: AppEnvironment,
): Promise<readonly Step[]> {
  if (![REVIEW_SHEET, REVIEW_WORKBOOK].some((name) => existsSync(pathIn(environment, name)))) return steps;
  return await Promise.all(
    steps.map(async (step) =>
      step.kind === 'review' ? { ...step, sheets: await findReviewSheets(step, ledger, environment) } : step,
    ),
  );
}

/** Whether a sheet answers an open question in a way that is not recorded yet. */
export async function hasUnrecordedAnswers(file: string, review: Ledger['review']): Promise<boolean> {
  const { loadSheet } = await import('../../review/read-sheet.js');
  const lines = await loadSheet(file).catch(() => []);
  const open = new Map((await openQuestions(review)).map((question) => [question.id, question]));
  return lines.some((line) => isNewAnswer(line, open.get(line.question)));
}

/** Lines that `review apply` would refuse, whoever applies them. */
async function refusedLineCheck(
  lines: readonly SheetLine[],
  { review }: QuestionsLedger,
): Promise<(line: SheetLine) => boolean> {
  const { refused } = await checkSheet(lines, review, '', true);
  const numbers = new Set(refused.flatMap(({ line, code }) => (code === 'NAME_FILLED_IN' ? [] : line)));
  return ({ line }) => numbers.has(line);
}

export async function findReviewSheets(
  asking: QuestionScope,
  ledger: QuestionsLedger,
  environment: AppEnvironment,
): Promise<ReviewSheets> {
  const runs = await runsOfQuestions(asking, ledger, environment);
  const open = new Map((await openQuestions(ledger.review, runs)).map((question) => [question.id, question]));
  const unasked = new Set(open.keys());
  // Applying such a line unchanged would repeat a decision that was just withdrawn.
  const isWithdrawn = repeatedLineCheck(
    (await ledger.review.decisions()).filter(({ withdrawnAt }) => withdrawnAt !== null),
  );
  const isOutdated = await outdatedSheetCheck(ledger.review);
  const found: Pick<ReviewSheets, 'asks' | 'answered'>[] = [];
  // Loaded on demand: most folders have no sheet, and reading one loads the spreadsheet code.
  const { loadSheet } = await import('../../review/read-sheet.js');
  const look = async (name: string) => {
    // A file that is no review sheet has no questions.
    const lines = await loadSheet(pathIn(environment, name)).catch(() => []);
    if (lines.some((line) => open.has(line.question) && isWithdrawn(line))) return;
    const asked = lines.filter((line) => open.has(line.question));
    const isRefused = await refusedLineCheck(lines, ledger);
    const answered = asked
      .filter((line) => isNewAnswer(line, open.get(line.question)) && !isRefused(line))
      .map(({ question }) => question);
    if (answered.length === 0 && isOutdated(lines)) return;
    if (asked.length > 0) found.push({ asks: name, answered: new Set(answered).size });
    for (const { question } of asked) unasked.delete(question);
  };
  if (existsSync(pathIn(environment, REVIEW_WORKBOOK))) await look(REVIEW_WORKBOOK);
  for (const name of sheetNames(asking.run === undefined ? undefined : runs?.[0])) {
    if (!existsSync(pathIn(environment, name))) {
      const sheet = found.find(({ answered }) => answered > 0) ?? found[0] ?? { asks: null, answered: 0 };
      const openInAll = runs === undefined ? open.size : (await openQuestions(ledger.review)).length;
      return { open: open.size, openInAll, ...sheet, missing: unasked.size, free: name };
    }
    await look(name);
  }
  throw new Error('there is always another name');
}

function* sheetNames(run: string | undefined): Generator<string> {
  yield REVIEW_SHEET;
  const other = `review-${run ?? 'open'}`;
  yield `${other}.csv`;
  for (let number = 2; ; number += 1) yield `${other}-${number}.csv`;
}
