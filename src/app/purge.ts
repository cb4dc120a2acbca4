import { itemIds } from '../api/item-ids.js';
import { type ExportFolder, findExports } from '../export/export-folders.js';
import type { PurgeProof, PurgeReport, PurgeRequest } from '../ledger/housekeeping.js';
import { here, type PlaceOptions, withLedger } from './surroundings.js';

export interface PreviewOptions extends PlaceOptions {
  readonly request: PurgeRequest;
}

export interface PurgeOptions extends PreviewOptions {
  /**
   * Asked once, with what would go, before it goes; nobody else can write meanwhile. Without it nobody is asked. It is
   * not asked about nothing.
   */
  readonly agree?: ((preview: PurgeReport) => Promise<boolean>) | undefined;
}

export interface PurgeView {
  readonly outcome: 'removed' | 'nothing_found' | 'not_agreed';
  /** What went; what would go, where it was not agreed to. */
  readonly report: PurgeReport;
  /** A search of what is left for what went; absent where that has no name, or nothing was to be done. */
  readonly proof?: PurgeProof | undefined;
  /** Exports are the user's: these still hold it. */
  readonly exports: readonly ExportFolder[];
}

/** What `purge` would remove; nothing is changed. */
export function previewPurge(options: PreviewOptions, around = here()): Promise<PurgeReport> {
  return withLedger('existing', options, around, ({ housekeeping }) =>
    housekeeping.previewPurge(options.request, itemIds),
  );
}

/** Removes one entity, or what is older than a time, for good, and looks whether anything still names it. */
export function purge({ request, agree, ...place }: PurgeOptions, around = here()): Promise<PurgeView> {
  return withLedger('existing', place, around, async ({ housekeeping }, dataDir) => {
    const preview = await housekeeping.previewPurge(request, itemIds);
    const nothing = isNothing(preview);
    if (!nothing && agree !== undefined && !(await agree(preview)))
      return { outcome: 'not_agreed', report: preview, exports: [] };
    const report = nothing ? preview : await housekeeping.purge(request, itemIds);
    return {
      outcome: nothing ? 'nothing_found' : 'removed',
      report,
      proof: request.kind === 'before' ? undefined : await housekeeping.searchEverywhere(report.identifiers),
      exports: stillHolding(request, report, findExports(dataDir)),
    };
  });
}

const isNothing = ({ rows, answers, bodies, candidates, questions, decisions }: PurgeReport): boolean =>
  rows + answers + bodies + candidates + questions + decisions === 0;

/** Exports of the runs concerned; for a date, those made before it, too. */
const stillHolding = (request: PurgeRequest, report: PurgeReport, exports: readonly ExportFolder[]) =>
  exports.filter(
    ({ run, at }) => report.runs.includes(run) || (request.kind === 'before' && Date.parse(at) < request.at),
  );
