import { namedRun } from './find-run.js';
import { type RunStanding, viewOf } from './run-view.js';
import { here, type PlaceOptions, withLedger } from './surroundings.js';

export interface DropRunOptions extends PlaceOptions {
  readonly run: string;
  /** Asked with the run as it stands. Without it nobody is asked. */
  readonly agree?: ((standing: RunStanding) => Promise<boolean>) | undefined;
}

export interface DropRunView extends RunStanding {
  readonly dropped: boolean;
}

/**
 * Takes a run away that nobody wants to go on with. Nothing is lost but where its rows stood: what was bought stays owned,
 * what was spent stays in the books, and its tables and its log stay where they are.
 */
export function dropRun({ run: id, agree, ...place }: DropRunOptions, around = here()): Promise<DropRunView> {
  return withLedger('existing', place, around, async ({ runs, housekeeping }) => {
    const run = await namedRun(id, { runs });
    const standing = { run: viewOf(run), progress: await runs.progress(run.id) };
    const dropped = agree === undefined || (await agree(standing));
    if (dropped) await housekeeping.dropRun(run.id);
    return { ...standing, dropped };
  });
}
