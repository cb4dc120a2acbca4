import { ExitCode } from '../../domain/errors.js';
import { message } from '../../util/message-parts.js';
import { type Command, numberFlagOr, type ProviderArgs, sandboxOption } from '../command.js';
import { appEnvironment, printJson } from '../terminal/io.js';

interface UiArgs extends ProviderArgs {
  readonly port: number;
  readonly readOnly?: boolean | undefined;
  readonly open: boolean;
  readonly by: string | undefined;
}

export const uiCommand: Command<UiArgs> = {
  command: 'ui',
  describe: 'Show lists, runs, questions and companies in a browser',
  builder: (yargs) =>
    yargs
      .option('port', numberFlagOr(0, '--port', 'Port on 127.0.0.1 (default: a free one)'))
      .option('open', {
        type: 'boolean',
        default: true,
        describe: 'Open the browser (default). --no-open: print the link only',
      })
      .option('read-only', { type: 'boolean', default: false, describe: 'Offer no form: nothing is decided or bought' })
      .option('by', { type: 'string', requiresArg: true, describe: 'Your name in decisions (default: your user name)' })
      .option('sandbox', sandboxOption),
  async run({ dataDir, sandbox, port, readOnly, open, by, json }, io) {
    const ended = new AbortController();
    const stopListening = io.onInterrupt(() => ended.abort());
    const around = appEnvironment(io);
    try {
      const { deciderName } = await import('../../app/environment.js');
      const { serveUi } = await import('../../web/server.js');
      await serveUi({
        options: { dataDir, sandbox },
        around,
        port,
        user: { name: deciderName({ by }, around), role: readOnly ? 'look' : 'spend', isVerified: false },
        onListening(address) {
          if (json) printJson(io, { address });
          else io.stdout(`${address}\n`);
          io.say(message('UI_LISTENING', 'The link works once. Ctrl-C stops the page. Runs go on without it.'));
          if (open && io.interactive) openBrowser(address);
        },
        signal: ended.signal,
      });
      return ExitCode.ok;
    } finally {
      stopListening();
    }
  },
};

/** A machine without a browser shows nothing. The link is printed in any case. */
function openBrowser(address: string): void {
  const [program, ...words] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['explorer'] : ['xdg-open'];
  import('node:child_process').then(({ spawn }) =>
    spawn(program ?? '', [...words, address], { stdio: 'ignore', detached: true })
      .on('error', () => {})
      .unref(),
  );
}
