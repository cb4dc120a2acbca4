import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { turns, wholeCompanies } from '../engine/support.js';
import { begin, call, keyOf, NO_LIMITS, type Place } from '../ledger/support.js';
import { full, type Hall, v2, withHall } from './support.js';

/** Calls in flight that stay there until they are released, the first one first. */
function holdCalls(client: Pick<Hall['v1'] | Hall['v2'], 'send'>): { readonly held: (() => void)[] } {
  const held: (() => void)[] = [];
  const send = client.send.bind(client);
  client.send = async (prepared, options) => {
    await new Promise<void>((go) => held.push(go));
    return await send(prepared, options);
  };
  return { held };
}

/** Repeats all waiting looks until `done`. */
async function until(clock: ManualClock, done: () => boolean): Promise<void> {
  while (!done()) {
    await turns(5);
    clock.advance(100);
  }
}

describe('two attempts on one ledger', () => {
  test('an intent reserves its request: for other attempts it is in flight until it is settled', async () => {
    await withHall({}, async ({ ledger }) => {
      const [one, other] = [await begin(ledger), await begin(ledger)];
      const ask = (place: Place, id: string) => ledger.calls.intend(call(place, { requestKey: keyOf(id) }), NO_LIMITS);
      expect(await ask(one, 'a')).toMatchObject({ kind: 'intent' });
      expect(await ask(other, 'a')).toEqual({ kind: 'under_way' });
      expect(await ask(other, 'b')).toMatchObject({ kind: 'intent' });
    });
  });

  test.each([
    ['', 0],
    [', also if stored answers are not reused', Infinity],
  ])('the second waits, and reuses the answer of the first free%s', async (_, reusableSince) => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const [id = ''] = wholeCompanies(hall.sandbox, 1).map((company) => company.v1Id);
      const { held } = holdCalls(hall.v1);
      const first = hall.ask(full(id, { reusableSince }));
      while (held.length === 0) await turns(1);
      let answered = false;
      const second = hall.ask(full(id, { reusableSince })).finally(() => {
        answered = true;
      });
      await turns(50);
      clock.advance(5000);
      await turns(50);
      expect(answered).toBe(false);
      held[0]?.();
      expect(await first).toMatchObject({ kind: 'answer', owned: false });
      await until(clock, () => answered);
      expect(await second).toMatchObject({ kind: 'answer', owned: true });
      expect(held).toHaveLength(1);
      expect(hall.sandbox.chargeLog).toHaveLength(1);
    });
  });

  test('an attempt frozen while its intent was written, and given up meanwhile, sends nothing', async () => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const [id = ''] = wholeCompanies(hall.sandbox, 1).map((company) => company.v1Id);
      const { calls } = hall.ledger;
      const freeze = async () => {
        clock.advance(60_000);
        await calls.markCallsOfDeadAttempts(clock.now());
      };
      const intend: typeof calls.intend = async (call, limits) => {
        const intended = await calls.intend(call, limits);
        await freeze();
        return intended;
      };
      await expect(hall.ask(full(id), { calls: { ...calls, intend } })).rejects.toMatchObject({ code: 'TAKEN_OVER' });
      expect(hall.sandbox.requests.size).toBe(0);
    });
  });

  test('an attempt that was only slow continues', async () => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const [id = ''] = wholeCompanies(hall.sandbox, 1).map((company) => company.v1Id);
      const { calls } = hall.ledger;
      const intend: typeof calls.intend = async (call, limits) => {
        const intended = await calls.intend(call, limits);
        clock.advance(60_000);
        return intended;
      };
      expect(await hall.ask(full(id), { calls: { ...calls, intend } })).toMatchObject({ kind: 'answer' });
    });
  });

  test('V2-6 one credit report is generated for both', async () => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const [company] = wholeCompanies(hall.sandbox, 1);
      const request = v2('creditReportGenerate', { source_id: company?.sourceId, country: company?.countryCode });
      const { held } = holdCalls(hall.v2);
      const first = hall.ask(request);
      while (held.length === 0) await turns(1);
      let answered = false;
      const second = hall.ask(request).finally(() => {
        answered = true;
      });
      await turns(50);
      held[0]?.();
      await first;
      await until(clock, () => answered);
      expect(await second).toMatchObject({ kind: 'answer', owned: true });
      expect(hall.sandbox.reports).toHaveLength(1);
    });
  });

  test('the second sends its own call if the first fails', async () => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const [id = ''] = wholeCompanies(hall.sandbox, 1).map((company) => company.v1Id);
      const { held } = holdCalls(hall.v1);
      hall.sandbox.script('fullKyb', 400);
      const first = hall.ask(full(id));
      while (held.length === 0) await turns(1);
      const second = hall.ask(full(id));
      await turns(50);
      held[0]?.();
      expect(await first).toMatchObject({ kind: 'failed' });
      await until(clock, () => held.length === 2);
      held[1]?.();
      expect(await second).toMatchObject({ kind: 'answer', owned: false });
    });
  });

  test('if the first dies, its call is lost, and the second does not wait forever', async () => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const [id = ''] = wholeCompanies(hall.sandbox, 1).map((company) => company.v1Id);
      const { held } = holdCalls(hall.v1);
      const first = hall.ask(full(id));
      while (held.length === 0) await turns(1);
      const second = hall.ask(full(id));
      await turns(50);
      clock.advance(31_000);
      // The second attempt is alive and renews its lease.
      expect(await hall.ledger.calls.renew(2, clock.now() + 30_000)).toBe(true);
      expect(await hall.ledger.calls.markCallsOfDeadAttempts(clock.now())).toBe(1);
      await until(clock, () => held.length === 2);
      held[1]?.();
      expect(await second).toMatchObject({ kind: 'answer', owned: false });
      // It wakes up: its late answer does not overwrite the records of the process that took over.
      held[0]?.();
      await expect(first).rejects.toMatchObject({ code: 'TAKEN_OVER' });
      expect(await hall.ledger.reading.unknownCharges(5)).toMatchObject([{ errorCode: 'PROCESS_DIED' }]);
    });
  });

  test('each attempt has its own limit, and the last units of the allowance are shared', async () => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const ids = wholeCompanies(hall.sandbox, 4).map((company) => company.v1Id);
      const limits = { units: 1, reports: null };
      const [one, other] = [await hall.door({ limits }), await hall.door({ limits })];
      expect(await one.call(full(ids[0] ?? ''))).toMatchObject({ kind: 'answer' });
      expect(await one.call(full(ids[1] ?? ''))).toMatchObject({ kind: 'parked', reason: 'budget' });
      expect(await other.call(full(ids[1] ?? ''))).toMatchObject({ kind: 'answer' });
      while (hall.sandbox.v1Remaining > 2) hall.sandbox.dashboardUnlock();
      // Two units remain, and the third answer reports that.
      expect(await hall.ask(full(ids[2] ?? ''))).toMatchObject({ kind: 'answer' });
      const { held } = holdCalls(hall.v1);
      const last = hall.ask(full(ids[3] ?? ''));
      while (held.length === 0) await turns(1);
      const late = hall.ask(full('1'));
      await turns(50);
      expect(held).toHaveLength(1);
      held[0]?.();
      expect(await last).toMatchObject({ kind: 'answer' });
      let told = false;
      void late.finally(() => {
        told = true;
      });
      await until(clock, () => told);
      expect(await late).toMatchObject({ kind: 'parked', reason: 'allowance' });
    });
  });
});
