// Answers to one question at a time, also while a run has the ledger.

import { ExitCode, KybatchError } from '../../domain/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { StageDependenciesOf, StageDependency } from '../../ledger/review/review.js';
import { isSamePerson } from '../../ledger/review/second-person.js';
import {
  AnswerInbox,
  entryProblem,
  type InboxEntry,
  type NotedAnswer,
  type RecordedEntries,
  type RecordedEntry,
  type RefusedAnswer,
  recordEntry,
  recordWaiting,
} from '../../review/answer-inbox.js';
import { questionId, questionsNamed } from '../../review/questions.js';
import { stages } from '../../stages/list.js';
import { configureStage } from '../../stages/stage.js';
import type { Clock } from '../../util/clock.js';
import { type Message, message } from '../../util/message-parts.js';
import { count } from '../../util/words.js';
import {
  type AppEnvironment,
  type DeciderOptions,
  dataDirOf,
  deciderName,
  ledgerOf,
  type PlaceOptions,
  processEnvironment,
  type Workplace,
  withLedger,
} from '../environment.js';
import { findSettings } from '../run/stored-settings.js';

export interface OneAnswerOptions
  extends DeciderOptions,
    Pick<NotedAnswer, 'question' | 'basis' | 'shown' | 'decision'>,
    Partial<Pick<NotedAnswer, 'candidate' | 'correctedNumber' | 'note'>> {}

/** The effect of an answer. With SQLite it is noted, and recorded when no other process has the ledger. */
export interface OneAnswerView {
  readonly state: 'noted' | 'refused' | NonNullable<RecordedEntry['state']>;
  readonly refusal: Message | null;
  /** When it was given. With the question and the person, it names the answer. */
  readonly given: number;
}

let answerBefore: Promise<unknown> = Promise.resolve();

/** Answers of two windows are taken in turn, so that the second one is refused. */
export function answerQuestion(
  options: OneAnswerOptions,
  environment: AppEnvironment = processEnvironment(),
): Promise<OneAnswerView> {
  const answer = answerBefore.then(() => takeAnswer(options, environment));
  answerBefore = answer.catch(() => {});
  return answer;
}

async function takeAnswer(options: OneAnswerOptions, environment: AppEnvironment): Promise<OneAnswerView> {
  const { question, basis, shown, decision, candidate = '', correctedNumber = '', note = '' } = options;
  const by = deciderName(options, environment);
  const said = { question, basis, shown: [...shown], decision, candidate, correctedNumber, note, by };
  const entry: NotedAnswer = { kind: 'answer', ...said, at: nextMoment(environment) };
  if (isServer(options, environment)) {
    const { refusal = null, state = 'in_force' } = await recordNow(entry, options, environment);
    return { state: refusal === null ? state : 'refused', refusal, given: entry.at };
  }
  const isNoted = waitingEntries(options, environment).some(
    (other) => other.kind === 'answer' && other.question === question && isSamePerson(other.by, by),
  );
  const problem = isNoted
    ? message('ANSWERED_ALREADY', 'You have answered this question already, perhaps in another tab.', 'failed')
    : await withLedger('read', options, environment, ({ review }) => entryProblem(entry, review));
  if (problem !== undefined) return { state: 'refused', refusal: problem, given: entry.at };
  await new AnswerInbox(dataDirOf(options, environment)).put(entry);
  return { state: 'noted', refusal: null, given: entry.at };
}

/** Takes back one's own answer. An answer that is not recorded yet is deleted. */
export async function undoAnswer(
  options: DeciderOptions & { readonly question: string; readonly given: number },
  environment: AppEnvironment = processEnvironment(),
): Promise<{ readonly refusal: Message | null }> {
  const { question, given } = options;
  const by = deciderName(options, environment);
  const entry: InboxEntry = { kind: 'undo', question, given, by, at: nextMoment(environment) };
  if (isServer(options, environment))
    return { refusal: (await recordNow(entry, options, environment)).refusal ?? null };
  const inbox = new AnswerInbox(dataDirOf(options, environment));
  if (!(await inbox.cancel({ question, by, at: given }))) await inbox.put(entry);
  return { refusal: null };
}

export interface OwnAnswer {
  readonly question: string;
  readonly given: number;
  /** The row and the decision. */
  readonly summary: string;
  readonly state: 'noted' | 'held' | 'in_force';
}

