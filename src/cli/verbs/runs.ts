import { runs } from '../../app/runs.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { placeFlags } from '../terminal/commands.js';
import { runsInWords, runToJson } from '../terminal/status-words.js';
import { withPlace } from '../terminal/text.js';
import type { CommonArgs, Verb } from '../verb.js';

export const runsVerb: Verb<CommonArgs> = {
  command: 'runs',
  describe: 'List the runs of this ledger, the newest first',
  builder: (yargs) => yargs.example('$0 runs --json', 'for scripts'),
  async run({ dataDir, json }, io) {
    const standings = await runs({ dataDir }, aroundOf(io));
    io.stdout(
      json
        ? `${JSON.stringify({ runs: standings.map(runToJson) })}\n`
        : withPlace(runsInWords(standings), placeFlags({ dataDir })),
    );
    return ExitCode.ok;
  },
};
