import { ExitCode } from '../../domain/errors.js';
import { message } from '../../util/message-parts.js';
import { type Command, type CommonArgs, ofPortfolioOption } from '../command.js';
import { appEnvironment, printResult } from '../terminal/io.js';

interface ReportArgs extends CommonArgs {
  readonly run: string | undefined;
  readonly portfolio?: string | undefined;
  readonly out: string | undefined;
}

export const reportCommand: Command<ReportArgs> = {
  command: 'report [run]',
  describe: 'Write one HTML file about a run, to send on or print',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest)' })
      .option('portfolio', ofPortfolioOption)
      .option('out', { type: 'string', requiresArg: true, describe: 'File to write (default: report-<run>.html)' }),
  async run({ dataDir, run, portfolio, out, json }, io) {
    const { writeReport } = await import('../../app/run/export.js');
    const file = await writeReport({ dataDir, run, portfolio, out }, appEnvironment(io));
    printResult(
      io,
      { json },
      () => ({ file }),
      () => message('REPORT_WRITTEN', `✓ Report written: ${file}`, 'done'),
    );
    return ExitCode.ok;
  },
};
