import { type RunStanding, viewOf } from './run-view.js';
import { here, type PlaceOptions, withLedger } from './surroundings.js';

/** The runs of a data directory, the newest first. */
export function runs(options: PlaceOptions = {}, around = here()): Promise<readonly RunStanding[]> {
  return withLedger('read', options, around, async (ledger) =>
    Promise.all(
      (await ledger.runs.all()).map(async (run) => ({
        run: viewOf(run),
        progress: await ledger.runs.progress(run.id),
      })),
    ),
  );
}
