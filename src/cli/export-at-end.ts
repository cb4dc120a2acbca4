import { exportRun } from '../export/export-run.js';
import { noteExport } from '../export/places.js';
import type { Ledger, RunRecord } from '../ledger/ledger.js';
import { readExportOptions } from './export-options.js';
import type { Io } from './io.js';

export interface ExportArgs {
  readonly ledger: Ledger;
  readonly dataDir: string;
  /** `--out`, as given. */
  readonly out: string | undefined;
  /** `--format`, as given. */
  readonly format: string | undefined;
}

/** The tables of a run that has just been worked on. Returns the folder they are in, if any were written. */
export async function exportAtEnd(run: RunRecord, args: ExportArgs, io: Io): Promise<string | undefined> {
  const options = readExportOptions(run.id, args.dataDir, args, io);
  const snapshot = await args.ledger.snapshot(run.id);
  if (snapshot === undefined) return undefined;
  try {
    const { exported_at: at } = await exportRun(snapshot, options);
    noteExport(args.dataDir, { run: run.id, folder: options.folder, at });
    return options.folder;
  } finally {
    await snapshot.close();
  }
}

export const exportOptions = {
  export: {
    type: 'boolean',
    default: true,
    describe: 'Write the tables at the end; --no-export leaves that to `kybatch export`',
  },
  out: {
    type: 'string',
    requiresArg: true,
    describe: 'Where the tables go (default: exports/<run> in the data directory)',
  },
  format: { type: 'string', requiresArg: true, describe: 'csv, or csv,parquet (default: csv)' },
} as const;
