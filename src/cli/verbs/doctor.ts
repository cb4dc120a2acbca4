import { doctor } from '../../app/doctor.js';
import { aroundOf } from '../around.js';
import { type ProviderArgs, sandboxOption } from '../provider-flags.js';
import type { Verb } from '../verb.js';

export const doctorVerb: Verb<ProviderArgs> = {
  command: 'doctor',
  describe: 'Check configuration, keys (for 0 units), data directory, disk space and database',
  builder: (yargs) =>
    yargs
      .option('sandbox', sandboxOption)
      .epilogue(
        'Exit code: 0 well, 1 a full disk or a damaged database, 2 configuration, 5 a key is refused, 6 a provider cannot be reached.',
      ),
  async run({ dataDir, sandbox, json }, io) {
    const { findings, exit } = await doctor({ dataDir, sandbox }, aroundOf(io));
    const told = findings.map(({ check, state, detail }) => ({ check, state, detail }));
    if (json) io.stdout(`${JSON.stringify({ findings: told })}\n`);
    else for (const { check, state, detail } of told) io.stderr(`${state.padEnd(4)}  ${check.padEnd(16)} ${detail}\n`);
    return exit;
  },
};
