import { itemIds } from '../../api/all-operations.js';
import {
  type FoundExport,
  findExports,
  findKeptWorkbooks,
  type KeptWorkbook,
  namesInExport,
} from '../../export/export-folders.js';
import type { Housekeeping, PurgeProof, PurgeReport, PurgeRequest } from '../../ledger/erase/housekeeping.js';
import type { RunStore } from '../../ledger/rows/runs.js';
import { Inbox, isId } from '../../portfolio/watch/inbox.js';
import { type PlaceOptions, processEnvironment, withLedger } from '../environment.js';

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
  /** What could not be done once it was removed, in words: the same command finishes it. */
  readonly notProved: readonly string[];
  /** Exports are the user's: these still hold it. */
  readonly exports: readonly HoldingExport[];
  /** These may: nobody can tell by their text. */
  readonly exportsNotSearched: readonly HoldingExport[];
  /** Workbooks that somebody had worked in, kept beside their exports, that may hold it as well. */
  readonly workbooks: readonly KeptWorkbook[];
  /** The ledger is on a server: other machines may have exports of their own, and no file of it was searched. */
  readonly shared: boolean;
}

export interface HoldingExport extends FoundExport {
  /** Its run is still there: it can be written again. */
  readonly canBeWritten: boolean;
}

/** What `purge` would remove; nothing is changed. */
export function previewPurge(options: PreviewOptions, around = processEnvironment()): Promise<PurgeReport> {
  return withLedger('existing', options, around, ({ housekeeping }) =>
    housekeeping.previewPurge(options.request, itemIds),
  );
}

/** Removes one entity, or what is older than a time, for good, and looks whether anything still names it. */
export function purge({ request, agree, ...place }: PurgeOptions, around = processEnvironment()): Promise<PurgeView> {
  return withLedger('existing', place, around, async ({ housekeeping, runs, jobs }, dataDir) => {
    const shared = jobs !== undefined;
    // What can be refused is asked for before anything is removed.
    const exports = findExports(dataDir);
    const kept = findKeptWorkbooks(dataDir);
    const preview = await housekeeping.previewPurge(request, itemIds);
    const nothing = isNothing(preview);
    if (!nothing && agree !== undefined && !(await agree(preview)))
      return {
        outcome: 'not_agreed',
        report: preview,
        notProved: [],
        exports: [],
        exportsNotSearched: [],
        workbooks: [],
        shared,
      };
    const done = nothing ? await housekeeping.goOnPurge(request) : await housekeeping.purge(request, itemIds);
    // One that was removed before left no names behind: those of the request are looked for.
    const { identifiers } = nothing ? preview : (done ?? preview);
    const concerned = await concernedBy(request, done ?? preview, runs);
    const still = await holding(await chosen(exports, concerned), runs);
    if (done !== undefined) {
      // A callback may have named it meanwhile.
      new Inbox(dataDir).remove(identifiers.filter(isId));
      const proved = await proofOf(request, identifiers, done.notRewritten, housekeeping);
      const workbooks = await chosen(kept, concerned);
      return { outcome: 'removed', report: done, ...proved, exports: still, exportsNotSearched: [], workbooks, shared };
    }
    const proof = await search(request, identifiers, housekeeping);
    const found =
      request.kind === 'before'
        ? { exports: still, exportsNotSearched: [], workbooks: await chosen(kept, concerned) }
        : { ...(await look(exports, proof, runs)), workbooks: kept };
    return { outcome: 'nothing_found', report: preview, proof, notProved: [], ...found, shared };
  });
}

/** What was removed before is in no run any more, and nothing but the exports themselves tells which of them have it. */
async function look(exports: readonly FoundExport[], proof: PurgeProof | undefined, runs: RunStore) {
  const names = await Promise.all(exports.map(({ folder }) => namesInExport(folder, proof?.searched ?? [])));
  return {
    exports: await holding(
      exports.filter((_, index) => names[index] === true),
      runs,
    ),
    exportsNotSearched: await holding(
      exports.filter((_, index) => names[index] === undefined),
      runs,
    ),
  };
}

/** From here on it is removed: whatever fails is told with that, never instead of it. */
async function proofOf(
  request: PurgeRequest,
  identifiers: readonly string[],
  notRewritten: string | null,
  housekeeping: Housekeeping,
): Promise<Pick<PurgeView, 'proof' | 'notProved'>> {
  const notProved = notRewritten === null ? [] : [`${NOT_REWRITTEN} (${notRewritten})`];
  try {
    const proof = await search(request, identifiers, housekeeping);
    if (notProved.length === 0) await housekeeping.purgeProved(request);
    return { proof, notProved };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { notProved: [...notProved, `the database could not be searched for it (${why})`] };
  }
}

const search = async ({ kind }: PurgeRequest, identifiers: readonly string[], { searchEverywhere }: Housekeeping) =>
  kind === 'before' ? undefined : await searchEverywhere(identifiers);

const NOT_REWRITTEN = 'the database file could not be written anew, and may still hold parts of it that no table shows';

const isNothing = ({ rows, answers, bodies, candidates, questions, decisions, changes }: PurgeReport): boolean =>
  rows + answers + bodies + candidates + questions + decisions + changes === 0;

type Concerned = (made: Pick<FoundExport, 'run' | 'at'>) => Promise<boolean>;

/** What was made of the runs concerned, and of all others of their portfolios: each shows the whole list. For a date, what was made before it, too. */
async function concernedBy(request: PurgeRequest, report: PurgeReport, runs: RunStore): Promise<Concerned> {
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
