import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ApiClient } from '../api/client.js';
import type { Operation } from '../api/operation.js';
import { readAllowance } from '../api/v1/allowance.js';
import { v1Operations } from '../api/v1/operations.js';
import { v2Operations } from '../api/v2/operations.js';
import { UsageError } from '../domain/errors.js';
import { type ExactJson, ExactNumber, parseExact } from '../util/exact-json.js';
import { stringifyExact } from '../util/exact-json-write.js';
import { didYouMean } from '../util/suggest.js';
import { ExitCode } from './exit-codes.js';
import type { Io } from './io.js';
import { describeOperations, listOperations } from './operation-listing.js';
import { type ProviderArgs, required, sandboxOption, withProvider } from './provider.js';
import type { Verb } from './verb.js';

interface CallArgs extends ProviderArgs {
  readonly api: 'v1' | 'v2';
  readonly operation: string | undefined;
  readonly params: string | undefined;
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

async function send(operation: Operation, params: Record<string, unknown>, args: CallArgs, io: Io): Promise<ExitCode> {
  return await withProvider(args, io, async (provider) => {
    const client = required(args.api === 'v1' ? provider.v1 : provider.v2, args.api) as unknown as ApiClient<
      Record<string, Operation>
    >;
    const reply = await client.call(operation.name, params);
    const { unitsCharged, remainingUnits } = readAllowance(reply.headers, io.clock.now());
    const facts = {
      http_status: reply.status,
      request_id: reply.requestId ?? null,
      units_charged: unitsCharged,
      units_remaining: remainingUnits,
      duration_ms: reply.durationMs,
    };
    if (args.json) {
      io.stdout(`${stringifyExact({ api: args.api, operation: operation.name, ...facts, body: reply.data })}\n`);
    } else {
      io.stdout(`${stringifyExact(reply.data, 2)}\n`);
      const known = Object.entries(facts).filter(([, value]) => value !== null);
      io.stderr(`${operation.name}: ${known.map(([name, value]) => `${name} ${value}`).join(', ')}\n`);
    }
    return ExitCode.ok;
  });
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
