import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { DueDecision, FileRow, MemberState, PortfolioUpdate } from '../../../src/ledger/portfolio/portfolios.js';
import { candidate, collect, NOW, rowSettlement, withSnapshot } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

interface Line {
  readonly id?: string;
  readonly company?: string | null;
  readonly note?: string;
  readonly problem?: FileRow['problem'];
}

const digest = (value: unknown) => hash('sha256', JSON.stringify(value)).slice(0, 32);

/** Rows of a file. A text stands for a row with that ID and company. */
const laid = (lines: readonly (Line | string)[]): readonly FileRow[] =>
  lines.map((line, index) => {
    const { id = null, company = id, note = '', problem = null } = typeof line === 'string' ? { id: line } : line;
    const values = [id ?? '', company ?? '', note];
    return {
      row: index + 1,
      line: index + 2,
      values,
      fields: { ...(id === null ? {} : { id }), ...(company === null ? {} : { name: company }) },
      problem,
      inputId: id,
      company,
      says: digest([company, problem?.code]),
      cells: digest(values),
    };
  });

const UNFINISHED = {
  due: { reason: 'unfinished', goesOn: true, rank: 0, stages: {}, forget: [], notBefore: null },
} as const;
const RESTS: DueDecision = { due: null, nextAt: null };
/** Rows in progress continue. No other row needs work. */
const resting = ({ onItsWay }: MemberState): DueDecision => (onItsWay === null ? RESTS : UNFINISHED);
/** Buys these rows again. The others need no work. */
const again =
  (...rows: readonly number[]) =>
  (standing: MemberState): DueDecision =>
    rows.includes(standing.row)
      ? {
          due: {
            reason: 'stale',
            goesOn: standing.onItsWay !== null,
            rank: standing.row,
            stages: { record: 'pending' },
            forget: ['report'],
            notBefore: null,
          },
        }
      : resting(standing);

let count = 0;

async function night(
  { portfolios }: Ledger,
  lines: readonly (Line | string)[] | null,
  more: {
    judge?: (standing: MemberState) => DueDecision;
    limit?: number;
    name?: string;
    pipeline?: string;
    now?: number;
  } = {},
): Promise<PortfolioUpdate & { readonly id: string }> {
  const { judge = resting, limit = null, name = 'p', pipeline = 'pipeline', now = NOW } = more;
  if (lines !== null) await portfolios.loadRows(laid(lines), true);
  count += 1;
  const run = {
    id: `run-${String(count).padStart(3, '0')}`,
    inputPath: '/in.csv',
    inputSha256: 'file',
    pipelineName: 'nightly',
    pipelineSha256: pipeline,
    settings: '{}',
    columns: ['id', 'name', 'note'],
  };
  const input = { key: 'key', path: '/in.csv', columns: run.columns };
  const converged = await portfolios.converge({
    name,
    providers: 'x',
    now,
    input,
    isLoaded: lines !== null,
    limit,
    decideDue: judge,
    run,
    continuesIf: run,
  });
  return { ...converged, id: converged.run?.id ?? '' };
}

const confirmed = (id: string) => ({
  ids: [{ space: 'v1' as const, id, grade: 'A', matchedOn: 'registration_number' }],
  candidates: [{ space: 'v1' as const, seen: [candidate(id)] }],
});

async function complete(ledger: Ledger, run: string, row: number, company: string): Promise<void> {
  const state = { outcome: 'complete' as const, stages: { record: 'done' as const }, fetched: { record: NOW + row } };
  await ledger.runs.settleRow(run, row, rowSettlement(state, confirmed(company)));
}

const rowsOf = (ledger: Ledger, run: string) =>
  withSnapshot(ledger, run, async (snapshot) =>
    (await collect(snapshot.rows())).map(({ row, values, outcome, ids }) => [row, values[0], outcome, ids.v1 ?? null]),
  );

