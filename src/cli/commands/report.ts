import { message } from '../../util/message-parts.js';
import { ofPortfolioOption, register, textFlag } from '../command.js';
import { appEnvironment, printResult } from '../terminal/io.js';

export const reportCommand = register({
  command: 'report [run]',
  describe: 'Write one HTML file about a run, to send on or print',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest)' })
      .option('portfolio', ofPortfolioOption)
      .option('out', textFlag('File to write (default: report-<run>.html)')),
  async run({ dataDir, run, portfolio, out }, io) {
    const { writeReport } = await import('../../app/run/export.js');
    const file = await writeReport({ dataDir, run, portfolio, out }, appEnvironment(io));
    printResult(io, { file }, message('REPORT_WRITTEN', `✓ Report written: ${file}`, 'done'));
  },
});
