// `resume` and `retry`: continue an existing run.

import { type LoadedPipeline, loadPipeline } from '../../config/pipeline.js';
import type { Notify } from '../../config/pipeline-schema.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { RunStore } from '../../ledger/rows/run-store.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { message } from '../../util/message-parts.js';
import {
  type AppEnvironment,
  pathIn,
  pricesOf,
  processEnvironment,
  RUN_WAITS_MS,
  type Workplace,
  withLedger,
} from '../environment.js';
import { MetricsFile } from '../monitoring/metrics.js';
import { type NotifyRequest, notifyAtEnd } from '../monitoring/notify.js';
import { providersKey } from '../portfolio/open-list.js';
import { permissionReader } from '../provider/permissions.js';
import {
  checkProvider,
  isSandboxName,
  type ProviderNames,
  type ProviderOptions,
  providerNames,
  required,
  urlVariable,
  withProvider,
} from '../provider/provider.js';
import { mustKnowNames } from '../provider/vocabularies.js';
import { withNotedAnswers } from '../review/answer-question.js';
import { executeRun, viewOfNothingToDo, waitForLeader } from './execute-run.js';
import { checkTables } from './export.js';
import { checkNewLedger, type GuardFinding, mustHaveSpace, mustNameGuards, refuseOrAsk } from './guards.js';
import { ContinueError } from './next-step.js';
import { checkKeyAccess } from './preflight.js';
import { hasSameLimits } from './progress.js';
import type { RunEndView } from './run-end.js';
import { namedRun, newestRun } from './runs.js';
import {
  boundsOf,
  DeclinedError,
  remainingCost,
  type SpendingForecast,
  type SpendingOptions,
  type StartedEvent,
  spendingForecast,
} from './spending.js';
import { readSettings, rereadStep } from './stored-settings.js';

export interface ContinueOptions extends SpendingOptions {
  /** Default: the newest run that fits. */
  readonly run?: string | undefined;
  /** Called before anything is spent, if it is given. The run itself was agreed to before. */
  readonly agree?: ((proposal: ContinueProposal) => Promise<boolean>) | undefined;
}

export interface ContinueProposal
  extends SpendingForecast,
    Pick<StartedEvent, 'run' | 'inDoubt' | 'fresh' | 'hasSameLimits'> {
  readonly rows: number;
  /** Guard findings that would refuse the attempt if no person could be asked. */
  readonly findings: readonly GuardFinding[];
}

interface ContinueMode {
  /** Which run to take if none is named. */
  readonly fits: (run: RunRecord, runs: RunStore) => Promise<boolean>;
  readonly none: () => UsageError;
  /** The present outcome of the rows to work on. */
  readonly outcome: 'pending' | 'failed';
  readonly rows: (run: RunRecord, runs: RunStore) => Promise<number>;
  /** Makes those rows ready to work on. Returns their numbers, or undefined for all rows that can move. */
  readonly release: (run: RunRecord, runs: RunStore) => Promise<readonly number[] | undefined>;
}

/** Continues a run with its stored pipeline. Limits and concurrency are those of this attempt. */
const continueRun = (how: ContinueMode, options: ContinueOptions, environment: AppEnvironment): Promise<RunEndView> =>
  notifyAtEnd(options, environment, (toBeTold) => continueAttempt(how, options, environment, toBeTold));

async function continueAttempt(
  how: ContinueMode,
  options: ContinueOptions,
  environment: AppEnvironment,
  toBeTold: (whom: NotifyRequest) => void,
): Promise<RunEndView> {
  mustNameGuards(options);
  mustHaveSpace(options, environment);
  const proceed = async (ledger: Ledger, workplace: Workplace): Promise<RunEndView> => {
    const { runs } = ledger;
    const { dataDir } = workplace;
    const chosen = await chosenRun(options.run, how, ledger);
    const ofRun = { isMeant: ({ id }: RunRecord) => id === chosen.id, called: 'this run' };
    if ((await how.rows(chosen, runs)) > 0) await waitForLeader(ofRun, options, workplace);
    // The previous leader may have finished it meanwhile.
    const run = (await runs.find(chosen.id)) ?? chosen;
    if (run.state === 'reading') throw partlyReadError(run);
    if (run.state === 'superseded') throw supersededError(run);
    const { pipeline, fresh, notifies = false } = readSettings(run);
    const notify = notifies ? notifyNow(pipeline, environment) : null;
    toBeTold({ notify, input: run.inputPath, of: { run: run.id } });
    const metrics = MetricsFile.of(pipeline, run.inputPath, dataDir, environment);
    const names = providerNames(options, environment);
    const refused = async (error: unknown): Promise<never> => {
      await metrics?.writeUnlessFollowed(ledger, names);
      throw error;
    };
    await mustBeSameProvider(run, names, options, ledger).catch(refused);
    const list = (await ledger.portfolios.all()).find(({ id }) => id === run.portfolioId);
    if (list !== undefined) await ledger.portfolios.correctProviders(list.name, providersKey(names));
    const bounds = boundsOf(options, pipeline);
    const rows = await how.rows(run, runs);
    if (rows === 0) return await viewOfNothingToDo(run, options, workplace);
    const place = { dataDir, out: options.out && pathIn(environment, options.out) };
    const findings = refuseOrAsk(await checkNewLedger(place, names, ledger), options, environment);
    if (options.export !== false) await checkTables(options, run.id, dataDir, environment);
    return await withProvider(
      options,
      environment,
      async (provider) => {
        checkProvider(pipeline, provider);
        await mustKnowNames(pipeline, KEEPS_ITS_PIPELINE, provider, options, workplace);
        const rest = await remainingCost(run, pipeline, how.outcome, workplace, provider.names);
        const proposal: ContinueProposal = {
          run: run.id,
          rows: rows - rest.held,
          inDoubt: rest.held,
          ...spendingForecast(rest, bounds.limits, pipeline, pricesOf(pipeline, environment)),
          hasSameLimits: await hasSameLimits(run.id, options, ledger),
          fresh,
          findings,
        };
        if (options.agree !== undefined && !(await options.agree(proposal))) throw new DeclinedError();
        // The guard `new_ledger` has let the attempt pass.
        ledger.acceptLoss();
        const permissions = permissionReader(pipeline, provider, options.drain);
        const asked = { ...bounds, run, pipeline, rest, options, permissions };
        const checks = await checkKeyAccess(asked, provider, workplace);
        const only = await how.release(run, runs);
        return await executeRun({ ...asked, goesOn: true, only, checks, metrics }, provider, workplace);
      },
      { deadlineMs: pipeline.deadlineMs, keepSandbox: true },
    ).catch(refused);
  };
  return await withLedger('existing', { ...options, waitMs: RUN_WAITS_MS }, environment, (ledger, workplace) =>
    withNotedAnswers(options, workplace, () => proceed(ledger, workplace)),
  );
}

