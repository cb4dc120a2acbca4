import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { AskedFor } from '../../../src/ledger/rows/runs.js';
import { begin, buy, call, keyOf, NOW, openRun, rowSettlement, settlement, withSnapshot } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

const STAGE = 'contacts';

/** A run with the companies A and B as rows, and answers without IDs. */
async function withCompanies(ledger: Ledger) {
  const run = await openRun(ledger, 2);
  const { attemptId, environmentId } = await begin(ledger, run);
  await ledger.runs.useEnvironments(run, [{ api: 'v1', environmentId }]);
  const asked = (id: string, request: string): AskedFor => ({
    stage: STAGE,
    space: 'v1',
    id,
    environmentId,
    requestKey: keyOf(request),
  });
  const settle = (row: number, id: string, requests: readonly string[], status: 'done' | 'parked' = 'done') =>
    ledger.runs.settleRow(
      run,
      row,
      rowSettlement(
        { outcome: status === 'done' ? 'complete' : 'pending', stages: { [STAGE]: status } },
        {
          ids: [{ space: 'v1', id, grade: null, matchedOn: null }],
          asked: requests.map((name) => asked(id, name)),
          ended: status === 'done' ? [STAGE] : [],
        },
      ),
    );
  const answer = (request: string, body: string, bought = 'A') =>
    buy(
      ledger,
      call(
        { attemptId, environmentId },
        {
          runId: run,
          row: 1,
          stage: STAGE,
          operation: 'officersSearchKyb',
          subject: { space: 'v1', id: bought },
          requestKey: keyOf(request),
        },
      ),
      settlement({ body: Buffer.from(body), answer: { params: '{}' } }),
    );
  const told = () =>
    withSnapshot(ledger, run, async (snapshot) => {
      const found: string[][] = [];
      for await (const { id, answers } of snapshot.subjects('v1', [], ['officersSearchKyb']))
        found.push([id, ...answers.map(({ body }) => body.toString())]);
      return found;
    });
  return { end: () => ledger.calls.end(attemptId, NOW), run, settle, answer, told };
}

export function describeAskedFor(open: OpenLedger): void {
  describe('answers without a company ID', () => {
    test(
      'belong to every company that requested them, in request order',
      onLedger(open, async (ledger) => {
        const { settle, answer, told } = await withCompanies(ledger);
        await answer('ann', 'Ann');
        await answer('bob', 'Bob');
        await settle(1, 'A', ['bob', 'ann']);
        await settle(2, 'B', ['ann']);
        expect(await told()).toEqual([
          ['A', 'Bob', 'Ann'],
          ['B', 'Ann'],
        ]);
      }),
    );

    test(
      'are shown as last bought, by any of the companies',
      onLedger(open, async (ledger) => {
        const { settle, answer, told } = await withCompanies(ledger);
        await answer('ann', 'Ann');
        await settle(1, 'A', ['ann']);
        await answer('ann', 'Ann, a year later', 'B');
        await settle(2, 'B', ['ann']);
        expect(await told()).toEqual([
          ['A', 'Ann, a year later'],
          ['B', 'Ann, a year later'],
        ]);
      }),
    );

    test(
      'are dropped when the stage finishes without them, and not before',
      onLedger(open, async (ledger) => {
        const { settle, answer, told } = await withCompanies(ledger);
        await answer('ann', 'Ann');
        await answer('bob', 'Bob');
        await settle(1, 'A', ['ann']);
        await settle(1, 'A', ['bob'], 'parked');
        expect((await told())[0]?.sort()).toEqual(['A', 'Ann', 'Bob']);
        await settle(1, 'A', ['bob']);
        expect(await told()).toEqual([['A', 'Bob']]);
        // An attempt may end without a request.
        await settle(2, 'B', ['bob']);
        await settle(1, 'A', []);
        expect(await told()).toEqual([['A'], ['B', 'Bob']]);
      }),
    );

    test(
      'are erased with the only company that requested them, and kept for another one',
      onLedger(open, async (ledger) => {
        const { settle, answer, told, end } = await withCompanies(ledger);
        await answer('ann', 'Ann');
        await answer('bob', 'Bob');
        await settle(1, 'A', ['ann', 'bob']);
        await settle(2, 'B', ['ann']);
        await end();
        const request = { kind: 'entity', space: 'v1', id: 'A' } as const;
        expect(await ledger.housekeeping.erase(request, {})).toMatchObject({ answers: 1 });
        expect(await told()).toEqual([['B', 'Ann']]);
      }),
    );
  });
}
