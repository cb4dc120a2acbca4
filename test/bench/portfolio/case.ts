/** One size: a portfolio whose members all came to rest, then the nights that are measured. Prints JSON. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpenList } from '../../../src/app/portfolio.js';
import { loadPipeline } from '../../../src/config/pipeline.js';
import { readInput } from '../../../src/input/read-input.js';
import { openLedger } from '../../../src/ledger/open-ledger.js';

export interface NightCost {
  readonly members: number;
  readonly same: { readonly readMs: number; readonly dueMs: number };
  readonly changed: { readonly layMs: number; readonly dueMs: number };
  readonly quietBytes: number;
  readonly rssMb: number;
}

const members = Number(process.argv[2] ?? 20_000);
const DAY = 86_400_000;
const BEGUN = Date.parse('2026-01-05T01:00:00Z');
const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
const input = join(folder, 'in.csv');
const pipeline = loadPipeline('nightly', folder);
const names = { v1: 'bench', v2: 'bench' };
const ledger = openLedger({ dataDir: folder, now: BEGUN, access: 'write' });

function write(note: string): void {
  const lines = ['id,name,country,registration_number,note'];
  for (let index = 0; index < members; index++)
    lines.push(
      `C${index},Company ${index} Ltd,GB,${String(1_000_000 + index).padStart(8, '0')},${index === 7 ? note : ''}`,
    );
  writeFileSync(input, `${lines.join('\n')}\n`);
}

const listAt = async (now: number) => {
  const table = await readInput(input, {});
  return await OpenList.open({ table, pipeline, limit: null, fresh: false, portfolio: 'bench' }, names, ledger, now);
};

async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const before = performance.now();
  const result = await work();
  return [result, performance.now() - before];
}

/** One in a hundred is stale a week later, the others are not. */
const fetchedAt = (row: number) => BEGUN + (row % 100 === 0 ? 0 : 4 * DAY);

write('');
const first = await (await listAt(BEGUN)).begin();
const run = first.run?.id ?? '';
for (let row = 1; row <= members; row += 500)
  await Promise.all(Array.from({ length: Math.min(500, members - row + 1) }, (_, offset) => settle(row + offset)));
await ledger.runs.finish(run, BEGUN);

async function settle(row: number): Promise<void> {
  const at = fetchedAt(row);
  await ledger.runs.settleRow(run, row, {
    checkpoint: {
      outcome: 'complete',
      hold: null,
      holdReason: null,
      nextAt: null,
      stage: 'financials',
      stages: { record: 'done', financials: 'done' },
      fetched: { record: at, financials: at },
      matchGrade: 'AAZAZ',
      matchedOn: 'registration_number',
      errorCode: null,
      errorMessage: null,
      updatedAt: at,
    },
    ids: [
      { space: 'v1', id: String(row), grade: 'AAZAZ', matchedOn: 'registration_number' },
      { space: 'v2', id: `k${row}`, grade: 'AAZAZ', matchedOn: 'registration_number' },
    ],
    candidates: [],
    questions: [],
    errors: [],
    uses: [],
  });
}

const size = () => statSync(join(folder, 'kybatch.db')).size;
const quiet = await listAt(BEGUN + 4 * DAY);
await ledger.housekeeping.flush();
const before = size();
await quiet.begin();
await ledger.housekeeping.flush();
const quietBytes = size() - before;

const now = BEGUN + 8 * DAY;
const [list, readMs] = await timed(() => listAt(now));
const [, dueMs] = await timed(() => list.begin());
write('another');
const [again, layMs] = await timed(() => listAt(now + 1));
const [, changedMs] = await timed(() => again.begin());
const rssMb = process.resourceUsage().maxRSS / 1024;
await ledger.close();
rmSync(folder, { recursive: true });
const cost: NightCost = {
  members,
  same: { readMs, dueMs },
  changed: { layMs, dueMs: changedMs },
  quietBytes,
  rssMb,
};
console.log(JSON.stringify(cost));
