import type { ExportView } from '../../app/run/export.js';
import { ExitCode, UsageError } from '../../domain/errors.js';
import { message } from '../../util/message-parts.js';
import { count, shortRun } from '../../util/words.js';
import {
  FORMATS,
  formatOption,
  includeContactsOption,
  ofPortfolioOption,
  outOption,
  readFormats,
  register,
  textFlag,
} from '../command.js';
import { appEnvironment, printJson } from '../terminal/io.js';
import { keptInWords, lackInWords } from '../terminal/run-end-words.js';
import { partialInWords } from '../terminal/run-words.js';
import { block, countLines, labelLines, marked, type ViewPart, view } from '../terminal/view.js';

export const exportCommand = register({
  command: 'export [run]',
  describe: 'Write the tables of a run again, free',
  builder: (yargs) =>
    yargs
      .positional('run', {
        type: 'string',
        describe: 'The run, finished or not (default: the newest)',
      })
      .option('portfolio', ofPortfolioOption)
      .option('as-of', textFlag('The list as it was at the end of this day, YYYY-MM-DD (UTC)'))
      .option('out', outOption)
      .option('format', formatOption)
      .option('bom', { type: 'boolean', describe: 'CSV with a byte order mark, for Excel' })
      .option('delimiter', textFlag('CSV: , ; tab or | (default: ,)'))
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
    const { dataDir, run, portfolio, asOf, out, bom, includeContacts } = args;
    const formats = args.format === undefined ? undefined : readFormats(args.format, FORMATS);
    const partitionByCountry = args.partitionBy !== undefined;
    if (partitionByCountry && formats?.includes('parquet') !== true)
      throw new UsageError('PARTITION_NEEDS_PARQUET', '--partition-by splits Parquet files', 'Add --format parquet.');
    const { exportTables } = await import('../../app/run/export.js');
    const { folder, latest, workbook, kept, keptAnswers, summary, lack } = await exportTables(
      {
        dataDir,
        run,
        portfolio,
        asOf,
        out,
        formats,
        delimiter: readDelimiter(args.delimiter ?? ','),
        bom,
        defuse: args.csvDefuse !== 'off',
        includeContacts,
        partitionByCountry,
      },
      appEnvironment(io),
    );
    const { partial, rows_not_settled: open, input, as_of: past } = summary;
    const notes = view(past === undefined ? partialInWords({ partial, open, rows: input.rows }) : pastInWords(past));
    const warnings = view(keptInWords(kept, keptAnswers), lackInWords(lack));
    if (io.json)
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
            past === undefined ? `Tables of run ${shortRun(summary.run)} written` : `Tables as of ${past.day} written`,
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
});

function readDelimiter(text: string): string {
  const character = text === 'tab' || text === '\\t' ? '\t' : text;
  if (/^[,;\t|]$/.test(character)) return character;
  throw new UsageError(
    'DELIMITER_INVALID',
    `--delimiter: ${JSON.stringify(text)} cannot separate fields`,
    'Use a comma, a semicolon, tab or |.',
  );
}

/** What is not as it was on that day. */
const pastInWords = (past: NonNullable<ExportView['summary']['as_of']>): readonly ViewPart[] => {
  const { rows_changed_since: changed, rows_not_matched_then: later, answers_gone: gone } = past;
  return [
    changed > 0 &&
      message('PAST_ROWS_CHANGED', `${count(changed, 'row')} changed later: outcome, match and cells are the newest.`),
    later > 0 && message('PAST_ROWS_NOT_MATCHED', `${count(later, 'row')} matched later: pending, without data.`),
    gone > 0 && message('PAST_ANSWERS_GONE', `${count(gone, 'answer')} of that time pruned or erased: not shown.`),
  ];
};

/** Empty tables are written and not listed. */
const countsInWords = (counts: Readonly<Record<string, number>>): readonly string[] =>
  countLines(Object.entries(counts).map(([table, rows]) => [rows, table]));
