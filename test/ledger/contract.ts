import { describe } from 'vitest';
import { describeAskedFor } from './contract/asked-for.js';
import { describeChanges } from './contract/changes.js';
import { describeDoubts } from './contract/doubts.js';
import { describeLostCalls } from './contract/lost-calls.js';
import { describeMoney } from './contract/money.js';
import type { OpenLedger } from './contract/open.js';
import { describePortfolios } from './contract/portfolios.js';
import { describeReading } from './contract/reading.js';
import { describeReview } from './contract/review.js';
import { describeRows } from './contract/rows.js';
import { describeRuns } from './contract/runs.js';
import { describeSecondPerson } from './contract/second-person.js';
import { describeSettledRows } from './contract/settle-row.js';
import { describeSettling } from './contract/settling.js';
import { describeSnapshot } from './contract/snapshot.js';
import { describeStarts } from './contract/starts.js';
import { describeSubjects } from './contract/subjects.js';
import { describeWatches } from './contract/watches.js';

/** The contract of every ledger. It knows neither files nor SQL. */
export function describeLedger(name: string, open: OpenLedger): void {
  describe(name, () => {
    describeStarts(open);
    describeMoney(open);
    describeSettling(open);
    describeLostCalls(open);
    describeDoubts(open);
    describeRuns(open);
    describeRows(open);
    describeSettledRows(open);
    describePortfolios(open);
    describeChanges(open);
    describeWatches(open);
    describeReview(open);
    describeSecondPerson(open);
    describeReading(open);
    describeSnapshot(open);
    describeSubjects(open);
    describeAskedFor(open);
  });
}
