import { portfolios } from '../../app/portfolios.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { onlySandboxOption, type ProviderArgs } from '../provider-flags.js';
import { placeFlags } from '../terminal/commands.js';
import { portfoliosInWords, portfolioToJson } from '../terminal/portfolio-words.js';
import { withPlace } from '../terminal/text.js';
import type { Verb } from '../verb.js';

export const portfoliosVerb: Verb<ProviderArgs> = {
  command: 'portfolios',
  describe: 'List the portfolios: members, oldest answer, what is due and what it costs',
  builder: (yargs) => yargs.option('sandbox', onlySandboxOption).example('$0 portfolios --json', 'for scripts'),
  async run({ dataDir, sandbox, json }, io) {
    const views = await portfolios({ dataDir, sandbox }, aroundOf(io));
    io.stdout(
      json
        ? `${JSON.stringify({ portfolios: views.map(portfolioToJson) })}\n`
        : withPlace(portfoliosInWords(views), placeFlags({ dataDir })),
    );
    return ExitCode.ok;
  },
};
