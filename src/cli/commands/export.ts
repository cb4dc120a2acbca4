import { ExitCode } from '../../domain/errors.js';
import { shortRun } from '../../util/words.js';
import {
  type Command,
  type CommonArgs,
  formatOption,
  includeContactsOption,
  outOption,
  readTableFlags,
  type TableFlags,
} from '../command.js';
import { appEnvironment, printJson } from '../terminal/io.js';
import { keptInWords, lackInWords, partialInWords } from '../terminal/run-words.js';
import { placeFlags } from '../terminal/suggestions.js';
import { block, countLines, labelLines, marked, view } from '../terminal/view.js';

interface ExportArgs extends CommonArgs, TableFlags {
  readonly run: string | undefined;
}

export const exportCommand: Command<ExportArgs> = {
  command: 'export [run]',
  describe: 'Write the tables of a run again, free',
  builder: (yargs) =>
    yargs
      .positional('run', {
        type: 'string',
        describe: 'The run, finished or not (default: the newest)',
      })
      .option('out', outOption)
      .option('format', formatOption)
      .option('bom', { type: 'boolean', describe: 'CSV with a byte order mark, for Excel' })
      .option('delimiter', {
        type: 'string',
        requiresArg: true,
        describe: 'CSV: , ; tab or | (default: ,)',
      })
      .option('csv-defuse', {
        choices: ['on', 'off'] as const,
        requiresArg: true,
        describe: 'Apostrophe before formulas. off: for programs',
      })
      .option('include-contacts', includeContactsOption)
      .option('partition-by', {
        choices: ['country'] as const,
        requiresArg: true,
        describe: 'Parquet in one folder per country',
      }),
  async run(args, io) {
    const { dataDir, run } = args;
    const { exportTables } = await import('../../app/run/export.js');
    const { folder, latest, workbook, kept, keptAnswers, summary, lack } = await exportTables(
      { dataDir, run, ...readTableFlags(args) },
      appEnvironment(io),
    );
    const { partial, rows_not_settled: open, input } = summary;
    const notes = view(partialInWords({ partial, open, rows: input.rows }));
    const warnings = view(keptInWords(kept, keptAnswers, placeFlags(args)), lackInWords(lack));
    if (args.json)
      printJson(
        io,
        { folder, latest: latest ?? undefined, workbook, resultsEdited: kept ?? undefined, ...summary },
        view(notes, warnings),
      );
    else
      io.say(
        view(
          marked(
            'TABLES_WRITTEN',
            'done',
            `Tables of run ${shortRun(summary.run)} written`,
            '',
            countsInWords(summary.tables),
          ),
          block(
            'RESULTS_WRITTEN',
            '',
            labelLines([
              ['Results', workbook],
              ['Tables', folder],
              ['Latest', latest],
            ]),
          ),
        ),
        'stdout',
      );
    io.say(notes);
    io.say(warnings, 'alert');
    return lack === null ? ExitCode.ok : ExitCode.internal;
  },
};

/** Empty tables are written and not listed. */
const countsInWords = (counts: Readonly<Record<string, number>>): readonly string[] =>
  countLines(Object.entries(counts).map(([table, rows]) => [rows, table]));
