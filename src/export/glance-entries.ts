import type { GlanceEntry } from '../ledger/snapshot.js';
import type { Reader, ReaderOutput } from '../readers/reader.js';

/** What a reader tells of a subject at a glance, to be kept until its lines are written; none where it tells nothing. */
export function glanceEntries({ glance }: Reader, id: string, out: ReaderOutput): readonly GlanceEntry[] {
  const cells = glance?.(out) ?? {};
  return Object.keys(cells).length === 0 ? [] : [{ id, cells: JSON.stringify(cells) }];
}
