// How much room a run needs on the disk of the data directory.

import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FoundExport, readMarker } from '../../export/export-folders.js';
import type { PortfolioRecord } from '../../ledger/portfolio/portfolios.js';
import { bytesInWords, type MessageCode } from '../../util/message-parts.js';
import type { AppEnvironment, Workplace } from '../environment.js';
import { freeSpace } from './guards.js';
import { exportsIn, newestOf } from './run-end.js';
import { findSettings } from './stored-settings.js';

/** Measured on the sandbox with four pipelines: 4 to 6 KB an answer, and tables with 5 to 120 KB a row. */
const ANSWER_BYTES = 6_000;
const ROW_BYTES = 100_000;

export interface DiskNeed {
  /** About what the run writes: answers, and a new folder of tables. */
  readonly bytes: number;
  /** Null: the file system does not say. */
  readonly free: number | null;
}

/** The need of a planned run. `lastRun`: its tables show how large a row is. `isFile`: the ledger is on this disk. */
export function plannedNeed(
  { rows, answers, lastRun }: { readonly rows: number; readonly answers: number; readonly lastRun: string | null },
  isFile: boolean,
  dataDir: string,
  environment: AppEnvironment,
): DiskNeed {
  const written = lastRun === null ? undefined : writtenTables(({ run }) => run === lastRun, dataDir);
  const perRow = written === undefined || written.rows === 0 ? ROW_BYTES : written.bytes / written.rows;
  const bytes = Math.round(rows * perRow) + (isFile ? answers * ANSWER_BYTES : 0);
  return { bytes, free: freeSpace(dataDir, environment) ?? null };
}

export interface UpdateDiskNeed extends DiskNeed {
  /** For three nights. Lists with `export.keep` replace their tables. */
  readonly threeNights: number;
}

/** The need of a night in which every list is updated as the last time. */
export async function diskNeedOfUpdate(
  known: readonly PortfolioRecord[],
  workplace: Workplace,
): Promise<UpdateDiskNeed> {
  const { dataDir, ledger } = workplace;
  const { portfolios, reading, runs, claims } = ledger;
  let bytes = 0;
  let threeUpdates = 0;
  const lists = await runs.ofLists();
  for (const { id } of known) {
    const run = await portfolios.lastRun(id);
    if (run === undefined) continue;
    // An attempt that broke off shows less than a night needs.
    const written = writtenTables(({ run: other }) => lists.get(other) === id, dataDir);
    const calls = claims === undefined ? await reading.charged({ run: written?.run ?? run.id }) : [];
    const answers = calls.reduce((sum, one) => sum + one.calls, 0) * ANSWER_BYTES;
    const tables = written?.bytes ?? 0;
    const keeps = (findSettings(run)?.pipeline.keepExports ?? null) !== null;
    bytes += answers + tables;
    threeUpdates += 3 * answers + (keeps ? 1 : 3) * tables;
  }
  return { bytes, threeNights: threeUpdates, free: freeSpace(dataDir, workplace) ?? null };
}

/** Null: there is room for three nights. */
export function shortage({ bytes, threeNights, free }: UpdateDiskNeed): { code: MessageCode; message: string } | null {
  if (free === null || free >= threeNights) return null;
  const message = `${bytesInWords(free)} free, and a run writes about ${bytesInWords(bytes)}: no room for three runs. To remove old tables: \`kybatch prune\`, or \`export.keep\` in the pipeline.`;
  return { code: 'DISK_SHORT', message };
}

/** Rows and size of the newest of these tables in the data directory. Other folders may be on another disk. */
function writtenTables(isMeant: (found: FoundExport) => boolean, dataDir: string) {
  const newest = newestOf(
    exportsIn(dataDir).filter((found) => isMeant(found) && dirname(found.folder) === join(dataDir, 'exports')),
  );
  const marker = newest && readMarker(newest.folder);
  if (newest === undefined || marker === undefined) return undefined;
  const sizeOf = (file: string) => statSync(join(newest.folder, file), { throwIfNoEntry: false })?.size ?? 0;
  return { run: newest.run, rows: marker.rows, bytes: marker.files.reduce((sum, file) => sum + sizeOf(file), 0) };
}
