/**
 * One size. `fill FOLDER N` makes a portfolio without work to do. `night FOLDER N` measures nights in another process
 * and prints JSON.
 */
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { OpenList } from '../../../src/app/portfolio/open-list.js';
import { loadPipeline } from '../../../src/config/pipeline.js';
import { readInput } from '../../../src/input/read-input.js';
import { openLedger } from '../../../src/ledger/open-ledger.js';
import { flush } from '../../ledger/support.js';

export interface NightCost {
  readonly members: number;
  readonly same: { readonly readMs: number; readonly dueMs: number };
  readonly changed: { readonly layMs: number; readonly dueMs: number };
  readonly quietBytes: number;
  readonly rssMb: number;
  readonly rssChangedMb: number;
  /** Memory after garbage collection: after a night on an unchanged file, and on a changed one. */
  readonly heldMb: number;
  readonly heldChangedMb: number;
}

const [, , step = 'fill', folder = '', size = '20000'] = process.argv;
const members = Number(size);
const DAY = 86_400_000;
const BEGUN = Date.parse('2026-01-05T01:00:00Z');
const input = join(folder, 'in.csv');
const pipeline = loadPipeline('nightly', folder);
const names = { v1: 'bench', v2: 'bench' };
const NIGHT = BEGUN + 8 * DAY;
const ledger = await openLedger({ dataDir: folder, now: step === 'fill' ? BEGUN : NIGHT, access: 'write' });

function write(note: string): void {
  const file = openSync(input, 'w');
  writeSync(file, 'id,name,country,registration_number,note\n');
  for (let index = 0; index < members; index++)
    writeSync(
      file,
      `C${index},Company ${index} Ltd,GB,${String(1_000_000 + index).padStart(8, '0')},${index === 7 ? note : ''}\n`,
    );
  closeSync(file);
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

if (step === 'fill') await fill();
else await nights();
await ledger.close();

async function fill(): Promise<void> {
  write('');
  const first = await (await listAt(BEGUN)).begin();
  const run = first.run?.id ?? '';
  for (let row = 1; row <= members; row += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, members - row + 1) }, (_, offset) => settle(run, row + offset)),
    );
  await ledger.runs.finish(run, BEGUN);
}

async function settle(run: string, row: number): Promise<void> {
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
    asked: [],
    ended: [],
    verdicts: [],
  });
}

function heldNow(): number {
  if (globalThis.gc === undefined) throw new Error('node must be started with --expose-gc');
  globalThis.gc();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

async function nights(): Promise<void> {
  const bytes = () => statSync(join(folder, 'kybatch.db')).size;
  const quiet = await listAt(BEGUN + 4 * DAY);
  const before = bytes();
  await quiet.begin();
  await flush(ledger);
  const quietBytes = bytes() - before;
  const now = NIGHT;
  const [list, readMs] = await timed(() => listAt(now));
  const [, dueMs] = await timed(() => list.begin());
  const rssMb = process.resourceUsage().maxRSS / 1024;
  const heldMb = heldNow();
  write('another');
  const [again, layMs] = await timed(() => listAt(now + 1));
  const [, changedMs] = await timed(() => again.begin());
  const cost: NightCost = {
    members,
    same: { readMs, dueMs },
    changed: { layMs, dueMs: changedMs },
    quietBytes,
    rssMb,
    rssChangedMb: process.resourceUsage().maxRSS / 1024,
    heldMb,
    heldChangedMb: heldNow(),
  };
  console.log(JSON.stringify(cost));
}
