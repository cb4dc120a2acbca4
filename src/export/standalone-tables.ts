import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Row, Table } from '../readers/table.js';
import { writeFolder, writeJson } from './atomic-folder.js';
import { describePackage } from './data-package.js';
import { DATA_PACKAGE, SUMMARY } from './export-folders.js';
import type { ExportOptions } from './formats/format.js';
import { allFormats, withFormats } from './formats/list.js';
import { notWritten, Outputs } from './outputs.js';
import { exportProvenance } from './summary.js';

/** Tables without a run, in their own folder with the same formats, data package and summary. */
export interface StandaloneTables {
  /** The command that made them, instead of a run: `vocab`, `prospect`. */
  readonly by: string;
  readonly title: string;
  readonly tables: readonly { readonly table: Table; readonly rows: readonly Row[] }[];
  /** Additional members of the summary. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The folder appears when it is complete, and only replaces one of ours. */
export const writeStandaloneTables = (side: StandaloneTables, options: ExportOptions): Promise<void> =>
  writeFolder(options.folder, undefined, (folder) => fill(folder, side, options));

async function fill(
  folder: string,
  { by, title, tables, facts }: StandaloneTables,
  options: ExportOptions,
): Promise<void> {
  const scratch = join(folder, '.scratch');
  mkdirSync(scratch, { mode: 0o700 });
  await withFormats({ folder, scratch, options }, allFormats, async (opened) => {
    const declared = tables.map(({ table }) => ({ table, furtherColumns: [], bought: false }));
    const outputs = new Outputs(declared, opened, options.includeContacts);
    for (const { table, rows } of tables) outputs.write(table.name, rows);
    const { resources, unwritten } = await outputs.finish(folder);
    if (unwritten.length > 0) throw notWritten(unwritten[0]);
    rmSync(scratch, { recursive: true });
    const createdAt = new Date(options.now).toISOString();
    const head = { name: by, title, remark: '', more: {}, createdAt };
    writeJson(join(folder, DATA_PACKAGE), describePackage(resources, options, head));
    const versions = Object.assign({}, ...opened.map(({ writer }) => writer.versions)) as Record<string, string>;
    writeJson(join(folder, SUMMARY), {
      run: by,
      exported_at: createdAt,
      ...facts,
      tables: outputs.counts(),
      ...exportProvenance(resources, versions, options),
    });
  });
}
