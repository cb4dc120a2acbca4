import { usage } from '../../app/usage.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { placeFlags } from '../terminal/commands.js';
import { withPlace } from '../terminal/text.js';
import { usageInWords, usageToJson } from '../terminal/usage-words.js';
import type { CommonArgs, Verb } from '../verb.js';

const UNKNOWN_SHOWN = 20;

export const usageVerb: Verb<CommonArgs> = {
  command: 'usage',
  describe: 'Units and allowance by day, operation and run; calls with unknown charge; drift from the provider',
  builder: (yargs) =>
    yargs
      .example('$0 usage --json', 'for scripts')
      .epilogue(
        'v1 counts in units, one for each success. v2 does not: its calls are counted, and what it counts itself is shown as the last start, or `kybatch doctor`, was told. Nothing is sent. An owned answer costs nothing.',
      ),
  async run({ dataDir, json }, io) {
    const view = await usage({ dataDir, unknownAtMost: json ? undefined : UNKNOWN_SHOWN }, aroundOf(io));
    io.stdout(json ? `${JSON.stringify(usageToJson(view))}\n` : withPlace(usageInWords(view), placeFlags({ dataDir })));
    return ExitCode.ok;
  },
};
