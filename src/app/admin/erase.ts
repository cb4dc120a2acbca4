// Deletes the data of an entity or before a date, and proves it.

import { itemIds } from '../../api/all-operations.js';
import {
  type FoundExport,
  findExports,
  findKeptWorkbooks,
  type KeptWorkbook,
  namesInExport,
} from '../../export/export-folders.js';
import type { EraseProof, EraseReport, EraseRequest } from '../../ledger/erase/housekeeping.js';
import type { Housekeeping } from '../../ledger/erase/housekeeping-store.js';
import type { RunStore } from '../../ledger/rows/run-store.js';
import { Inbox, isId } from '../../portfolio/watch/inbox.js';
import { type PlaceOptions, processEnvironment, withLedger } from '../environment.js';

export interface PreviewOptions extends PlaceOptions {
  readonly request: EraseRequest;
}

export interface EraseOptions extends PreviewOptions {
  /** Called with the preview, unless it is empty, while no other process can write. Default: nobody is asked. */
  readonly agree?: ((preview: EraseReport) => Promise<boolean>) | undefined;
}

export interface EraseView {
  readonly outcome: 'removed' | 'nothing_found' | 'not_agreed';
  /** The removed data, or the preview if it was not agreed to. */
  readonly report: EraseReport;
  /** A search of the remaining data for what was removed. Absent if it has no name or nothing was to be done. */
  readonly proof?: EraseProof | undefined;
  /** Steps that failed after the removal, in words. The same command finishes them. */
  readonly notProved: readonly string[];
  /** Exports that still contain it. They belong to the user. */
  readonly exports: readonly HoldingExport[];
  /** Exports that may contain it, but cannot be searched as text. */
  readonly exportsNotSearched: readonly HoldingExport[];
  /** Workbooks that a person edited, kept beside their exports, which may contain it too. */
  readonly workbooks: readonly KeptWorkbook[];
  /** The ledger is on a server. Other machines may have their own exports, which were not searched. */
  readonly shared: boolean;
}

export interface HoldingExport extends FoundExport {
  /** Its run still exists, so it can be written again. */
  readonly canBeWritten: boolean;
}

export function previewErase(options: PreviewOptions, environment = processEnvironment()): Promise<EraseReport> {
  return withLedger('existing', options, environment, ({ housekeeping }) =>
    housekeeping.previewErase(options.request, itemIds),
  );
}

/** Deletes one entity, or data older than a time, for good. Then it searches for remaining traces. */
export function erase(
  { request, agree, ...place }: EraseOptions,
  environment = processEnvironment(),
): Promise<EraseView> {
  return withLedger('existing', place, environment, async ({ housekeeping, runs, claims }, { dataDir }) => {
    const shared = claims !== undefined;
    // Everything that can be refused is checked before anything is removed.
    const exports = findExports(dataDir);
    const kept = findKeptWorkbooks(dataDir);
    const preview = await housekeeping.previewErase(request, itemIds);
    const nothing = isNothing(preview);
    if (!nothing && agree !== undefined && !(await agree(preview))) {
      const untouched = { notProved: [], exports: [], exportsNotSearched: [], workbooks: [] };
      return { outcome: 'not_agreed', report: preview, ...untouched, shared };
    }
    const done = nothing ? await housekeeping.resumeErase(request) : await housekeeping.erase(request, itemIds);
    // An entity removed earlier left no names behind, so those of the request are searched for.
    const { identifiers } = nothing ? preview : (done ?? preview);
    const concerned = await concernedBy(request, done ?? preview, runs);
    // A callback may have named it again meanwhile.
    if (done !== undefined) new Inbox(dataDir).remove(identifiers.filter(isId));
    const proved =
      done === undefined
        ? { proof: await search(request, identifiers, housekeeping), notProved: [] }
        : await proofOf(request, identifiers, done.notRewritten, housekeeping);
    const made = await exportsWith(proved.proof?.searched ?? [], exports, concerned, request, runs);
    const isAnywhere = request.kind !== 'before' && done === undefined;
    const workbooks = isAnywhere ? kept : await chosen(kept, concerned);
    const outcome = done === undefined ? 'nothing_found' : 'removed';
    return { outcome, report: done ?? preview, ...proved, ...made, workbooks, shared };
  });
}

/** The ledger does not know all runs whose exports contain it. Only the exports themselves show the others. */
async function exportsWith(
  identifiers: readonly string[],
  exports: readonly FoundExport[],
  concerned: Concerned,
  { kind }: EraseRequest,
  runs: RunStore,
): Promise<Pick<EraseView, 'exports' | 'exportsNotSearched'>> {
  const found = await Promise.all(
    exports.map(
      async (made) => (await concerned(made)) || (kind !== 'before' && namesInExport(made.folder, identifiers)),
    ),
  );
  const thatAre = (state: boolean | undefined) => exports.filter((_, index) => found[index] === state);
  return {
    exports: await holding(thatAre(true), runs),
    exportsNotSearched: await holding(thatAre(undefined), runs),
  };
}

/** The data is removed by now, so any failure is reported with that, never instead of it. */
async function proofOf(
  request: EraseRequest,
  identifiers: readonly string[],
  notRewritten: string | null,
  housekeeping: Housekeeping,
): Promise<Pick<EraseView, 'proof' | 'notProved'>> {
  const failed = 'the ledger file could not be rewritten, and may still contain deleted bytes';
  const notProved = notRewritten === null ? [] : [`${failed} (${notRewritten})`];
  try {
    const proof = await search(request, identifiers, housekeeping);
    if (notProved.length === 0) await housekeeping.forgetProvedErase(request);
    return { proof, notProved };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { notProved: [...notProved, `the database could not be searched for it (${why})`] };
  }
}

const search = async ({ kind }: EraseRequest, identifiers: readonly string[], { searchEverywhere }: Housekeeping) =>
  kind === 'before' ? undefined : await searchEverywhere(identifiers);

const isNothing = ({ rows, answers, bodies, candidates, questions, decisions, changes }: EraseReport): boolean =>
  rows + answers + bodies + candidates + questions + decisions + changes === 0;

type Concerned = (made: Pick<FoundExport, 'run' | 'at'>) => Promise<boolean>;

/** Exports of the affected runs and of other runs of their lists, which show the same. For a date, also older ones. */
async function concernedBy(request: EraseRequest, report: EraseReport, runs: RunStore): Promise<Concerned> {
  const listOf = async (run: string) => (await runs.find(run))?.portfolioId ?? null;
  const lists = new Set(await Promise.all(report.runs.map(listOf)));
  lists.delete(null);
  return async ({ run, at }) =>
    report.runs.includes(run) ||
    (request.kind === 'before' && Date.parse(at) < request.at) ||
    lists.has(await listOf(run));
}

async function chosen<T extends Pick<FoundExport, 'run' | 'at'>>(made: readonly T[], concerned: Concerned) {
  const holds = await Promise.all(made.map(concerned));
  return made.filter((_, index) => holds[index]);
}

const holding = (exports: readonly FoundExport[], runs: RunStore): Promise<readonly HoldingExport[]> =>
  Promise.all(exports.map(async (made) => ({ ...made, canBeWritten: (await runs.find(made.run)) !== undefined })));
