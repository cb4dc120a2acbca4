import { UsageError } from '../../domain/errors.js';
import { message } from '../../util/message-parts.js';
import { count } from '../../util/words.js';
import { numberFlag, numberFlagOr, register, sandboxOption, switchFlag, textFlag } from '../command.js';
import { appEnvironment, printJson, printResultAndWords, untilInterrupted } from '../terminal/io.js';
import { shellWord } from '../terminal/text.js';

const sampleCommand = register({
  command: 'sample',
  describe: 'Write a list of companies of the sandbox, with the right answers',
  builder: (yargs) =>
    yargs
      .option('rows', numberFlagOr(100, '--rows', 'How many rows, up to a million'))
      .option('dirty', switchFlag('With the errors that real files have'))
      .option('excel', switchFlag('As Excel saves it: semicolons, byte order mark, CRLF, other headers'))
      .option('country', textFlag('Companies of one country alone, such as DE'))
      .option('seed', numberFlagOr(1, '--seed', 'The seed of the registry (--sandbox uses 1)'))
      .option('out', { ...textFlag('File to write, .csv or .xlsx'), default: 'sample.csv' })
      .option('force', switchFlag('Overwrite files that are not samples')),
  async run({ rows, dirty, excel, country, seed, out, force, dataDir }, io) {
    return await untilInterrupted(io, message('STOPPED', 'Stopped. No file was written.'), async (signal) => {
      const { sample } = await import('../../app/provider/sandbox.js');
      const view = await sample({ rows, dirty, excel, country, seed, out, force, dataDir, signal }, appEnvironment(io));
      const next =
        seed === 1
          ? `kybatch run ${shellWord(view.input)} --sandbox`
          : `\`kybatch sandbox --seed ${seed}\` has these companies. The provider of --sandbox has others.`;
      const words = `✓ ${count(rows, 'row')} written to ${view.input}\n  The right answers: ${view.answers}\n\nNext: ${next}`;
      if (io.json) printJson(io, view);
      else io.say(message('SAMPLE_WRITTEN', words), 'result');
    });
  },
});

const changeCommand = register({
  command: 'change <company> <field> [value]',
  describe: 'Change a company of the sandbox',
  builder: (yargs) =>
    yargs
      .positional('company', { type: 'string', demandOption: true, describe: 'Its v2 ID' })
      .positional('field', { type: 'string', demandOption: true, describe: 'Name of the field, as in the watch' })
      .positional('value', { type: 'string', describe: 'The new value (default: none)' })
      .option('port', numberFlagOr(8787, '--port', 'Port of the sandbox'))
      .option('sandbox', { ...sandboxOption, describe: 'Change the sandbox of --sandbox instead' }),
  async run({ company, field, value, port, sandbox, dataDir }, io) {
    const change = {
      company: String(company),
      field,
      value: value === undefined ? null : String(value),
      port: sandbox ? undefined : port,
      dataDir,
    };
    const { changeInSandbox } = await import('../../app/provider/sandbox.js');
    const { recorded, callbackStatus } = await changeInSandbox(change, appEnvironment(io));
    const callback = callbackStatus === null ? '' : ` The callback answered ${callbackStatus}.`;
    const words = recorded
      ? `✓ Company changed. The watch recorded it.${callback}`
      : '✓ Company changed. No watch records it, because the company is not watched.';
    const changed = message('COMPANY_CHANGED', words, 'done');
    printResultAndWords(io, { recorded, callbackStatus }, changed);
  },
});

export const sandboxCommand = register({
  command: 'sandbox',
  describe: 'Serve the simulated provider on a port',
  subcommands: [sampleCommand, changeCommand],
  builder: (yargs) =>
    yargs
      .demandCommand(0)
      .option('port', numberFlagOr(8787, '--port', 'Port on 127.0.0.1, 0 for a free one'))
      .option('plan', {
        choices: ['free', 'paid'] as const,
        default: 'paid' as const,
        describe: 'free: 3 successful calls a UTC day (default: paid)',
      })
      .option('allowance', numberFlagOr(1_000_000, '--allowance', 'Units of the paid plan'))
      .option('faults', {
        ...textFlag('none, mild, nasty, or rates such as 503=0.05,lost=0.01,latency=20'),
        default: 'none',
      })
      .option('generate-ms', numberFlag('--generate-ms', 'Time that a credit report takes, in milliseconds'))
      .option('history-lag-ms', numberFlag('--history-lag-ms', 'Delay of reports in the history, in milliseconds'))
      .option('search', {
        choices: ['forgiving', 'exact'] as const,
        default: 'forgiving' as const,
        describe: 'How the search reads numbers',
      })
      .option('seed', numberFlagOr(1, '--seed', 'Seed of the companies and the faults')),
  async run(args, io) {
    const { port, plan, allowance, search, seed, generateMs, historyLagMs } = args;
    const { parseFaults, startSandbox } = await import('../../sandbox/index.js');
    const sandbox = await startSandbox({
      port,
      plan,
      allowance,
      search,
      seed,
      generateMs,
      historyLagMs,
      faults: readFaults(() => parseFaults(args.faults)),
      clock: io.clock,
    }).catch((error: unknown) => {
      throw portProblem(error, port);
    });
    try {
      const settings = {
        KYBATCH_V1_BASE_URL: sandbox.v1BaseUrl,
        KYBATCH_V1_API_KEY: sandbox.keys.v1,
        KYBATCH_V2_BASE_URL: sandbox.v2BaseUrl,
        KYBATCH_V2_API_KEY: sandbox.keys.v2,
        KYBATCH_V2_ROUTES: sandbox.routesFile,
        KYBATCH_MCP_URL: sandbox.mcpUrl,
      };
      if (io.json) printJson(io, settings);
      else
        io.stdout(
          `${Object.entries(settings)
            .map(([name, value]) => `export ${name}=${value}`)
            .join('\n')}\n`,
        );
      io.say(
        message(
          'SANDBOX_SERVING',
          `The sandbox is running (${plan} plan). Paste the lines above into another terminal, or into .env without "export". Ctrl-C stops it.`,
        ),
      );
      await interrupted(io);
      const v1 = sandbox.chargeLog.filter(({ api }) => api === 'v1');
      const units = v1.reduce((sum, charge) => sum + charge.units, 0);
      const others = sandbox.chargeLog.length - v1.length;
      io.say(
        message(
          'SANDBOX_ENDED',
          `The sandbox charged ${count(units, 'v1 unit')} and counted ${count(others, 'v2 call')}.`,
        ),
      );
    } finally {
      await sandbox.close();
    }
  },
});

function readFaults<Faults>(read: () => Faults): Faults {
  try {
    return read();
  } catch (error) {
    throw new UsageError('FAULTS_INVALID', `--faults: ${(error as Error).message}`);
  }
}

function portProblem(error: unknown, port: number): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'EADDRINUSE' || code === 'EACCES' || code === 'ERR_SOCKET_BAD_PORT'
    ? new UsageError('PORT_UNUSABLE', `port ${port} cannot be used (${code})`, '--port 0 takes a free port.')
    : error;
}

const interrupted = (io: { onInterrupt: (listener: () => void) => () => void }) =>
  new Promise<void>((done) => {
    const stop = io.onInterrupt(() => {
      stop();
      done();
    });
  });
