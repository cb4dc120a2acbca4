import { fieldsOf, isImportant } from '../../domain/change.js';
import { importantNames } from '../../export/changes-table.js';
import type { MemberChange } from '../../ledger/changes.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { RunRecord } from '../../ledger/runs.js';

const AT_ONCE = 1000;

/** The last change that is noted by now. */
export const lastChange = async ({ changes }: Pick<Ledger, 'changes'>): Promise<number> =>
  (await changes.list({ limit: 0 })).last;

/** How many of those that a run has brought since then matter; null: it is of no list. */
export async function importantSince(
  after: number,
  run: RunRecord,
  { changes }: Pick<Ledger, 'changes'>,
): Promise<number | null> {
  if (run.portfolioId === null) return null;
  const names = importantNames(run);
  // What better readers have found in older answers is no news of this night.
  const matter = ({ runId, items }: MemberChange) =>
    runId === run.id ? items.flatMap(fieldsOf).filter((field) => isImportant(field, names)).length : 0;
  let count = 0;
  for (let from = after; ; ) {
    const page = await changes.list({ portfolioIds: [run.portfolioId], after: from, limit: AT_ONCE });
    count += page.changes.reduce((sum, change) => sum + matter(change), 0);
    if (!page.more) return count;
    from = page.last;
  }
}
