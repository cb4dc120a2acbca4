import type { DoctorView } from '../../app/admin/doctor.js';
import { type MessageState, message } from '../../util/message-parts.js';
import { type Command, type ProviderArgs, sandboxOption } from '../command.js';
import { appEnvironment, printResult } from '../terminal/io.js';
import { contactsJson, useJson } from '../terminal/run-words.js';
import { callAgain, placeFlags } from '../terminal/suggestions.js';
import { withPlace } from '../terminal/text.js';
import { pick } from '../terminal/view.js';

interface DoctorArgs extends ProviderArgs {
  readonly deep: boolean;
  readonly pipeline: string | undefined;
}

export const doctorCommand: Command<DoctorArgs> = {
  command: 'doctor',
  describe: 'Check configuration, keys, data folder and ledger',
  builder: (yargs) =>
    yargs
      .option('sandbox', sandboxOption)
      .option('deep', {
        type: 'boolean',
        default: false,
        describe: 'Compare every stored answer with its digest, and read every record, too',
      })
      .option('pipeline', {
        type: 'string',
        requiresArg: true,
        describe: 'Fail where this pipeline (a name or a file) lacks something',
      }),
  async run(args, io) {
    const { dataDir, sandbox, deep, pipeline } = args;
    const { doctor } = await import('../../app/admin/doctor.js');
    const { findings, v2, server, exit } = await doctor(
      { dataDir, sandbox, deep, pipeline, callAgain: (answer) => callAgain(answer, args) },
      appEnvironment(io),
    );
    const place = placeFlags(args);
    const shown = findings.map((finding) => ({
      ...pick(finding, 'check', 'state', 'code'),
      detail: withPlace(finding.detail, place),
    }));
    printResult(
      io,
      args,
      () => ({
        findings: shown,
        v2Permissions: v2.use?.map(useJson) ?? null,
        v2Contacts: v2.contacts && contactsJson(v2.contacts),
        postgres: server && serverJson(server),
      }),
      () =>
        shown.map(({ check, state, code, detail }) =>
          message(code, `${state.padEnd(4)}  ${check.padEnd(16)} ${detail}`, STATES[state]),
        ),
    );
    return exit;
  },
};

const STATES: Readonly<Record<DoctorView['findings'][number]['state'], MessageState | undefined>> = {
  ok: 'done',
  note: undefined,
  fail: 'failed',
};

/** Figures for monitoring. */
const serverJson = (server: NonNullable<DoctorView['server']>) => ({
  ...pick(server, 'version', 'role'),
  roundTripMs: rounded(server.roundTripMs),
  clockAheadMs: rounded(server.clockAheadMs),
  schema: pick(server.ledger, 'has', 'needs'),
  queueSchema: pick(server.queue, 'name', 'has', 'needs'),
  connections: server.connections,
  tls: server.isEncrypted,
  ...pick(server, 'rightsMissing', 'unsafeSettings'),
});

const rounded = (ms: number): number => Math.round(ms * 10) / 10;
