import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../domain/errors.js';
import { findExports } from '../export/export-folders.js';
import { ownFiles, removeExport } from '../export/remove-export.js';
import type { PruneReport } from '../ledger/housekeeping.js';
import { here, type PlaceOptions, withLedger } from './surroundings.js';

export interface PruneOptions extends PlaceOptions {
  /** What came to rest longer ago than this goes; a day at the least. */
  readonly olderThanMs: number;
  /** Asked once, with what would go, unless that is nothing. Without it nobody is asked. */
  readonly agree?: ((preview: PruneView) => Promise<boolean>) | undefined;
}

export interface PruneView {
  readonly outcome: 'removed' | 'nothing_found' | 'not_agreed';
  /** What came to rest before this goes. */
  readonly before: number;
  /** What went from the ledger; what would go, where it was not agreed to. */
  readonly report: PruneReport;
  /** Folders and files. */
  readonly exports: readonly string[];
  readonly logs: readonly string[];
  /** Of bodies, exports and logs together. */
  readonly bytes: number;
  /** Exports of that age outside of the data directory: they are the user's. */
  readonly elsewhere: readonly string[];
  /** Export folders that hold something of others, and stay. */
  readonly left: readonly string[];
}

const DAY_MS = 86_400_000;

/** Removes exports, logs and finished runs that are older than said; never the newest answer to anything. */
export function prune({ olderThanMs, agree, ...place }: PruneOptions, around = here()): Promise<PruneView> {
  if (!(olderThanMs >= DAY_MS && Number.isFinite(olderThanMs)))
    throw new UsageError('prune takes an age of one day or more', 'For example --older-than 90d.');
  const before = around.clock.now() - olderThanMs;
  return withLedger('existing', place, around, async ({ housekeeping }, dataDir) => {
    const found = await housekeeping.previewPrune(before);
    const exports = findExports(dataDir).filter(({ at }) => Date.parse(at) < before);
    const inside = exports.map(({ folder }) => folder).filter((folder) => dirname(folder) === join(dataDir, 'exports'));
    const logs = oldLogs(join(dataDir, 'logs'), before, found.unfinished);
    const preview: PruneView = {
      outcome: 'nothing_found',
      before,
      report: found,
      exports: inside,
      logs,
      bytes: found.bytes + sizeOf([...inside.flatMap(ownFiles), ...logs]),
      elsewhere: exports.map(({ folder }) => folder).filter((folder) => !inside.includes(folder)),
      left: [],
    };
    if (found.runs.length + found.calls + found.answers + inside.length + logs.length === 0) return preview;
    if (agree !== undefined && !(await agree(preview))) return { ...preview, outcome: 'not_agreed' };
    const report = await housekeeping.prune(before);
    for (const log of logs) rmSync(log);
    return { ...preview, outcome: 'removed', report, left: inside.filter((folder) => !removeExport(folder)) };
  });
}

/** A run that goes on keeps its log. */
function oldLogs(folder: string, before: number, unfinished: readonly string[]): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.log(?:\.\d+)?$/.test(name) && !unfinished.some((run) => name.startsWith(run)))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).mtimeMs < before);
}

const sizeOf = (files: readonly string[]): number => files.reduce((sum, path) => sum + statSync(path).size, 0);