const KEEPS_ITS_PIPELINE = 'A run keeps its pipeline. Correct the file, then run the list again with `kybatch run`.';

/** The ledger does not store the recipients. They are read from the pipeline file as it is now. */
function notifyNow({ file }: LoadedPipeline, environment: AppEnvironment): Notify | null {
  try {
    return loadPipeline(file, environment.cwd).notify;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    environment.onNote?.(
      message(
        'PIPELINE_FILE_GONE',
        `kybatch sends no notification at the end of this attempt: the pipeline file ${file} cannot be read`,
      ),
    );
    return null;
  }
}

async function chosenRun(id: string | undefined, how: ContinueMode, ledger: Ledger): Promise<RunRecord> {
  if (id !== undefined) return await namedRun(id, ledger);
  const newest = await newestRun(ledger, (run) => how.fits(run, ledger.runs));
  if (newest === undefined) throw how.none();
  return newest;
}

/** A later run has taken over the unfinished rows, or they have left the list. */
function supersededError(run: RunRecord): ContinueError {
  const message = `run ${run.id} was superseded by ${run.supersededBy}, which took over its rows to do. Nothing was spent`;
  return new ContinueError(message, rereadStep(run), { code: 'RUN_SUPERSEDED', exit: ExitCode.usage });
}

function partlyReadError(run: RunRecord): ContinueError {
  const message = `run ${run.id} was stopped while kybatch read its list. Nothing was spent`;
  const hint = `If the list has changed, delete this run: \`kybatch runs delete ${run.id}\``;
  return new ContinueError(message, rereadStep(run), { code: 'RUN_HALF_READ', hint, exit: ExitCode.usage });
}

/** A sandbox run must not continue with a real account, nor a real run with the sandbox. */
async function mustBeSameProvider(
  run: RunRecord,
  names: ProviderNames,
  { sandbox }: ProviderOptions,
  { runs }: Ledger,
): Promise<void> {
  for (const api of ['v1', 'v2'] as const) {
    const used = await runs.environmentName(run.id, api);
    if (used === undefined || used === names[api]) continue;
    const wasSandbox = isSandboxName(used);
    const made = `run ${run.id} was made with ${wasSandbox ? 'the sandbox' : used}`;
    if (wasSandbox) throw new UsageError('OTHER_PROVIDER', made, 'Add --sandbox.');
    if (sandbox) throw new UsageError('OTHER_PROVIDER', `${made}, not with the sandbox`, 'Leave out --sandbox.');
    const here = required(
      names[api] || null,
      api,
      `as they were when ${made}. kybatch reads .env in the working folder`,
    );
    throw new UsageError(
      'OTHER_PROVIDER',
      `${made}, not with ${here}`,
      [
        `If the address is a typo, set ${urlVariable(api)} to ${used}.`,
        `If the provider has moved: \`kybatch ledger provider-moved --from ${used} --to ${here}\``,
        `If the run's address was a typo, delete the run. Everything bought stays: \`kybatch runs delete ${run.id}\``,
      ].join('\n'),
    );
  }
}

/** Continues an unfinished run. Stored answers are not paid for again. */
export const resume = (
  options: ContinueOptions = {},
  environment: AppEnvironment = processEnvironment(),
): Promise<RunEndView> => continueRun(pendingRows, options, environment);

const pendingRows: ContinueMode = {
  fits: async (run) => run.state === 'open',
  none: () => new UsageError('NO_UNFINISHED_RUN', 'there is no unfinished run', 'List the runs: `kybatch runs`'),
  outcome: 'pending',
  rows: async (run, runs) => (await runs.progress(run.id)).byOutcome.pending,
  release: async () => undefined,
};

/** Tries only the failed rows of a run again. Stored answers are not paid for again. */
export const retry = (
  options: ContinueOptions = {},
  environment: AppEnvironment = processEnvironment(),
): Promise<RunEndView> => continueRun(failedRows, options, environment);

const failedRows: ContinueMode = {
  fits: async (run, runs) => run.state !== 'reading' && (await runs.wanted('failed', run.id)) > 0,
  none: () => new UsageError('NO_FAILED_ROWS', 'no run has failed rows', 'List the runs: `kybatch runs`'),
  outcome: 'failed',
  // Rows that wait, are parked or not yet begun are left to `resume`.
  rows: ({ id }, runs) => runs.wanted('failed', id),
  release: ({ id }, runs) => runs.releaseFailed(id),
};
