import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readAnswer } from '../api/answer.js';
import type { ApiName, Operation } from '../api/operation.js';
import { v1Operations } from '../api/v1/operations.js';
import { v2Operations } from '../api/v2/operations.js';
import { type AnyClient, Door } from '../calls/door.js';
import type { Answer, CallOutcome } from '../calls/outcome.js';
import { requestKey } from '../calls/request-key.js';
import { freshnessMs, loadPipeline } from '../config/pipeline.js';
import { UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import type { Ledger, SettledCall } from '../ledger/ledger.js';
import { openLedger } from '../ledger/sqlite/ledger.js';
import { type ExactJson, ExactNumber, parseExact } from '../util/exact-json.js';
import { stringifyExact } from '../util/exact-json-write.js';
import { didYouMean } from '../util/suggest.js';
import type { Io } from './io.js';
import { describeOperations, listOperations } from './operation-listing.js';
import { ParkedError } from './parked-error.js';
import { type ProviderArgs, required, sandboxOption, withProvider } from './provider.js';
import type { Verb } from './verb.js';

interface CallArgs extends ProviderArgs {
  readonly api: 'v1' | 'v2';
  readonly operation: string | undefined;
  readonly params: string | undefined;
  readonly fresh: boolean;
}

const operationsOf: Readonly<Record<'v1' | 'v2', Readonly<Record<string, Operation>>>> = {
  v1: v1Operations,
  v2: v2Operations,
};

export const callVerb: Verb<CallArgs> = {
  command: 'call <api> [operation]',
  describe: 'Call any operation of either API by hand; without an operation, list them',
  builder: (yargs) =>
    yargs
      .positional('api', { choices: ['v1', 'v2'] as const, demandOption: true, describe: 'Which API' })
      .positional('operation', { type: 'string', describe: 'The operation, e.g. searchKyb' })
      .option('params', { type: 'string', requiresArg: true, describe: 'Parameters as JSON, or @file.json' })
      .option('fresh', { type: 'boolean', default: false, describe: 'Ask anew although the answer is owned' })
      .option('sandbox', sandboxOption)
      .example('$0 call v1', 'list the operations of v1 with their parameters')
      .example(
        `$0 call v1 searchKyb --sandbox --params '{"location":"GB","name":"Aber"}'`,
        'search the simulated provider',
      ),
  async run(args, io) {
    const operations = operationsOf[args.api];
    if (args.operation === undefined) {
      io.stdout(
        args.json ? `${JSON.stringify(describeOperations(operations))}\n` : listOperations(args.api, operations),
      );
      return ExitCode.ok;
    }
    const operation = operations[args.operation];
    if (operation === undefined) {
      const hint = didYouMean(args.operation, Object.keys(operations));
      throw new UsageError(
        `${args.api} has no operation ${args.operation}.${hint}`,
        `\`kybatch call ${args.api}\` lists them.`,
      );
    }
    return await send(operation, readParams(args.params, io), args, io);
  },
};

/** Through the door that every paid call goes through: what we own is not bought again, what we buy is owned. */
async function send(operation: Operation, params: Record<string, unknown>, args: CallArgs, io: Io): Promise<ExitCode> {
  return await withProvider(
    args,
    io,
    async (provider) => {
      const { api } = args;
      const client = required(api === 'v1' ? provider.v1 : provider.v2, api) as unknown as AnyClient;
      // Refused before the ledger is opened, let alone created.
      const prepared = client.prepare(operation.name, params);
      const ledger = openLedger(provider.environment.dataDir, io.clock.now());
      try {
        const environmentId = await ledger.environment(api, provider.names[api]);
        const abort = new AbortController();
        let interrupt: 'SIGINT' | 'SIGTERM' | undefined;
        const stopListening = io.onInterrupt((signal) => {
          interrupt = signal;
          abort.abort(new Error('interrupted'));
        });
        const door = handDoor({ api, client, environmentId, signal: abort.signal }, ledger, io);
        const freshness = freshnessMs(handPipeline(io), operation.name);
        const outcome = await door
          .call({
            api,
            operation: operation.name,
            params,
            runId: null,
            row: null,
            stage: null,
            own: freshness > 0,
            ownedSince: args.fresh ? Number.POSITIVE_INFINITY : io.clock.now() - freshness,
            lookedSince: null,
          })
          .finally(stopListening);
        await door.close();
        if (interrupt !== undefined && outcome.kind !== 'answer') {
          io.stderr('Stopped. The call may have been charged; `kybatch usage` shows it.\n');
          return interrupt === 'SIGINT' ? ExitCode.interrupted : ExitCode.terminated;
        }
        const answer = answerOf(outcome);
        const key = requestKey(operation.name, prepared.params);
        const sent = answer.owned ? undefined : await ledger.newestCall(environmentId, key);
        print({ operation, args, answer, sent }, io);
        return ExitCode.ok;
      } finally {
        await ledger.close();
      }
    },
    { keepSandbox: true },
  );
}

const handPipeline = (io: Io) => loadPipeline('analyst', io.cwd);

interface HandApi {
  readonly api: ApiName;
  readonly client: AnyClient;
  readonly environmentId: number;
  readonly signal: AbortSignal;
}

/** One attempt: the person at the terminal decides whether to try again. */
function handDoor({ api, client, environmentId, signal }: HandApi, ledger: Ledger, io: Io): Door {
  return new Door({
    ledger,
    clock: io.clock,
    apis: { v1: null, v2: null, [api]: { client, environmentId } },
    retry: { attempts: 1, baseMs: 0, capMs: 0 },
    concurrency: 1,
    breakerFailures: Number.POSITIVE_INFINITY,
    budgetUnits: null,
    spentUnits: 0,
    inDoubt: 'resend',
    inDoubtCap: Number.POSITIVE_INFINITY,
    permissions: {},
    signal,
  });
}

function answerOf(outcome: CallOutcome): Answer {
  if (outcome.kind === 'answer') return outcome;
  if (outcome.kind === 'parked') throw new ParkedError(outcome);
  if (outcome.kind === 'in_doubt') throw new Error('a call by hand is never held back');
  throw outcome.error;
}

interface Printed {
  readonly operation: Operation;
  readonly args: CallArgs;
  readonly answer: Answer;
  readonly sent: SettledCall | undefined;
}

function print({ operation, args, answer, sent }: Printed, io: Io): void {
  const body = readAnswer(operation, answer.body) as ExactJson;
  const facts = {
    owned: answer.owned,
    fetched_at: new Date(answer.fetchedAt).toISOString(),
    http_status: sent?.httpStatus ?? null,
    request_id: sent?.requestId ?? null,
    units_charged: answer.owned ? 0 : (sent?.unitsCharged ?? null),
    units_remaining: sent?.remainingUnits ?? null,
    duration_ms: sent?.durationMs ?? null,
  };
  if (args.json) {
    io.stdout(`${stringifyExact({ api: args.api, operation: operation.name, ...facts, body })}\n`);
    return;
  }
  io.stdout(`${stringifyExact(body, 2)}\n`);
  const { owned, fetched_at, ...rest } = facts;
  const known = Object.entries(rest).filter(([, value]) => value !== null);
  const source = owned ? `owned since ${fetched_at}, nothing was sent (--fresh asks anew)` : 'sent';
  io.stderr(`${operation.name}: ${source}, ${known.map(([name, value]) => `${name} ${value}`).join(', ')}\n`);
}

function readParams(given: string | undefined, io: Io): Record<string, unknown> {
  if (given === undefined) return {};
  const text = given.startsWith('@') ? readParamsFile(resolve(io.cwd, given.slice(1))) : given;
  const value = parseParams(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof ExactNumber) {
    throw new UsageError('--params is not a JSON object', `For example: --params '{"id":"123"}'`);
  }
  return toPlain(value) as Record<string, unknown>;
}

function readParamsFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--params: cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}

function parseParams(text: string): ExactJson {
  try {
    return parseExact(text);
  } catch (error) {
    throw new UsageError(`--params is not JSON: ${(error as Error).message}`, `For example: --params '{"id":"123"}'`);
  }
}

/** Numbers as JavaScript has them, unless that would change them: an ID beyond 2^53 stays text. */
function toPlain(value: ExactJson): unknown {
  if (value instanceof ExactNumber) return String(Number(value.text)) === value.text ? Number(value.text) : value.text;
  if (Array.isArray(value)) return value.map(toPlain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toPlain(member)]));
}
