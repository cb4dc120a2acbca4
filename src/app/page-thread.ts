// Long work of the page in a thread, so that other requests do not wait for it.

import { once } from 'node:events';
import { statSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { KybatchError } from '../domain/errors.js';
import { systemClock } from '../util/clock.js';
import { message } from '../util/message-parts.js';
import { pick } from '../util/view-json.js';
import { type AppEnvironment, forgetKept, type PlaceOptions, pathIn } from './environment.js';
import type { portfolios } from './portfolio/portfolios.js';
import { isServer, type recordNotedAnswers, waitingEntries } from './review/answer-question.js';
import type { JobOptions } from './run/plan.js';
import type { previewOrTable } from './run/preview.js';

interface Works {
  readonly portfolios: typeof portfolios;
  readonly previewOrTable: typeof previewOrTable;
  readonly recordNotedAnswers: typeof recordNotedAnswers;
}

/** Loaded on demand: to read lists, a command loads much that others do without. */
const WORKS: { readonly [Name in keyof Works]: () => Promise<Works[Name]> } = {
  portfolios: async () => (await import('./portfolio/portfolios.js')).portfolios,
  previewOrTable: async () => (await import('./run/preview.js')).previewOrTable,
  recordNotedAnswers: async () => (await import('./review/answer-question.js')).recordNotedAnswers,
};

interface Job {
  readonly name: keyof Works;
  readonly options: object;
  readonly cwd: string;
  readonly env: AppEnvironment['env'];
}

/** A thread brings an error back without its class. */
type Outcome =
  | { readonly result: unknown }
  | { readonly refusal: Pick<KybatchError, 'code' | 'hint' | 'exit' | 'message'> };

const underWay = new Map<string, Promise<unknown>>();

/** The same work for several requests is done once. */
export function doneOnce<T>(key: string, start: () => Promise<T>): Promise<T> {
  const work = (underWay.get(key) as Promise<T> | undefined) ?? start().finally(() => underWay.delete(key));
  underWay.set(key, work);
  return work;
}

export function inThread<Name extends keyof Works>(
  name: Name,
  options: Parameters<Works[Name]>[0] & object,
  { cwd, env }: AppEnvironment,
): ReturnType<Works[Name]> {
  const key = JSON.stringify([name, options, cwd]);
  return doneOnce(key, () => start({ name, options, cwd, env })) as ReturnType<Works[Name]>;
}

/** A list of this size is planned in less time than a thread needs to begin. */
const SHORT_BYTES = 50_000;

export async function previewForPage(options: JobOptions, environment: AppEnvironment) {
  const { size = 0 } = statSync(pathIn(environment, options.input), { throwIfNoEntry: false }) ?? {};
  if (size > SHORT_BYTES) return await inThread('previewOrTable', options, environment);
  return await (await WORKS.previewOrTable())(options, environment);
}

/** Records answers a moment after the last one: opening a large ledger takes a second, and questions would wait. */
export async function recordWhileOpen(
  options: PlaceOptions,
  environment: AppEnvironment,
  signal: AbortSignal,
): Promise<void> {
  if (isServer(options, environment)) return;
  while (!signal.aborted) {
    const times = waitingEntries(options, environment).map(({ at }) => at);
    const now = environment.clock.now();
    if (times.length > 0 && (now - Math.max(...times) >= QUIET_MS || now - Math.min(...times) >= LONGEST_MS))
      await inThread('recordNotedAnswers', options, environment)
        .catch((error: unknown) =>
          environment.onNote?.(message('ANSWERS_WAIT', `answers are not recorded yet: ${String(error)}`)),
        )
        .finally(forgetKept);
    await environment.clock.sleep(LOOK_MS, signal).catch(() => {});
  }
}

const LOOK_MS = 1_000;
const QUIET_MS = 2_000;
const LONGEST_MS = 15_000;

async function start(job: Job): Promise<unknown> {
  const worker = new Worker(new URL('./page-thread.js', import.meta.url), { workerData: { pageJob: job } });
  worker.unref();
  const ended = once(worker, 'exit').then(([exit]): never => {
    throw new Error(`a thread of the page ended with exit code ${exit} and no result`);
  });
  const [outcome] = (await Promise.race([once(worker, 'message'), ended])) as [Outcome];
  if ('result' in outcome) return outcome.result;
  throw new KybatchError(outcome.refusal.message, outcome.refusal);
}

async function work({ name, options, cwd, env }: Job): Promise<Outcome> {
  try {
    const run = (await WORKS[name]()) as (options: object, environment: AppEnvironment) => Promise<unknown>;
    return { result: await run(options, { cwd, env, clock: systemClock }) };
  } catch (error) {
    if (!(error instanceof KybatchError)) throw error;
    return { refusal: pick(error, 'code', 'hint', 'exit', 'message') };
  }
}

const { pageJob } = (workerData ?? {}) as { readonly pageJob?: Job };
// Not awaited here: in the bundle, the work loads files that import this one, and would wait for its end.
if (!isMainThread && pageJob !== undefined) void work(pageJob).then((outcome) => parentPort?.postMessage(outcome));
