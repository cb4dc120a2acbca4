import { UsageError } from '../../domain/errors.js';
import { message } from '../../util/message-parts.js';
import { count, listed, withCommas } from '../../util/words.js';
import { type ArgsOf, numberFlag, numberFlagOr, register, sandboxOption, switchFlag, textFlag } from '../command.js';
import { appEnvironment, printJson } from '../terminal/io.js';

const RECONCILE = { group: 'For OpenRefine' } as const;
const PROXY = { group: 'Behind a reverse proxy' } as const;

const reconcileOptions = {
  reconcile: { ...RECONCILE, ...switchFlag('Also serve the Reconciliation API 0.2. Its address is printed') },
  'max-units': {
    ...RECONCILE,
    ...numberFlag('--max-units', 'Units that its queries may cost in all (default: 0)'),
  },
} as const;

const proxyOptions = {
  'behind-proxy': { ...PROXY, ...switchFlag('A reverse proxy sends the name of the person') },
  'public-url': { ...PROXY, ...textFlag('The address that people open') },
  'user-header': { ...PROXY, ...textFlag('Header with the name (default: X-Forwarded-User)') },
  socket: { ...PROXY, ...textFlag('Unix socket to listen on') },
  'proxy-from': { ...PROXY, ...textFlag('Address of the proxy (default: 127.0.0.1)') },
} as const;

type UiArgs = ArgsOf<typeof reconcileOptions & typeof proxyOptions> & { readonly readOnly: boolean };

export const uiCommand = register({
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
      .option('read-only', switchFlag('Offer no form: nothing is decided or bought'))
      .option('by', textFlag('Your name in decisions (default: your user name)'))
      .option('role', {
        choices: ['look', 'decide', 'spend'] as const,
        describe: 'What people may do (default: spend)',
      })
      .options(reconcileOptions)
      .options(proxyOptions)
      .option('sandbox', sandboxOption),
  async run(args, io) {
    const { dataDir, sandbox, port, readOnly, open, by, role = 'spend' } = args;
    const proxy = readProxy(args);
    mustFitReconcile(args);
    const ended = new AbortController();
    const stopListening = io.onInterrupt(() => ended.abort());
    const environment = appEnvironment(io);
    try {
      const { deciderName } = await import('../../app/environment.js');
      const { serveUi } = await import('../../web/server.js');
      const { unitLimitFor } = await import('../../app/portfolio/look-up.js');
      const unitLimit = unitLimitFor(args.maxUnits, { dataDir, sandbox }, environment);
      const onSpent = (units: number) =>
        io.say(message('RECONCILE_SPENT', `Spent ${count(units, 'unit')}, ${withCommas(unitLimit?.left ?? 0)} left.`));
      await serveUi({
        options: { dataDir, sandbox },
        environment,
        port,
        user: { name: deciderName({ by }, environment), role: readOnly ? 'look' : role, isVerified: false },
        proxy,
        reconcile: args.reconcile ? { unitLimit, onSpent } : undefined,
        onListening(address, _port, reconcile) {
          if (io.json) printJson(io, { address, reconcile });
          else io.stdout(listed([address, reconcile], '\n').concat('\n'));
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
    } finally {
      stopListening();
    }
  },
});

/** A proxy asks who it is, and OpenRefine cannot say. */
function mustFitReconcile({ reconcile, maxUnits, behindProxy, readOnly }: UiArgs): void {
  if (!reconcile && maxUnits !== undefined)
    throw new UsageError('FLAG_WITHOUT_RECONCILE', '--max-units is for --reconcile. Runs have limits of their own');
  if (reconcile && behindProxy)
    throw new UsageError('RECONCILE_BEHIND_PROXY', '--reconcile works on this machine only, without --behind-proxy');
  if (readOnly && maxUnits !== undefined)
    throw new UsageError('SPENDING_READ_ONLY', '--read-only buys nothing', 'Leave out --max-units or --read-only.');
}

/** Behind a proxy a name is trusted, so it must be clear who can send one. */
function readProxy({ behindProxy, publicUrl, userHeader = 'X-Forwarded-User', socket, proxyFrom }: UiArgs) {
  if (!behindProxy) {
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
