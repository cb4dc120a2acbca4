import { loadDataDir } from '../config/environment.js';
import { UsageError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { exportRun } from '../export/export-run.js';
import { noteExport } from '../export/places.js';
import { openLedgerForReading } from '../ledger/sqlite/ledger.js';
import { exportOptions } from './export-at-end.js';
import { type ExportFlags, readExportOptions } from './export-options.js';
import { findRun } from './find-run.js';
import type { CommonArgs, Verb } from './verb.js';

interface ExportArgs extends CommonArgs, ExportFlags {
  readonly run: string | undefined;
}

export const exportVerb: Verb<ExportArgs> = {
  command: 'export [run]',
  describe: 'Write the tables of a run again, from the raw bodies, for 0 units',
  builder: (yargs) =>
    yargs
      .positional('run', { type: 'string', describe: 'The run (default: the newest); one still going may be exported' })
      .option('out', exportOptions.out)
      .option('format', exportOptions.format)
      .option('bom', { type: 'boolean', describe: 'CSV with a byte order mark, for Excel' })
      .option('delimiter', { type: 'string', requiresArg: true, describe: 'CSV: , ; tab or | (default: ,)' })
      .option('include-contacts', { type: 'boolean', describe: 'E-mail and phone of people, too' })
      .option('partition-by', {
        choices: ['country'] as const,
        requiresArg: true,
        describe: 'Parquet in one folder per country',
      })
      .example('$0 export', 'the newest run, as CSV')
      .example('$0 export 2026-01-31-a1b2c3 --format csv,parquet', 'both formats')
      .example('$0 export --bom --delimiter ";"', 'for Excel in much of Europe')
      .epilogue('docs/tables.md describes every table. Exit code: 0 written, 2 no such run or an unusable folder.'),
  async run(args, io) {
    const dataDir = loadDataDir(io, args);
    const ledger = openLedgerForReading(dataDir);
    try {
      const run = await findRun(args.run, ledger);
      const snapshot = run && (await ledger.snapshot(run.id));
      if (snapshot === undefined) throw new UsageError('there is no run yet', '`kybatch run <input.csv>` makes one.');
      try {
        const options = readExportOptions(snapshot.run.id, dataDir, args, io);
        const summary = await exportRun(snapshot, options);
        noteExport(dataDir, { run: summary.run, folder: options.folder, at: summary.exported_at });
        if (args.json) io.stdout(`${JSON.stringify({ folder: options.folder, ...summary })}\n`);
        else io.stderr(`${describe(summary.tables)}\nRun ${summary.run}: the tables are in ${options.folder}\n`);
        return ExitCode.ok;
      } finally {
        await snapshot.close();
      }
    } finally {
      await ledger.close();
    }
  },
};

const describe = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([table, rows]) => `${String(rows).padStart(10)}  ${table}`)
    .join('\n');
