// Notifies a program or a webhook when an attempt ends.

import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import type { Notify, NotifyTarget } from '../../config/pipeline-schema.js';
import { KybatchError } from '../../domain/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { Clock } from '../../util/clock.js';
import { openLog } from '../../util/logger.js';
import { message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { redact } from '../../util/secret.js';
import { type AppEnvironment, type Workplace, withLedger } from '../environment.js';
import { asKybatchError } from '../run/next-step.js';
import { type RunEndView, viewOfIdleRun } from '../run/run-end.js';
import type { SpendingOptions } from '../run/spending.js';
import { rereadStep } from '../run/stored-settings.js';
import { stepAfterRefusal } from './check.js';
import { type AttemptedWork, type AttemptResult, type ListAfter, reasonsOf, summaryText } from './notification-text.js';

/** The notification target, set as soon as it is known. */
export interface NotifyRequest extends AttemptedWork {
  readonly notify: Notify | null;
}

/**
 * Runs the work, then notifies the configured target. The ledger is closed by then, so that the target may open it. A
 * failed notification does not change how the attempt ended.
 */
export async function notifyAtEnd(
  options: SpendingOptions,
  environment: AppEnvironment,
  work: (toBeTold: (whom: NotifyRequest) => void) => Promise<RunEndView>,
): Promise<RunEndView> {
  const began = environment.clock.now();
  let whom: NotifyRequest = { notify: null, input: null, of: null };
  const toBeTold = (known: NotifyRequest) => {
    whom = known;
  };
  const ended = await work(toBeTold).then(
    (end): AttemptResult => ({ end }),
    (error: unknown): AttemptResult => ({ error, after: null }),
  );
  await tell(whom, began, ended, options, environment);
  if ('error' in ended) throw ended.error;
  return ended.end;
}

async function tell(
  whom: NotifyRequest,
  began: number,
  result: AttemptResult,
  options: SpendingOptions,
  environment: AppEnvironment,
): Promise<void> {
  const { notify } = whom;
  const { said, abort } = options;
  if (notify === null) return;
  const reasons = reasonsOf(result, said).filter((reason) => notify.on.includes(reason));
  if (reasons.length === 0) return;
  const ended =
    'end' in result ? result : { ...result, after: await listAfter(whom, began, result.error, options, environment) };
  const summary = summaryText(ended, reasons, whom, environment.clock.now(), said);
  const delivery = await deliver(notify.to, summary, environment, abort ?? new AbortController().signal);
  if ('end' in ended && ended.end.log !== null) noteInLog(ended.end.log, notify, delivery, environment);
  if (!delivery.delivered)
    environment.onNote?.(
      message(
        'NOTIFY_FAILED',
        `notify: ${shown(notify)} did not receive the summary of this attempt: ${sanitizeText(delivery.why)} (tried ${delivery.tries === 1 ? 'once' : `${delivery.tries} times`})`,
      ),
    );
}

/** The list after an attempt that was refused or broke off. Null: the ledger does not know it, or cannot be read. */
async function listAfter(
  { of }: NotifyRequest,
  began: number,
  error: unknown,
  options: SpendingOptions,
  environment: AppEnvironment,
): Promise<ListAfter | null> {
  if (of === null) return null;
  const look = async (ledger: Ledger, workplace: Workplace) => {
    const { portfolios, runs, reading } = ledger;
    const list = 'portfolio' in of ? (await portfolios.all()).find(({ name }) => name === of.portfolio) : undefined;
    const run = 'run' in of ? await runs.find(of.run) : list && (await portfolios.lastRun(list.id));
    if (run === undefined) return null;
    const view = await viewOfIdleRun(run, workplace);
    const last = await reading.lastAttempt(run.id);
    const spent =
      last === undefined || last.begunAt < began
        ? view.spent
        : await reading.spent(last.id, ledger.claims === undefined);
    const step = stepAfterRefusal(asKybatchError(error), run) ?? rereadStep(run);
    return { list: { ...view, spent, finished: false, next: null, further: [] }, step };
  };
  return await withLedger('read', options, { ...environment, onNote: undefined }, look).catch((failure: unknown) => {
    if (!(failure instanceof KybatchError)) throw failure;
    return null;
  });
}

/** The address is a password, and arguments may be. */
const shown = ({ to }: Notify): string => (to.kind === 'command' ? basename(to.argv[0]) : to.origin);

function noteInLog(path: string, { to }: Notify, { delivered, tries }: Delivery, { clock }: AppEnvironment): void {
  const log = openLog({ path, clock, secrets: [] });
  if (delivered) log.info('notified', { to: to.kind, tries });
  else log.warn('notify_failed', { to: to.kind, tries });
  log.close();
}

/** Pauses between tries. There is one try more than pauses. */
const PAUSES_MS = [1_000, 5_000] as const;
const TIMEOUT_MS = 15_000;

export type Delivery =
  | { readonly delivered: true; readonly tries: number }
  /** `why`: the reason of the last failure. */
  | { readonly delivered: false; readonly tries: number; readonly why: string };

/** Delivers the summary, with up to three tries. It never throws, and its time is limited. */
export async function deliver(
  to: NotifyTarget,
  summary: string,
  environment: AppEnvironment,
  abort: AbortSignal,
): Promise<Delivery> {
  for (let tries = 1; ; tries++) {
    try {
      await withTimeout(TIMEOUT_MS, environment.clock, abort, (signal) =>
        to.kind === 'command' ? runCommand(to.argv, summary, environment, signal) : postTo(to, summary, signal),
      );
      return { delivered: true, tries };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const pause = PAUSES_MS[tries - 1];
      if (pause !== undefined) await environment.clock.sleep(pause, abort).catch(() => {});
      if (pause === undefined || abort.aborted) return { delivered: false, tries, why };
    }
  }
}

/** `work` is aborted after `ms`, or when `abort` is. */
async function withTimeout(
  ms: number,
  clock: Clock,
  abort: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const tooLong = new AbortController();
  const timer = new AbortController();
  const waited = clock.sleep(ms, timer.signal).then(
    () => tooLong.abort(new Error(`it took longer than ${ms / 1000} s`)),
    () => {},
  );
  try {
    await work(AbortSignal.any([tooLong.signal, abort]));
  } finally {
    timer.abort();
    await waited;
  }
}

/** Redirects are not followed and the body of the response is not read. Rejects unless it is accepted. */
async function postTo(
  { origin, rest }: Extract<NotifyTarget, { kind: 'webhook' }>,
  summary: string,
  signal: AbortSignal,
): Promise<void> {
  const { Client } = await import('undici');
  const client = new Client(origin);
  try {
    const { statusCode, body } = await client.request({
      method: 'POST',
      path: rest.reveal(),
      headers: { 'content-type': 'application/json' },
      body: summary,
      signal,
    });
    body.on('error', () => {});
    if (statusCode < 200 || statusCode > 299) throw new Error(`it answered ${statusCode}`);
  } finally {
    await client.destroy();
  }
}

/** Runs a program with the summary on its standard input, without a shell. Rejects unless it exits with 0. */
function runCommand(
  [program, ...args]: readonly [string, ...string[]],
  summary: string,
  environment: AppEnvironment,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const env = withoutKeys(environment.env);
    const child = spawn(program, args, {
      cwd: environment.cwd,
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: OWN_GROUP,
    });
    const end = () => {
      if (OWN_GROUP && child.pid !== undefined) killGroup(child.pid);
      else child.kill('SIGKILL');
      reject(signal.reason);
    };
    signal.addEventListener('abort', end, { once: true });
    child.on('error', reject);
    child.on('close', (code, killedBy) => {
      signal.removeEventListener('abort', end);
      if (code === 0) resolve();
      else reject(new Error(code === null ? `it was ended by ${killedBy}` : `it ended with ${code}`));
    });
    // A program that does not read its input has ended, or will.
    child.stdin.on('error', () => {});
    child.stdin.end(summary);
  });
}

/** Child processes of a script are ended with it, on systems with process groups. */
const OWN_GROUP = process.platform !== 'win32';

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

const SECRET_VARIABLES =
  /^(?:KYBATCH_(?:V[12]_API_KEY|LEDGER_URL|WATCH_SECRET)(?:_FILE)?|PGPASSWORD|PGPASSFILE|PGSERVICEFILE)$/;

/** Removes the keys, the paths of key files, and every value that contains a key. */
const withoutKeys = (env: AppEnvironment['env']): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) => value !== undefined && !SECRET_VARIABLES.test(name.toUpperCase()) && redact(value) === value,
    ),
  );
