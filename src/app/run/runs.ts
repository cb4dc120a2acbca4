import { basename } from 'node:path';
import { pipelineNames } from '../../config/user-files.js';
import { UsageError } from '../../domain/errors.js';
import type { ListOfTables } from '../../export/latest-tables.js';
import type { Ledger } from '../../ledger/ledger.js';
import { hasLedger } from '../../ledger/open-ledger.js';
import type { Progress, RunRecord } from '../../ledger/rows/runs.js';
import { didYouMean, firstFew } from '../../util/message-parts.js';
import { pick } from '../../util/view-json.js';
import { ledgerOf, type PlaceOptions, processEnvironment, withLedger } from '../environment.js';
import { type RunCondition, runProgress, standingOfRun, WRITING_MS } from './progress.js';
import { isFreshIfReadable } from './stored-settings.js';

export function runs(options: PlaceOptions = {}, environment = processEnvironment()): Promise<readonly RunStanding[]> {
  return withLedger('read', options, environment, async (ledger) =>
    Promise.all((await ledger.runs.all()).map((run) => standingOf(run, ledger, environment.clock.now()))),
  );
}

/** Only a run that may be at work needs a look at its attempts. */
async function standingOf(run: RunRecord, ledger: Ledger, now: number): Promise<RunStanding> {
  const { state, finishedAt } = run;
  const isPast = state === 'superseded' || (state === 'finished' && now - (finishedAt ?? 0) > WRITING_MS);
  const { progress, condition } = isPast
    ? { progress: await runProgress(run, ledger, now), condition: state }
    : await standingOfRun(run, ledger, now);
  return { run: viewOf(run), progress, condition };
}

export interface RunView
  extends Pick<RunRecord, 'id' | 'state' | 'inputPath' | 'pipelineName' | 'rowCount' | 'createdAt' | 'finishedAt'> {
  /** Answers from before the run are not used. */
  readonly fresh: boolean;
  /** It updates a portfolio: its rows continue in later runs. */
  readonly isOfPortfolio: boolean;
}

export interface RunStanding {
  readonly run: RunView;
  readonly progress: Progress;
  readonly condition: RunCondition;
}

export function viewOf(run: RunRecord): RunView {
  return {
    ...pick(run, 'id', 'state', 'inputPath', 'pipelineName', 'rowCount', 'createdAt', 'finishedAt'),
    fresh: isFreshIfReadable(run),
    isOfPortfolio: run.portfolioId !== null,
  };
}

type Runs = Pick<Ledger, 'runs' | 'reading'>;

export async function findRun(id: string | undefined, ledger: Runs): Promise<RunRecord> {
  const run = id === undefined ? await newestRun(ledger) : await namedRun(id, ledger);
  if (run === undefined) throw noRunYet();
  return run;
}

/** Finds a run by its ID or by a unique part: its beginning, its end, or the beginning of the part after the date. */
export async function namedRun(id: string, { runs }: Pick<Ledger, 'runs'>): Promise<RunRecord> {
  const run = await runs.find(id);
  if (run !== undefined) return run;
  const known = await runs.all();
  const fitting = id === '' ? [] : known.filter((other) => isPartOf(other.id, id));
  const [only, ...others] = fitting;
  if (only !== undefined && others.length === 0) return only;
  const ids = (of: readonly RunRecord[]) => of.map((other) => other.id);
  if (only !== undefined)
    throw new UsageError(
      'RUN_AMBIGUOUS',
      `${id} fits ${fitting.length} runs: ${firstFew(ids(fitting), (one) => one, 'runs').join(', ')}`,
      'Give more characters of the ID.',
    );
  throw new UsageError(
    'RUN_NOT_FOUND',
    `there is no run ${id}.${didYouMean(id, ids(known))}`,
    'List the runs: `kybatch runs`',
  );
}

const isPartOf = (id: string, part: string): boolean =>
  id.startsWith(part) || id.endsWith(part) || id.slice(id.lastIndexOf('-') + 1).startsWith(part);

/** A run whose every attempt was refused, perhaps for a mistyped base URL, does not hide an older one. */
export async function newestRun(
  { runs, reading }: Runs,
  fits: (run: RunRecord) => Promise<boolean> = async () => true,
): Promise<RunRecord | undefined> {
  let refused: RunRecord | undefined;
  for (const run of await runs.all()) {
    if (!(await fits(run))) continue;
    if (run.state !== 'open' || (await reading.lastAttempt(run.id)) !== undefined) return run;
    refused ??= run;
  }
  return refused;
}

export const noRunYet = () =>
  new UsageError(
    'NO_RUN_YET',
    'there is no run yet',
    '`kybatch run FILE` starts one. To try kybatch: `kybatch sandbox sample && kybatch run sample.csv --sandbox`',
  );

export interface DropRunOptions extends PlaceOptions {
  readonly run: string;
  /** Called with the run and its progress. Without it, no confirmation is asked. */
  readonly agree?: ((standing: Omit<DropRunView, 'dropped'>) => Promise<boolean>) | undefined;
}

export interface DropRunView extends RunStanding {
  readonly dropped: boolean;
  /** Companies that leave the portfolio with it. The next run of the list takes them in again. */
  readonly dueAgain: number;
}

/** Only the progress of its rows is lost: answers, spending, tables and log stay. */
export function dropRun(
  { run: id, agree, ...place }: DropRunOptions,
  environment = processEnvironment(),
): Promise<DropRunView> {
  return withLedger('existing', place, environment, async (ledger) => {
    const run = await namedRun(id, ledger);
    const standing = {
      ...(await standingOf(run, ledger, environment.clock.now())),
      dueAgain: await ledger.portfolios.membersUsing(run.id),
    };
    const dropped = agree === undefined || (await agree(standing));
    if (dropped) await ledger.housekeeping.dropRun(run.id);
    return { ...standing, dropped };
  });
}

/** The portfolio of a run, to find its tables. Undefined if it has none. */
export async function listOfTables(
  { portfolioId }: Pick<RunRecord, 'portfolioId'>,
  { runs, portfolios }: Pick<Ledger, 'runs' | 'portfolios'>,
): Promise<ListOfTables | undefined> {
  const list = (await portfolios.all()).find(({ id }) => id === portfolioId);
  return list && { id: list.id, name: list.name, listOfRun: await runs.ofLists() };
}

/** Names that shell completion offers. */
export interface NamesInLedger {
  /** The newest first. */
  readonly runs: readonly { readonly id: string; readonly input: string }[];
  readonly portfolios: readonly string[];
}

/** The names in a ledger. Nothing is written. Without a ledger the lists are empty. */
export async function namesInLedger(
  options: PlaceOptions = {},
  environment = processEnvironment(),
): Promise<NamesInLedger> {
  if (!(await hasLedger(ledgerOf(options, environment)))) return { runs: [], portfolios: [] };
  return await withLedger('read', options, environment, async (ledger) => ({
    runs: (await ledger.runs.all()).map(({ id, inputPath }) => ({ id, input: basename(inputPath) })),
    portfolios: [...new Set((await ledger.portfolios.all()).map(({ name }) => name))],
  }));
}

/** The names that `--pipeline` accepts beside a file path. */
export const namesOfPipelines = ({ cwd } = processEnvironment()): readonly string[] => pipelineNames(cwd);
