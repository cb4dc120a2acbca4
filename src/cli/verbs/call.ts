import { type CallByHand, call } from '../../app/call.js';
import { operations } from '../../app/operations.js';
import { tools } from '../../app/tools.js';
import type { ApiName } from '../../domain/api-name.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { readParams } from '../call-params.js';
import { type ProviderArgs, sandboxOption } from '../provider-flags.js';
import { bodyInWords, callInWords, callToJson } from '../terminal/call-words.js';
import { exitCodeOfInterrupt } from '../terminal/interrupts.js';
import type { Io } from '../terminal/io.js';
import { operationsInWords } from '../terminal/operation-words.js';
import type { Verb } from '../verb.js';

interface CallArgs extends ProviderArgs {
  readonly api: ApiName;
  readonly operation: string | undefined;
  readonly params: string | undefined;
  readonly fresh: boolean;
}

export const callVerb: Verb<CallArgs> = {
  command: 'call <api> [operation]',
  describe: 'Call any operation of either API, or a tool of the connector server, by hand; without one, list them',
  builder: (yargs) =>
    yargs
      .positional('api', { choices: ['v1', 'v2', 'mcp'] as const, demandOption: true, describe: 'Which API' })
      .positional('operation', { type: 'string', describe: 'The operation, e.g. searchKyb, or the tool' })
      .option('params', { type: 'string', requiresArg: true, describe: 'Parameters as JSON, or @file.json' })
      .option('fresh', { type: 'boolean', default: false, describe: 'Ask anew although the answer is owned' })
      .option('sandbox', sandboxOption)
      .example('$0 call v1', 'list the operations of v1 with their parameters')
      .example(
        `$0 call v1 searchKyb --sandbox --params '{"location":"GB","name":"Aber"}'`,
        'search the simulated provider',
      )
      .example('$0 call mcp --sandbox', 'ask the connector server for its tools'),
  async run({ api, operation, params, fresh, sandbox, dataDir, json }, io) {
    if (operation === undefined) {
      const list = async (signal: AbortSignal) => {
        const listed = api === 'mcp' ? await tools({ sandbox, dataDir, signal }, aroundOf(io)) : operations(api);
        io.stdout(json ? `${JSON.stringify({ api, operations: listed })}\n` : operationsInWords(api, listed));
      };
      return await untilInterrupted(list, 'Stopped. Nothing was charged.\n', io);
    }
    const options = { api, operation, params: readParams(params, io.cwd), fresh, sandbox, dataDir };
    return await untilInterrupted(
      (signal) => callOne({ ...options, signal }, json, io),
      'Stopped. The call may have been charged; `kybatch usage` shows it.\n',
      io,
    );
  },
};

async function callOne(options: CallByHand, json: boolean, io: Io): Promise<void> {
  const view = await call(options, aroundOf(io));
  io.stdout(json ? `${callToJson(view)}\n` : bodyInWords(view));
  if (!json || view.owned || view.inHistory) io.stderr(callInWords(view));
}

async function untilInterrupted(
  ask: (signal: AbortSignal) => Promise<void>,
  stopped: string,
  io: Io,
): Promise<ExitCode> {
  const abort = new AbortController();
  let exit: ExitCode = ExitCode.ok;
  const stopListening = io.onInterrupt((signal) => {
    exit = exitCodeOfInterrupt(signal);
    abort.abort(new Error('interrupted'));
  });
  try {
    await ask(abort.signal);
    return ExitCode.ok;
  } catch (error) {
    if (!abort.signal.aborted || error !== abort.signal.reason) throw error;
    io.alert(stopped);
    return exit;
  } finally {
    stopListening();
  }
}
