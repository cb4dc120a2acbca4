import { type CallByHand, call } from '../../app/call.js';
import { operations } from '../../app/operations.js';
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
  readonly api: 'v1' | 'v2';
  readonly operation: string | undefined;
  readonly params: string | undefined;
  readonly fresh: boolean;
}

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
  async run({ api, operation, params, fresh, sandbox, dataDir, json }, io) {
    if (operation === undefined) {
      const listed = operations(api);
      io.stdout(json ? `${JSON.stringify(listed)}\n` : operationsInWords(api, listed));
      return ExitCode.ok;
    }
    return await untilInterrupted(
      { api, operation, params: readParams(params, io.cwd), fresh, sandbox, dataDir },
      json,
      io,
    );
  },
};

async function untilInterrupted(options: CallByHand, json: boolean, io: Io): Promise<ExitCode> {
  const abort = new AbortController();
  let exit: ExitCode = ExitCode.ok;
  const stopListening = io.onInterrupt((signal) => {
    exit = exitCodeOfInterrupt(signal);
    abort.abort(new Error('interrupted'));
  });
  try {
    const view = await call({ ...options, signal: abort.signal }, aroundOf(io));
    io.stdout(json ? `${callToJson(view)}\n` : bodyInWords(view));
    if (!json || view.owned || view.inHistory) io.stderr(callInWords(view));
    return ExitCode.ok;
  } catch (error) {
    if (!abort.signal.aborted || error !== abort.signal.reason) throw error;
    io.stderr('Stopped. The call may have been charged; `kybatch usage` shows it.\n');
    return exit;
  } finally {
    stopListening();
  }
}
