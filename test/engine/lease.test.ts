import { describe, expect, test } from 'vitest';
import { LedgerError } from '../../src/domain/errors.js';
import { ManualClock } from '../../src/util/clock.js';
import { lineOf, turns, wholeCompanies, withWorkshop } from './support.js';

const recordOnly = { pipeline: { stages: ['record'] } };
const STARTS = 'SELECT ended_at IS NOT NULL AS ended FROM starts';

describe('an attempt on the ledger', () => {
  test('ends with the run, also if the run stops before its first row', async () => {
    await withWorkshop(recordOnly, async ({ sandbox, ledger, open, work, query }) => {
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      const releaseParked = async () => Promise.reject(new LedgerError(new Error('disk full')));
      const broken = { ...ledger, runs: { ...ledger.runs, releaseParked } };
      await expect(work(run, { ledger: broken })).rejects.toThrow(/disk full/);
      expect(query(STARTS)).toEqual([{ ended: 1 }]);
      await work(run);
      expect(query(STARTS)).toEqual([{ ended: 1 }, { ended: 1 }]);
    });
  });

  test('that cannot be ended does not hide the error that ended the run', async () => {
    await withWorkshop(recordOnly, async ({ sandbox, ledger, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      const fail = (why: string) => async () => Promise.reject(new LedgerError(new Error(why)));
      const calls = { ...ledger.calls, intend: fail('first'), end: fail('second') };
      await expect(work(run, { ledger: { ...ledger, calls } })).rejects.toThrow(/first/);
    });
  });

  test('is renewed while the run continues, and sends nothing after a takeover', async () => {
    const clock = new ManualClock();
    await withWorkshop({ ...recordOnly, clock }, async ({ sandbox, v1, ledger, open, work }) => {
      const run = await open(wholeCompanies(sandbox, 6).map((company) => lineOf(company)));
      const send = v1.send.bind(v1);
      const held: (() => void)[] = [];
      v1.send = async (prepared, options) => {
        await new Promise<void>((go) => held.push(go));
        return await send(prepared, options);
      };
      const ended = work(run, { concurrency: 2 });
      const failure = ended.catch((error: unknown) => error);
      while (held.length === 0) await turns(1);
      for (let renewal = 0; renewal < 10; renewal++) {
        clock.advance(10_000);
        await turns(5);
      }
      expect(await ledger.calls.markCallsOfDeadAttempts(clock.now())).toBe(0);
      // Frozen for longer than its lease, so the next attempt takes its row.
      clock.advance(31_000);
      expect(await ledger.calls.markCallsOfDeadAttempts(clock.now() + 31_000)).toBe(1);
      clock.advance(10_000);
      await turns(20);
      for (const go of held) go();
      expect(await failure).toMatchObject({ code: 'TAKEN_OVER' });
      expect(sandbox.requests.get('searchKyb')).toBe(1);
      expect((await ledger.runs.progress(run.id)).byOutcome).toMatchObject({ pending: 6 });
    });
  });
});
