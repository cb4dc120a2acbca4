import { ExitCode, UsageError } from '../../domain/errors.js';
import { message } from '../../util/message-parts.js';
import { type Command, numberFlagOr, type ProviderArgs, sandboxOption } from '../command.js';
import { appEnvironment, printJson } from '../terminal/io.js';

interface UiArgs extends ProviderArgs {
  readonly port: number;
  readonly readOnly?: boolean | undefined;
  readonly open: boolean;
  readonly by: string | undefined;
  readonly role?: Role | undefined;
  readonly behindProxy?: boolean | undefined;
  readonly publicUrl?: string | undefined;
  readonly userHeader?: string | undefined;
  readonly proxyFrom?: string | undefined;
  readonly socket: string | undefined;
}

type Role = 'look' | 'decide' | 'spend';

/** The heading of the help. */
const PROXY = { group: 'Behind a reverse proxy' } as const;

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
      .option('role', {
        choices: ['look', 'decide', 'spend'] as const,
        describe: 'What people may do (default: spend)',
      })
      .option('behind-proxy', { ...PROXY, type: 'boolean', default: false, describe: 'A reverse proxy says who asks' })
      .option('public-url', { ...PROXY, type: 'string', requiresArg: true, describe: 'The address that people open' })
      .option('user-header', {
        ...PROXY,
        type: 'string',
        requiresArg: true,
        describe: 'Header with the name (default: X-Forwarded-User)',
      })
      .option('socket', { ...PROXY, type: 'string', requiresArg: true, describe: 'Unix socket to listen on' })
      .option('proxy-from', {
        ...PROXY,
        type: 'string',
        requiresArg: true,
        describe: 'Address of the proxy (default: 127.0.0.1)',
      })
      .option('sandbox', sandboxOption),
  async run(args, io) {
    const { dataDir, sandbox, port, readOnly, open, by, role = 'spend', json } = args;
    const proxy = readProxy(args);
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
        user: { name: deciderName({ by }, around), role: readOnly ? 'look' : role, isVerified: false },
        proxy,
        onListening(address) {
          if (json) printJson(io, { address });
          else io.stdout(`${address}\n`);
          io.say(
            message(
              'UI_LISTENING',
              `${proxy === undefined ? 'The link works once. ' : ''}Ctrl-C stops the page. Runs continue without it.`,
            ),
          );
          if (open && io.interactive && proxy === undefined) openBrowser(address);
        },
        signal: ended.signal,
      });
      return ExitCode.ok;
    } finally {
      stopListening();
    }
  },
};

/** Behind a proxy a name is trusted, so it must be clear who can send one. */
function readProxy({ behindProxy, publicUrl, userHeader = 'X-Forwarded-User', socket, proxyFrom }: UiArgs) {
  if (behindProxy !== true) {
    if (publicUrl !== undefined || socket !== undefined || proxyFrom !== undefined)
      throw new UsageError('FLAG_WITHOUT_PROXY', '--public-url, --socket and --proxy-from are for --behind-proxy');
    return undefined;
  }
  if (publicUrl === undefined || !URL.canParse(publicUrl))
    throw new UsageError(
      'PUBLIC_URL_MISSING',
      '--behind-proxy needs --public-url, such as https://kybatch.example.com',
    );
  if (socket !== undefined && proxyFrom !== undefined)
    throw new UsageError('PROXY_PLACE_TWICE', 'the proxy comes by --socket or from --proxy-from', 'Keep one of them.');
  const from = socket === undefined ? [proxyFrom ?? '127.0.0.1'] : null;
  return { publicUrl, userHeader, from, socket };
}

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
