import { resolve } from 'node:path';
import type { CallView, DirectCallOptions } from '../../app/provider/call.js';
import type { OperationView } from '../../app/provider/operations.js';
import { UsageError } from '../../domain/errors.js';
import type { ApiName } from '../../domain/provider.js';
import { type ExactJson, ExactNumber, parseExact, requestNumber, stringifyExact } from '../../util/exact-json.js';
import { readSmallFile, UnreadableFile } from '../../util/files.js';
import { type Message, type MessageCode, message } from '../../util/message-parts.js';
import { pick, toJson, verbatim } from '../../util/view-json.js';
import { listed } from '../../util/words.js';
import { register, sandboxOption, switchFlag, textFlag } from '../command.js';
import { appEnvironment, type Io, printJson, untilInterrupted } from '../terminal/io.js';

export const callCommand = register({
  command: 'call <api> [operation]',
  describe: 'Call any operation of the provider yourself',
  builder: (yargs) =>
    yargs
      .positional('api', { choices: ['v1', 'v2', 'mcp'] as const, demandOption: true, describe: 'Which API' })
      .positional('operation', { type: 'string', describe: 'The operation, e.g. searchKyb, or the tool' })
      .option('params', textFlag('Parameters as JSON, or @file.json'))
      .option('rebuy', switchFlag('Ask again even if the answer is stored'))
      .option('sandbox', sandboxOption),
  async run({ api, operation, params, rebuy, sandbox, dataDir }, io) {
    if (operation === undefined) {
      const list = async (signal: AbortSignal) => {
        const listed =
          api === 'mcp'
            ? await (await import('../../app/provider/call.js')).tools({ sandbox, dataDir, signal }, appEnvironment(io))
            : (await import('../../app/provider/operations.js')).operations(api);
        if (io.json) printJson(io, { api, operations: verbatim(listed) });
        else io.stdout(operationsInWords(api, listed));
      };
      return await untilInterrupted(io, message('STOPPED', 'Stopped. Nothing was charged.'), list);
    }
    const options = { api, operation, params: readParams(params, io.cwd), fresh: rebuy, sandbox, dataDir };
    return await untilInterrupted(
      io,
      message('STOPPED_UNKNOWN', 'Stopped. The call may have been charged: `kybatch usage`'),
      (signal) => callOne({ ...options, signal }, io),
    );
  },
});

async function callOne(options: DirectCallOptions, io: Io): Promise<void> {
  const { call } = await import('../../app/provider/call.js');
  const view = await call(options, appEnvironment(io));
  const source = !io.json || view.owned || view.inHistory ? callInWords(view) : [];
  if (io.json) printJson(io, callJson(view), source);
  else io.stdout(bodyInWords(view));
  io.say(source);
}

const EXAMPLE = `Example: --params '{"id":"123"}'`;

/** `--params`: JSON, or the file behind an `@`. */
export function readParams(given: string | undefined, cwd: string): Readonly<Record<string, unknown>> {
  if (given === undefined) return {};
  const value = parse(given.startsWith('@') ? readFile(resolve(cwd, given.slice(1))) : given);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof ExactNumber)
    throw new UsageError('PARAMS_INVALID', '--params is not a JSON object', EXAMPLE);
  return toPlain(value) as Readonly<Record<string, unknown>>;
}

function readFile(path: string): string {
  try {
    return readSmallFile(path);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    throw new UsageError('PARAMS_INVALID', `--params: ${path} ${error.message}`, EXAMPLE);
  }
}

function parse(text: string): ExactJson {
  try {
    return parseExact(text);
  } catch (error) {
    throw new UsageError('PARAMS_INVALID', `--params is not JSON: ${(error as Error).message}`, EXAMPLE);
  }
}

/** Operations take parameters of a few levels. */
const DEEPEST = 100;

/** Numbers become JavaScript numbers, unless that would change them. */
function toPlain(value: ExactJson, depth = 0): unknown {
  if (depth > DEEPEST) throw new UsageError('PARAMS_INVALID', '--params is nested too deeply', EXAMPLE);
  if (value instanceof ExactNumber) return requestNumber(value.text);
  if (Array.isArray(value)) return value.map((item) => toPlain(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toPlain(member, depth + 1)]));
}

export const bodyInWords = ({ body }: CallView): string => `${stringifyExact(body, 2)}\n`;

export function callInWords(view: CallView): Message {
  const [code, source] = sourceOf(view);
  const known = Object.entries(toJson(pick(view, ...COST)) as object).filter(([, value]) => value !== null);
  return message(code, `${view.operation}: ${source}, ${known.map(([name, value]) => `${name} ${value}`).join(', ')}`);
}

function sourceOf({ owned, inHistory, reportId, fetchedAt }: CallView): readonly [code: MessageCode, words: string] {
  const since = new Date(fetchedAt).toISOString();
  if (inHistory)
    return ['REPORT_IN_HISTORY', `report ${reportId} found in the history, not expired: free (--rebuy buys a new one)`];
  if (reportId !== null)
    return ['REPORT_OWNED', `report ${reportId}, stored since ${since}: free (--rebuy buys a new one)`];
  return owned
    ? ['ANSWER_OWNED', `stored since ${since}, nothing was sent (--rebuy asks again)`]
    : ['CALL_SENT', 'sent'];
}

const COST = ['httpStatus', 'requestId', 'unitsCharged', 'unitsRemaining', 'durationMs'] as const;

export const callJson = (view: CallView) => ({
  ...pick(view, 'api', 'operation', 'owned', 'inHistory', 'fetchedAt', 'reportId', ...COST),
  body: verbatim(view.body),
});

function operationsInWords(api: ApiName, operations: readonly OperationView[]): string {
  const blocks = operations.map((view) => {
    const width = Math.max(0, ...view.parameters.map((parameter) => parameter.name.length + 1));
    const lines = view.parameters.map(({ name, required, type, description }) => {
      const label = `${name}${required ? '*' : ''}`.padEnd(width);
      return `    ${label}  ${type}${description === '' ? '' : `: ${description}`}`;
    });
    // A tool has no route. The message names it.
    const route = view.path === null ? ROUTE_FROM_FILE : `${view.method} ${view.path}`;
    return listed([`${view.operation}: ${view.summary}`, api !== 'mcp' && `    ${route}`, ...lines], '\n');
  });
  return `${blocks.join('\n\n')}\n\n* required. Call one: kybatch call ${api} ${EXAMPLES[api]}\n`;
}

const ROUTE_FROM_FILE = 'method and path from the routes file (KYBATCH_V2_ROUTES)';

const EXAMPLES: Readonly<Record<ApiName, string>> = {
  v1: `searchKyb --params '{"location":"GB","name":"Aber"}'`,
  v2: 'metrics',
  mcp: `TOOL --params '{"country_code":"GB","name":"Aber"}'`,
};
