import type { DoctorView } from '../../app/admin/doctor.js';
import { type Message, type MessageState, message } from '../../util/message-parts.js';
import { version } from '../../util/packages.js';
import { pick } from '../../util/view-json.js';
import { count, listed } from '../../util/words.js';
import { type ArgsOf, register, sandboxOption, switchFlag, textFlag } from '../command.js';
import { contactsJson, useJson } from '../terminal/allowance-words.js';
import { appEnvironment, printResult } from '../terminal/io.js';
import { callAgain, lookFlags, placeFlags } from '../terminal/suggestions.js';
import { firstClause, withPlace } from '../terminal/text.js';
import { block, view } from '../terminal/view.js';

const doctorOptions = {
  sandbox: sandboxOption,
  deep: switchFlag('Compare every stored answer with its digest, too'),
  pipeline: textFlag('Fail if this pipeline (a name or a file) lacks something'),
  verbose: switchFlag('Show every check with all its details'),
} as const;

export const doctorCommand = register({
  command: 'doctor',
  describe: 'Check configuration, keys, data folder and ledger',
  builder: (yargs) => yargs.options(doctorOptions),
  async run(args, io) {
    const { dataDir, sandbox, deep, pipeline } = args;
    const { doctor } = await import('../../app/admin/doctor.js');
    const found = await doctor(
      { dataDir, sandbox, deep, pipeline, callAgain: (answer) => callAgain(answer, args) },
      appEnvironment(io),
    );
    const { v2, server, exit } = found;
    const place = placeFlags(args);
    const findings = found.findings.map((finding) => ({ ...finding, detail: withPlace(finding.detail, place) }));
    printResult(
      io,
      {
        findings: findings.map((finding) => pick(finding, 'check', 'state', 'code', 'detail')),
        v2Permissions: v2.use?.map(useJson) ?? null,
        v2Contacts: v2.contacts && contactsJson(v2.contacts),
        postgres: server && serverJson(server),
      },
      doctorInWords({ ...found, findings }, args),
    );
    return exit;
  },
});

type Finding = DoctorView['findings'][number];

function doctorInWords(
  { findings, pipeline, urls }: DoctorView,
  args: ArgsOf<typeof doctorOptions>,
): readonly Message[] {
  const { sandbox, verbose } = args;
  const provider = sandbox ? 'sandbox' : [...new Set(urls.map((url) => new URL(url).host))].join(', ');
  const shown = verbose ? findings : merged(findings, args.deep).filter(({ short }) => short !== '');
  const width = Math.max(...shown.map(({ check }) => labelOf(check).length));
  const failed = findings.filter(({ state }) => state === 'fail');
  // The MCP server may refuse the same key.
  const problems = [...new Set(failed.map(({ detail }) => detail))];
  const isSpent = findings.some(({ code }) => code === 'ALLOWANCE_SPENT');
  const spent = findings.some(({ check }) => check === 'v1 probe') ? '' : 'Nothing was spent.';
  return view(
    message(
      'DOCTOR',
      `kybatch ${version}${provider === '' ? '' : ` · provider: ${provider}`} · pipeline: ${pipeline}\n`,
    ),
    shown.map(({ check, state, code, detail, short }) => {
      // The problems below have the rest of it.
      const inShort = short ?? (state === 'fail' ? firstClause(detail) : detail);
      const text = verbose || state === 'note' ? detail : inShort;
      const [symbol, colour] = code === 'API_NOT_CONFIGURED' ? (['–', 'detail'] as const) : STATES[state];
      return message(code, `  ${symbol} ${labelOf(check).padEnd(width)}  ${text.replaceAll('\n', ' ')}`, colour);
    }),
    failed.length === 0
      ? block(
          'DOCTOR_WELL',
          '',
          listed(
            [
              isSpent ? 'Ready, but no units are left.' : 'Ready.',
              spent,
              !verbose && `All limits: kybatch doctor --verbose${lookFlags(args)}`,
            ],
            ' ',
          ),
        )
      : block('DOCTOR_PROBLEMS', `\n${count(failed.length, 'check')} failed`, problems.map(problemInWords)),
  );
}

/** The free space is on the line of the data folder. A deep check is not called a quick one. */
function merged(findings: readonly Finding[], deep: boolean): readonly Finding[] {
  const space = findings.find(({ check, state }) => check === 'disk space' && state === 'ok')?.short;
  return findings.flatMap((finding) => {
    const { check, state, short } = finding;
    if (deep && check === 'database' && state === 'ok') return [{ ...finding, short: finding.detail }];
    if (space === undefined || short === undefined || state !== 'ok') return [finding];
    if (check === 'disk space') return [];
    return [check === 'data directory' ? { ...finding, short: `${short}, ${space}` } : finding];
  });
}

const problemInWords = (detail: string): string => `\n  ${detail.replaceAll('\n', '\n  ')}`;

const labelOf = (check: string): string => LABELS[check] ?? check;

const LABELS: Readonly<Record<string, string>> = {
  configuration: 'provider',
  'data directory': 'data folder',
  database: 'ledger',
  mcp: 'MCP server',
  'mcp key': 'MCP server',
  'mcp base URL': 'MCP server',
  'mcp provider': 'MCP server',
  tls: 'TLS',
};

const STATES: Readonly<Record<Finding['state'], readonly [string, MessageState]>> = {
  ok: ['✓', 'done'],
  note: ['!', 'attention'],
  fail: ['✗', 'failed'],
};

const serverJson = (server: NonNullable<DoctorView['server']>) => ({
  ...pick(server, 'version', 'role'),
  roundTripMs: rounded(server.roundTripMs),
  clockAheadMs: rounded(server.clockAheadMs),
  schema: pick(server.ledger, 'has', 'needs'),
  connections: server.connections,
  tls: server.isEncrypted,
  ...pick(server, 'rightsMissing', 'unsafeSettings'),
});

const rounded = (ms: number): number => Math.round(ms * 10) / 10;