/** The person's own last answers that can be undone, the newest first. Those of a rule are undone together. */
export async function ownAnswers(
  options: DeciderOptions & { readonly limit?: number | undefined },
  environment: AppEnvironment = processEnvironment(),
): Promise<readonly OwnAnswer[]> {
  const by = deciderName(options, environment);
  const { limit: most = 5 } = options;
  const waiting = waitingEntries(options, environment);
  const isUndone = ({ question, given }: Pick<OwnAnswer, 'question' | 'given'>) =>
    waiting.some((entry) => entry.kind === 'undo' && entry.question === question && entry.given === given);
  const mine = waiting.flatMap((entry) => (entry.kind === 'answer' && isSamePerson(entry.by, by) ? [entry] : []));
  const { newest, names } = await withLedger('read', options, environment, async ({ review }) => {
    const questions = await questionsNamed(review, new Set(mine.slice(-most).map(({ question }) => question)));
    return {
      newest: await review.newestDecisions(LOOKED_AT),
      names: new Map(questions.map(({ id, input }) => [id, input.name])),
    };
  });
  const noted = mine.map(
    ({ question, at, decision, correctedNumber }): OwnAnswer => ({
      question,
      given: at,
      summary: `${names.get(question) ?? question} → ${correctedNumber === '' ? decision.replaceAll('_', ' ') : `number ${correctedNumber}`}`,
      state: 'noted',
    }),
  );
  const recorded = newest
    .filter(({ withdrawnAt, batch }) => withdrawnAt === null && batch === null)
    .filter(({ decidedBy, secondBy }) => isSamePerson(secondBy ?? decidedBy, by))
    .map(
      (entry): OwnAnswer => ({
        question: questionId(entry),
        given: entry.decidedAt,
        summary: entry.summary,
        state: entry.held ? 'held' : 'in_force',
      }),
    )
    .filter((one) => !noted.some(({ given, question }) => given === one.given && question === one.question));
  return [...noted, ...recorded]
    .filter((one) => !isUndone(one))
    .sort((a, b) => b.given - a.given)
    .slice(0, most);
}

/** Enough decisions to find the last ones of a person among those of colleagues. */
const LOOKED_AT = 200;

/** The answers and withdrawals that wait for the ledger. */
export const waitingEntries = (options: PlaceOptions, environment: AppEnvironment): readonly InboxEntry[] =>
  isServer(options, environment)
    ? []
    : new AnswerInbox(dataDirOf(options, environment)).waiting().flatMap(({ entry }) => entry ?? []);

/** The answers that could not be recorded and that no person has dismissed. */
export const refusedAnswers = (options: PlaceOptions, environment: AppEnvironment): readonly RefusedAnswer[] =>
  new AnswerInbox(dataDirOf(options, environment)).refused();

export const dismissRefusedAnswer = (options: PlaceOptions, file: string, environment: AppEnvironment): void =>
  new AnswerInbox(dataDirOf(options, environment)).dismiss(file);

/** Records the waiting answers. Null: another process has the ledger, and records them at its end. */
export async function recordNotedAnswers(
  options: PlaceOptions = {},
  environment: AppEnvironment = processEnvironment(),
): Promise<RecordedEntries | null> {
  if (waitingEntries(options, environment).length === 0) return { recorded: 0, refused: [], released: [] };
  try {
    return await withLedger('existing', options, environment, (_, workplace) => recordIn(workplace));
  } catch (error) {
    if (error instanceof KybatchError && error.exit === ExitCode.locked) return null;
    throw error;
  }
}

async function recordIn({ ledger, dataDir }: Workplace): Promise<RecordedEntries> {
  return await recordWaiting(new AnswerInbox(dataDir), ledger.review, await stageDependencies(ledger));
}

/** Records the answers that wait when the work begins, and those that came meanwhile. */
export async function withNotedAnswers<T>(
  options: PlaceOptions,
  workplace: Workplace,
  work: () => Promise<T>,
): Promise<T> {
  const { onNote } = workplace;
  const record = async () => {
    if (waitingEntries(options, workplace).length === 0) return;
    const { recorded, refused } = await recordIn(workplace);
    if (recorded > 0)
      onNote?.(message('ANSWERS_RECORDED', `${count(recorded, 'answer')} from the page recorded`, 'done'));
    for (const { entry, code, problem } of refused)
      onNote?.(
        message('ANSWER_REFUSED', `an answer from the page was refused (${code}): ${entry?.question ?? ''} ${problem}`),
      );
  };
  await record();
  const result = await work();
  await record();
  return result;
}

async function recordNow(
  entry: InboxEntry,
  options: PlaceOptions,
  environment: AppEnvironment,
): Promise<RecordedEntry> {
  return await withLedger('existing', options, environment, async (ledger) =>
    recordEntry(entry, ledger.review, await stageDependencies(ledger)),
  );
}

export const isServer = (options: PlaceOptions, environment: AppEnvironment): boolean =>
  ledgerOf(options, environment).ledgerUrl !== undefined;

/** The dependencies between all stages for each run: results of another pipeline are in a row's run too. */
export async function stageDependencies({ runs }: Pick<Ledger, 'runs'>): Promise<StageDependenciesOf> {
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

const lastMoments = new WeakMap<Clock, number>();

/** No two answers of this process have the same time, which names them. */
function nextMoment({ clock }: AppEnvironment): number {
  const moment = Math.max(clock.now(), (lastMoments.get(clock) ?? 0) + 1);
  lastMoments.set(clock, moment);
  return moment;
}
