import { join } from 'node:path';
import { type AppEnvironment, withLedger } from '../../src/app/environment.js';
import { sourcesOf, withProvider } from '../../src/app/provider/provider.js';
import { type LoadedPipeline, loadPipeline } from '../../src/config/pipeline.js';
import { KybatchError } from '../../src/domain/errors.js';
import { type RunEnd, workOnRun } from '../../src/engine/run.js';
import { readInput } from '../../src/input/read-input.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { type Clock, systemClock } from '../../src/util/clock.js';
import type { Message } from '../../src/util/message-parts.js';
import { lineOf, wholeCompanies, writeInput } from '../engine/support.js';
import { environmentFor, withFolder } from '../helpers/cli.js';
import { ledgerEnvironment } from '../helpers/ledger-place.js';
import { openRun } from '../helpers/open-run.js';
import { type BenchOptions, withSandbox } from '../helpers/sandbox.js';

export interface Office {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** Data directory `data` in the folder, the keys of the sandbox, the given clock. */
  readonly environment: AppEnvironment;
  /** Companies for which every stage has an answer. */
  companies(count: number): readonly Company[];
  /** A run of these companies, executed until nothing moves. */
  run(companies: readonly Company[], stages?: readonly string[]): Promise<RunEnd & { readonly id: string }>;
  /** The ledger between two use cases, as another process sees it. */
  ledger<T>(use: (ledger: Ledger) => Promise<T>): Promise<T>;
}

/** A real sandbox, a folder for a real ledger, and the environment of a use case. */
export async function withOffice<T>(options: BenchOptions, use: (office: Office) => Promise<T>): Promise<T> {
  const clock: Clock = options.clock ?? systemClock;
  return await withFolder((folder) =>
    withSandbox({ reportDelayMs: 0, ...options }, async ({ sandbox }) => {
      const env = { ...environmentFor(sandbox), ...(await ledgerEnvironment(join(folder, 'data'))) };
      const environment: AppEnvironment = { env, cwd: folder, clock };
      return await use({
        sandbox,
        folder,
        environment: environment,
        companies: (count) => wholeCompanies(sandbox, count),
        run: (companies, stages = ['record']) => work(companies, stages, environment),
        ledger: (look) => withLedger('write', {}, environment, look),
      });
    }),
  );
}

async function work(companies: readonly Company[], stages: readonly string[], environment: AppEnvironment) {
  const path = join(environment.cwd, 'input.csv');
  const lines = companies.map((company) => lineOf(company));
  writeInput(path, lines);
  const pipeline: LoadedPipeline = { ...loadPipeline('analyst', process.cwd()), stages };
  return await withProvider({}, environment, (provider) =>
    withLedger('write', {}, environment, async (ledger) => {
      const providers = [provider.names.v1, provider.names.v2];
      const settings = { pipeline, fresh: false, limit: null, providers };
      const run = await openRun(await readInput(path), settings, ledger, environment.clock);
      const end = await workOnRun({
        run,
        pipeline,
        budgetUnits: null,
        budgetReports: null,
        concurrency: 4,
        fresh: false,
        sources: sourcesOf(provider),
        ledger,
        clock: environment.clock,
        drain: new AbortController().signal,
        abort: new AbortController().signal,
      });
      return { ...end, id: run.id };
    }),
  );
}

/** The error that refuses a use case. */
export async function refusal(promise: Promise<unknown>): Promise<KybatchError> {
  const reason = await promise.then(
    () => new Error('expected a refusal'),
    (error: unknown) => error,
  );
  if (!(reason instanceof KybatchError)) throw reason;
  return reason;
}

/** The codes of messages, in their order. */
export const codesOf = (messages: readonly Message[]): readonly string[] => messages.map(({ code }) => code);
