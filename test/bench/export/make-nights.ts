import { hash } from 'node:crypto';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { openLedger } from '../../../src/ledger/open-ledger.js';
import type { FileRow } from '../../../src/ledger/portfolio/portfolios.js';
import { buy, flatBody, openShop, recordBody, settle } from './make-run.js';

/** One in a hundred was bought a night earlier than the others, so one in a hundred is due earlier. */
const isEarly = (index: number): boolean => index % 100 === 0;

const NEXT = 30;

/** A portfolio after two nights: full records, and flat financials of 714 values. */
export async function makeNights(dataDir: string, companies: number): Promise<void> {
  const ledger = await openLedger({ dataDir, now: 1, access: 'write' });
  await begin(ledger, 'night-1', companies, 1);
  await buyAll(ledger, 'night-1', companies, isEarly);
  await begin(ledger, 'night-2', companies, 20);
  await buyAll(ledger, 'night-2', companies, (index) => !isEarly(index));
  await ledger.close();
}

/** The next night, with one in a hundred due. */
export async function makeNextNight(dataDir: string, companies: number): Promise<void> {
  const ledger = await openLedger({ dataDir, now: NEXT, access: 'write' });
  await begin(ledger, 'night-3', companies, NEXT);
  await buyAll(ledger, 'night-3', companies, isEarly, 1);
  await ledger.close();
}

async function begin({ portfolios }: Ledger, id: string, companies: number, now: number): Promise<void> {
  const key = `file of ${companies}`;
  for (let first = 0; first < companies; first += 10_000)
    await portfolios.loadRows(
      Array.from({ length: Math.min(10_000, companies - first) }, (_, at) => fileRow(first + at)),
      first === 0,
    );
  await portfolios.converge({
    name: 'bench',
    providers: 'test',
    now,
    input: { key, path: '/bench.csv', columns: ['name'] },
    isLoaded: true,
    limit: null,
    decideDue: ({ row, outcome }) => {
      const goesOn = outcome === 'pending';
      const isDue = goesOn || (now === NEXT && isEarly(row - 1));
      const due = { goesOn, rank: 0, forget: [], notBefore: null } as const;
      if (!isDue) return { due: null, nextAt: null };
      return {
        due: { ...due, reason: goesOn ? 'unfinished' : 'stale', stages: goesOn ? {} : { bench: 'pending' } },
        nextAt: null,
      };
    },
    run: {
      id,
      inputPath: '/bench.csv',
      inputSha256: key,
      pipelineName: 'bench',
      pipelineSha256: 'bench',
      settings: '{}',
      columns: ['name'],
    },
    continuesIf: null,
    secondPerson: false,
  });
}

const fileRow = (index: number): FileRow => ({
  row: index + 1,
  line: index + 2,
  values: [`Company ${index}`],
  fields: {},
  problem: null,
  inputId: null,
  company: null,
  says: hash('sha256', String(index)).slice(0, 32),
  cells: hash('sha256', String(index)).slice(0, 32),
});

async function buyAll(
  ledger: Ledger,
  run: string,
  companies: number,
  isDue: (index: number) => boolean,
  later = 0,
): Promise<void> {
  const [flat, record] = [await openShop(ledger, 'flat', run), await openShop(ledger, 'record', run)];
  const due = Array.from({ length: companies }, (_, index) => index).filter(isDue);
  for (let first = 0; first < due.length; first += 250)
    await Promise.all(
      due.slice(first, first + 250).map(async (index) => {
        await Promise.all([
          buy(flat, index, flatBody(index + later).body),
          buy(record, index, recordBody(index + later).body),
        ]);
        await settle(ledger, run, index, ['v1', 'v2']);
      }),
    );
}
