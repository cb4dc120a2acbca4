import { portfolios } from '../../app/portfolios.js';
import { ExitCode } from '../../domain/exit-codes.js';
import { aroundOf } from '../around.js';
import { portfoliosInWords, portfolioToJson } from '../terminal/portfolio-words.js';
import type { CommonArgs, Verb } from '../verb.js';

export const portfoliosVerb: Verb<CommonArgs> = {
  command: 'portfolios',
  describe: 'List the portfolios: members, oldest answer, what is due and what it costs',
  builder: (yargs) => yargs.example('$0 portfolios --json', 'for scripts'),
  async run({ dataDir, json }, io) {
    const views = await portfolios({ dataDir }, aroundOf(io));
    io.stdout(json ? `${JSON.stringify({ portfolios: views.map(portfolioToJson) })}\n` : portfoliosInWords(views));
    return ExitCode.ok;
  },
};
