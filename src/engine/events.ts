import type { CallEvent } from '../calls/events.js';
import type { Checkpoint, Progress } from '../ledger/runs.js';

/** What happens while a run is worked on, told when it is on disk. Displays and logs listen; nothing depends on them. */
export type RunEvent =
  | CallEvent
  /** Calls of a process that died: what they cost is not known yet. */
  | { readonly kind: 'lost_calls'; readonly count: number }
  /** What all who work on the run have come to by now, where there may be others. */
  | { readonly kind: 'counted'; readonly progress: Progress }
  | { readonly kind: 'row_settled'; readonly row: number; readonly checkpoint: Checkpoint };

export type Listen = (event: RunEvent) => void;
