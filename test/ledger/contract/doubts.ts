import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { begin, buy, call, intend, KEY, lost, NO_LIMITS, NOW, openRun, type Place, rowSettlement } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

const ALL = { calls: [], runs: [] };

/** A lost report for row 1 of `run`, which waits for a person. */
async function loseReport(ledger: Ledger): Promise<{ readonly place: Place; readonly id: number }> {
  const run = await openRun(ledger, 2);
  const place = await begin(ledger, run);
  const report = call(place, { runId: run, row: 1, meter: 'report', operation: 'creditReportGenerate' });
  const { id } = await buy(ledger, report, lost());
  await ledger.runs.settleRow(run, 1, rowSettlement({ hold: 'parked', holdReason: 'in_doubt' }));
  return { place, id };
}

export function describeDoubts(open: OpenLedger): void {
  describe('unknown charges', () => {
    test(
      'are listed for a run, by number, or all',
      onLedger(open, async (ledger) => {
        const { place, id } = await loseReport(ledger);
        await buy(ledger, call(place, { requestKey: KEY.replace(/^./, 'f') }));
        const [found, ...others] = await ledger.unknownCharges.list(ALL, NOW);
        expect(found).toMatchObject({ id, runId: 'run', row: 1, fields: {}, holds: true, httpStatus: null });
        expect(others).toEqual([]);
        expect(await ledger.unknownCharges.list({ calls: [id], runs: [] }, NOW)).toHaveLength(1);
        expect(await ledger.unknownCharges.list({ calls: [], runs: ['another'] }, NOW)).toEqual([]);
      }),
    );

    test(
      'include calls left open by a dead process, and not calls of a running one',
      onLedger(open, async (ledger) => {
        await intend(ledger, call(await begin(ledger)));
        expect(await ledger.unknownCharges.list(ALL, NOW)).toEqual([]);
        const later = await ledger.unknownCharges.list(ALL, NOW + 60_000);
        expect(later).toMatchObject([{ errorCode: 'PROCESS_DIED', holds: true }]);
      }),
    );

    test.each(['resend', 'charged', 'free'] as const)(
      'V2-17 %s lifts the cap, frees the row, and keeps the look for a report first',
      (verdict) =>
        onLedger(open, async (ledger) => {
          const { place, id } = await loseReport(ledger);
          const wanted = call(place, { meter: 'report', lostAtMost: 0 });
          expect(await ledger.calls.intend(wanted, NO_LIMITS)).toMatchObject({ kind: 'parked', reason: 'in_doubt' });
          expect(await ledger.unknownCharges.settle([id], verdict, 'because')).toEqual([{ runId: 'run', row: 1 }]);
          expect(await ledger.runs.row('run', 1)).toMatchObject({ hold: null, outcome: 'pending' });
          expect(await ledger.calls.intend({ ...wanted, lookedSince: 0 }, NO_LIMITS)).toMatchObject({
            kind: 'in_doubt',
            endedAt: NOW,
          });
          expect(await ledger.calls.intend(wanted, NO_LIMITS)).toMatchObject({ kind: 'intent' });
          expect(await ledger.unknownCharges.list(ALL, NOW)).toHaveLength(verdict === 'resend' ? 1 : 0);
        })(),
    );
  });
}