export function describePortfolios(open: OpenLedger): void {
  describe('portfolios', () => {
    test(
      'a first file begins everything, and repeating it continues until nothing is due',
      onLedger(open, async (ledger) => {
        const problem = { code: 'NO_COUNTRY', message: 'no country' };
        const first = await night(ledger, ['a', 'b', { id: 'c', company: null, problem }]);
        expect(first).toMatchObject({
          goesOn: false,
          members: 3,
          due: { new: 2 },
          invalid: 1,
          left: 0,
          run: { state: 'open', rowCount: 3 },
        });
        expect(await ledger.runs.pendingRows(first.id)).toEqual([1, 2]);
        expect(await ledger.portfolios.outcomes(first.portfolio.id)).toMatchObject({ pending: 2, invalid: 1 });
        expect(await night(ledger, null)).toMatchObject({ goesOn: true, id: first.id, due: { unfinished: 2 } });
        await complete(ledger, first.id, 1, '1');
        await complete(ledger, first.id, 2, '2');
        expect(await night(ledger, null)).toMatchObject({ run: null, due: { unfinished: 0 }, superseded: [] });
        expect(await ledger.portfolios.lastRun(first.portfolio.id)).toMatchObject({ id: first.id });
      }),
    );

    test(
      'rows are identified by ID, else by company, and move with the file, and equal rows stay separate',
      onLedger(open, async (ledger) => {
        const { id } = await night(ledger, ['a', { company: 'x' }, { company: 'x' }, { id: 'd', company: 'x' }]);
        for (const row of [1, 2, 3, 4]) await complete(ledger, id, row, String(row));
        const moved = [{ id: 'd', company: 'x' }, { company: 'x', note: 'new' }, 'a', { company: 'x' }];
        expect(await night(ledger, moved)).toMatchObject({ run: null, left: 0, members: 4 });
        expect(await rowsOf(ledger, id)).toEqual([
          [1, 'd', 'complete', '4'],
          [2, '', 'complete', '2'],
          [3, 'a', 'complete', '1'],
          [4, '', 'complete', '3'],
        ]);
        // Repeated IDs are no keys, so the company is the key.
        expect(await night(ledger, [{ id: 'd', company: 'x' }, { id: 'd', company: 'x' }, 'a'])).toMatchObject({
          left: 1,
        });
      }),
    );

    test(
      'a missing row keeps its identity when it comes back, and a changed row starts over at once',
      onLedger(open, async (ledger) => {
        const first = await night(ledger, ['a', 'b']);
        for (const row of [1, 2]) await complete(ledger, first.id, row, String(row));
        expect(await night(ledger, ['b'], { now: NOW + 1 })).toMatchObject({ run: null, left: 1, members: 1 });
        expect(await rowsOf(ledger, first.id)).toEqual([[1, 'b', 'complete', '2']]);
        const members = await withSnapshot(ledger, first.id, async (snapshot) => collect(snapshot.members()));
        expect(members).toMatchObject([
          { inputId: 'a', leftAt: NOW + 1 },
          { inputId: 'b', leftAt: null },
        ]);
        expect(await night(ledger, ['b', 'a'])).toMatchObject({ run: null, left: 0, members: 2 });
        const changed = await night(ledger, [{ id: 'b', company: 'another' }, 'a']);
        expect(changed).toMatchObject({ due: { changed: 1 }, members: 2 });
        expect(await rowsOf(ledger, changed.id)).toEqual([
          [1, 'b', 'pending', null],
          [2, 'a', 'complete', '1'],
        ]);
      }),
    );

    test(
      'a row bought again stays visible until the new row has finished, and then is deleted',
      onLedger(open, async (ledger) => {
        const first = await night(ledger, ['a', 'b']);
        for (const row of [1, 2]) await complete(ledger, first.id, row, String(row));
        await ledger.runs.finish(first.id, NOW);
        const second = await night(ledger, null, { judge: again(2) });
        expect(second).toMatchObject({ goesOn: false, due: { stale: 1 }, superseded: [] });
        expect(await ledger.runs.row(second.id, 2)).toMatchObject({
          outcome: 'pending',
          stages: { record: 'pending' },
          fetched: { record: NOW + 2 },
          ids: [{ space: 'v1', id: '2', candidate: { id: '2' } }],
        });
        expect(await rowsOf(ledger, second.id)).toEqual([
          [1, 'a', 'complete', '1'],
          [2, 'b', 'complete', '2'],
        ]);
        expect(await night(ledger, null, { judge: again(2) })).toMatchObject({ goesOn: true, id: second.id });
        await ledger.runs.settleRow(second.id, 2, rowSettlement({ outcome: 'failed' }, confirmed('2')));
        expect((await rowsOf(ledger, second.id))[1]).toEqual([2, 'b', 'failed', '2']);
        expect(await ledger.runs.row(first.id, 2)).toBeUndefined();
        expect(await ledger.runs.row(first.id, 1)).toMatchObject({ outcome: 'complete' });
      }),
    );

    test(
      'a new run takes over unfinished rows with their progress and replaces the older run',
      onLedger(open, async (ledger) => {
        const first = await night(ledger, ['a', 'b', 'c']);
        await complete(ledger, first.id, 3, '3');
        const waits = { hold: 'waiting' as const, holdReason: 'credit-report', nextAt: NOW + 5 };
        await ledger.runs.settleRow(first.id, 2, rowSettlement(waits, confirmed('2')));
        const second = await night(ledger, ['new', 'c', 'b', 'a']);
        expect(second).toMatchObject({ superseded: [first.id], due: { new: 1, unfinished: 2 }, run: { rowCount: 3 } });
        expect(await ledger.runs.find(first.id)).toMatchObject({ state: 'superseded', supersededBy: second.id });
        expect(await ledger.runs.row(second.id, 3)).toMatchObject({ ...waits, ids: [{ space: 'v1', id: '2' }] });
        expect(await ledger.runs.row(first.id, 2)).toBeUndefined();
        expect((await rowsOf(ledger, second.id)).map(([, id, outcome]) => [id, outcome])).toEqual([
          ['new', 'pending'],
          ['c', 'complete'],
          ['b', 'pending'],
          ['a', 'pending'],
        ]);
        const { byOutcome } = await ledger.runs.progress(first.id);
        expect(byOutcome).toMatchObject({ complete: 1, pending: 0 });
      }),
    );

    test(
      'another pipeline does not continue a run, and rows begin in the order of their rank',
      onLedger(open, async (ledger) => {
        const first = await night(ledger, ['a', 'b', 'c']);
        for (const row of [1, 2, 3]) await complete(ledger, first.id, row, String(row));
        const ranks: Readonly<Record<number, number>> = { 1: 30, 2: 10, 3: 20 };
        const byAge = (standing: MemberState): DueDecision => {
          const judged = again(1, 2, 3)(standing);
          return judged.due === null ? judged : { due: { ...judged.due, rank: ranks[standing.row] ?? 0 } };
        };
        const second = await night(ledger, null, { judge: byAge });
        expect(await ledger.runs.pendingRows(second.id)).toEqual([2, 3, 1]);
        const third = await night(ledger, null, { judge: byAge, pipeline: 'another' });
        expect(third).toMatchObject({ goesOn: false, superseded: [second.id] });
        expect(await ledger.runs.pendingRows(third.id)).toEqual([2, 3, 1]);
      }),
    );

    test(
      'a limit loads the first rows and leaves known rows unchanged',
      onLedger(open, async (ledger) => {
        const first = await night(ledger, ['a', 'b', 'c'], { limit: 2 });
        expect(first).toMatchObject({ members: 2, due: { new: 2 } });
        for (const row of [1, 2]) await complete(ledger, first.id, row, String(row));
        const whole = await night(ledger, ['a', 'b', 'c']);
        expect(whole).toMatchObject({ members: 3, due: { new: 1 } });
        expect(await night(ledger, ['x', 'a', 'b', 'c'], { limit: 1 })).toMatchObject({
          members: 4,
          left: 0,
          due: { new: 1 },
        });
      }),
    );

    test(
      'are separate by name and by provider',
      onLedger(open, async (ledger) => {
        const one = await night(ledger, ['a'], { name: 'one' });
        const two = await night(ledger, ['a'], { name: 'two' });
        expect(two).toMatchObject({ due: { new: 1 }, superseded: [] });
        await complete(ledger, one.id, 1, '1');
        expect(await rowsOf(ledger, two.id)).toEqual([[1, 'a', 'pending', null]]);
        expect((await ledger.portfolios.all()).map(({ name }) => name).sort()).toEqual(['one', 'two']);
        expect(await ledger.portfolios.find('one', 'another provider')).toBeUndefined();
      }),
    );

    test(
      'a file can be compared with its portfolio without changes',
      onLedger(open, async (ledger) => {
        const first = await night(ledger, ['a', 'b']);
        await complete(ledger, first.id, 1, '1');
        await ledger.portfolios.loadRows(laid(['b', { id: 'a', company: 'another' }, 'c']), true);
        const compared = await collect(ledger.portfolios.compare(first.portfolio.id));
        expect(compared.map(({ row, standing }) => [row, standing?.outcome ?? null])).toEqual([
          [1, 'pending'],
          [2, null],
          [3, null],
        ]);
        expect(await ledger.portfolios.usable(first.portfolio.id)).toEqual({
          now: 3,
          before: 2,
          kept: 2,
          replaced: 0,
          broken: null,
        });
        await ledger.portfolios.loadRows(laid(['b', 'c', 'd']), true);
        expect(await ledger.portfolios.usable(first.portfolio.id)).toEqual({
          now: 3,
          before: 2,
          kept: 1,
          replaced: 0,
          broken: null,
        });
        expect(await rowsOf(ledger, first.id)).toHaveLength(2);
      }),
    );
  });
}
