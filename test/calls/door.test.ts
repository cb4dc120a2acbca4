import { describe, expect, test } from 'vitest';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import { type AnyClient, makeReady } from '../../src/calls/request.js';
import { settlementOf } from '../../src/calls/settlement.js';
import { ManualClock } from '../../src/util/clock.js';
import { present, turns, wholeCompanies } from '../engine/support.js';
import { full, v2, withHall } from './support.js';

const idsOf = (hall: { readonly sandbox: Parameters<typeof wholeCompanies>[0] }, count: number) =>
  wholeCompanies(hall.sandbox, count).map((company) => company.v1Id);

describe('stored answers', () => {
  test('are free and unchanged, and a stale answer is bought again', async () => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const [id = ''] = idsOf(hall, 1);
      const door = await hall.door();
      const bought = await door.call(full(id));
      clock.advance(1000);
      const owned = await door.call(full(id, { reusableSince: clock.now() - 1000 }));
      if (bought.kind !== 'answer' || owned.kind !== 'answer') throw new Error('expected answers');
      expect(owned).toMatchObject({ owned: true, fetchedAt: bought.fetchedAt });
      expect(owned.body.equals(bought.body)).toBe(true);
      expect(hall.sandbox.chargeLog).toHaveLength(1);
      expect(await door.call(full(id, { reusableSince: clock.now() - 999 }))).toMatchObject({ owned: false });
      expect(hall.sandbox.chargeLog).toHaveLength(2);
    });
  });

  test('X-1 an unreadable answer of an earlier version counts as absent', async () => {
    await withHall({}, async (hall) => {
      const { calls } = hall.ledger;
      const [id = ''] = idsOf(hall, 1);
      const ready = makeReady(hall.v1 as unknown as AnyClient, await calls.environment('v1', 'sandbox'), full(id));
      if (ready instanceof Error) throw ready;
      const now = hall.clock.now();
      const attemptId = await calls.begin({ runId: null, begunAt: now, leaseUntil: now + 1 });
      const request = { ...ready.context, attemptId, attempt: 1, startedAt: now, reusableSince: 0, lookedSince: 0 };
      const intended = await calls.intend({ ...request, lostAtMost: 3 }, { units: null, reports: null });
      if (intended.kind !== 'intent') throw new Error(intended.kind);
      const exchange = { status: 200, headers: {}, body: Buffer.from('<html>'), durationMs: 1 };
      await calls.settle(intended.intent, settlementOf(v1Operations.fullKyb, ready.params, exchange, now));
      const door = await hall.door();
      expect(await door.stored(full(id))).toBeUndefined();
      expect(await door.call(full(id))).toMatchObject({ kind: 'answer', owned: false });
      expect(await door.call(full(id))).toMatchObject({ kind: 'answer', owned: true });
      expect(hall.sandbox.chargeLog).toHaveLength(1);
    });
  });

  test('two rows with one request at one moment share a call', async () => {
    await withHall({}, async (hall) => {
      const [id = ''] = idsOf(hall, 1);
      const door = await hall.door();
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => door.call(full(id))));
      expect(
        outcomes.map((outcome) => outcome.kind === 'answer' && outcome.owned).filter((owned) => !owned),
      ).toHaveLength(1);
      expect(hall.sandbox.chargeLog).toHaveLength(1);
    });
  });

  test('can be read without buying', async () => {
    await withHall({}, async (hall) => {
      const [id = ''] = idsOf(hall, 1);
      expect(await (await hall.door()).stored(full(id))).toBeUndefined();
      expect(hall.sandbox.requests.size).toBe(0);
    });
  });
});

describe('the effect of an error on the next call', () => {
  test('V1-12 502, 503 and 504 are retried free, and each try is recorded', async () => {
    await withHall({}, async (hall) => {
      const [id = ''] = idsOf(hall, 1);
      hall.sandbox.script('fullKyb', [502, 504]);
      expect(await hall.ask(full(id))).toMatchObject({ kind: 'answer' });
      const usage = await hall.ledger.reading.usage();
      expect(usage.byOperation).toMatchObject([{ key: 'fullKyb', calls: 3, unitsCharged: 1, unknown: 0 }]);
    });
  });

  test('V1-12 400 is not retried', async () => {
    await withHall({}, async (hall) => {
      const [id = ''] = idsOf(hall, 1);
      hall.sandbox.script('fullKyb', 400);
      expect(await hall.ask(full(id))).toMatchObject({ kind: 'failed', attempts: 1 });
    });
  });

  test('V1-11 DATA_SERVICE_404 is an answer for the row', async () => {
    await withHall({}, async (hall) => {
      expect(await hall.ask(full('999999999999'))).toMatchObject({ kind: 'not_available' });
    });
  });

  test('V1-4 a 429 waits for Retry-After, by the clock, and is no failure', async () => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const [id = ''] = idsOf(hall, 1);
      hall.sandbox.script('fullKyb', Array(5).fill({ status: 429, code: 'RATE_LIMITED', retryAfter: 60 }));
      let answered = false;
      const patient = { breaker: { failures: 100, patienceMs: 600_000 } };
      const answer = hall.ask(full(id), patient).finally(() => {
        answered = true;
      });
      for (let round = 1; round <= 5; round++) {
        while (hall.sandbox.requests.get('fullKyb') !== round) await turns(1);
        await turns(100);
        clock.advance(59_000);
        await turns(100);
        expect(hall.sandbox.requests.get('fullKyb')).toBe(round);
        expect(answered).toBe(false);
        clock.advance(1000);
      }
      expect(await answer).toMatchObject({ kind: 'answer' });
    });
  });

  test('V1-4 ALLOWANCE_EXHAUSTED closes v1 at once, also for waiting calls, and v2 continues', async () => {
    const clock = new ManualClock();
    await withHall({ clock, plan: 'free' }, async (hall) => {
      const ids = idsOf(hall, 8);
      while (hall.sandbox.v1Remaining > 0) hall.sandbox.dashboardUnlock();
      const door = await hall.door();
      const outcomes = await Promise.all(ids.map((id) => door.call(full(id))));
      const midnight = Date.parse('2026-01-06T00:00:00Z');
      for (const outcome of outcomes)
        expect(outcome).toMatchObject({ kind: 'parked', reason: 'allowance', until: midnight });
      expect(hall.sandbox.requests.get('fullKyb')).toBe(1);
      expect(await door.refusal(v1Operations.searchKyb)).toMatchObject({ reason: 'allowance' });
      const [company] = wholeCompanies(hall.sandbox, 1);
      expect(await door.call(v2('financial', { id: company?.v2Id }))).toMatchObject({ kind: 'answer' });
      expect(await hall.ledger.calls.allowance(1)).toMatchObject({ spentUntil: midnight, dailyRemaining: 0 });
    });
  });

  test('V1-10 a 401 stops everything: waiting calls are not sent', async () => {
    await withHall({}, async (hall) => {
      hall.sandbox.revoke(hall.sandbox.keys.v1);
      const door = await hall.door();
      const outcomes = await Promise.all(idsOf(hall, 8).map((id) => door.call(full(id))));
      for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'stopped' });
      expect(hall.sandbox.requests.get('fullKyb')).toBe(1);
    });
  });

  test('V2-1 a limit closes the configured operations of its permission, and no others', async () => {
    await withHall({ v2Limits: { kyb_details: { plan: 0 } } }, async (hall) => {
      const [company] = wholeCompanies(hall.sandbox, 1);
      const door = await hall.door({ permissions: { kyb_details: ['kybLite', 'kybOfficers'] } });
      expect(await door.call(v2('kybLite', { id: company?.v2Id }))).toMatchObject({ kind: 'parked', until: null });
      expect(await door.refusal(v2Operations.kybOfficers)).toMatchObject({ kind: 'parked', reason: 'allowance' });
      expect(await door.refusal(v2Operations.financial)).toBeUndefined();
      expect(await door.refusal(v1Operations.fullKyb)).toBeUndefined();
    });
  });

  test('the breaker counts transport errors and 5xx in a row, and nothing else', async () => {
    await withHall({}, async (hall) => {
      const ids = idsOf(hall, 4);
      const door = await hall.door({ breaker: { failures: 6, patienceMs: 0 }, concurrency: 1 });
      hall.sandbox.script('fullKyb', [
        503,
        'resetBefore',
        'none',
        400,
        { status: 429, code: 'RATE_LIMITED' },
        503,
        503,
        'none',
      ]);
      for (const id of ids.slice(0, 3)) await door.call(full(id));
      expect(door.stopped).toBeUndefined();
      hall.sandbox.setFaults({ rate503: 1 });
      await door.call(full('1'));
      expect(door.stopped).toBeUndefined();
      await door.call(full('2'));
      expect(door.stopped).toMatchObject({ stop: 'unavailable' });
    });
  });
});

describe('lost answers (V1-5)', () => {
  test('have an unknown charge and are requested again up to the cap, and then need a person', async () => {
    await withHall({}, async (hall) => {
      const [id = ''] = idsOf(hall, 1);
      hall.sandbox.script('fullKyb', ['lostAnswer', 'lostAnswer', 'lostAnswer', 'lostAnswer']);
      const door = await hall.door({ retry: { attempts: 9, baseMs: 1, capMs: 1 } });
      expect(await door.call(full(id))).toMatchObject({ kind: 'parked', reason: 'in_doubt' });
      expect(hall.sandbox.requests.get('fullKyb')).toBe(3);
      expect(await hall.ledger.reading.unknownCharges(50)).toHaveLength(3);
      expect(await hall.ask(full(id))).toMatchObject({ kind: 'parked', reason: 'in_doubt' });
      expect(await hall.ask(full(id), { inDoubtCap: 4 })).toMatchObject({ kind: 'parked' });
      expect(await hall.ask(full(id), { inDoubtCap: 5 })).toMatchObject({ kind: 'answer' });
      // A later call was answered, so the earlier lost one does not affect the next purchase.
      expect(await hall.ask(full(id, { reusableSince: Infinity }), { inDoubt: 'park' })).toMatchObject({
        kind: 'answer',
      });
    });
  });

  test('with lost_answers: hold nothing is sent again', async () => {
    await withHall({}, async (hall) => {
      const [id = ''] = idsOf(hall, 1);
      hall.sandbox.script('fullKyb', 'resetMidBody');
      expect(await hall.ask(full(id), { inDoubt: 'park' })).toMatchObject({ kind: 'parked', reason: 'in_doubt' });
      expect(hall.sandbox.requests.get('fullKyb')).toBe(1);
    });
  });

  test('of free operations leave no unknown charge: after ten losses the history is requested again (V2-6)', async () => {
    await withHall({}, async (hall) => {
      const request = v2('creditReportHistory', { page: 1 });
      hall.sandbox.script('creditReportHistory', Array(10).fill('resetMidBody'));
      const outcomes = [];
      for (let round = 0; round < 4; round++) outcomes.push((await hall.ask(request)).kind);
      expect(outcomes).toEqual(['failed', 'failed', 'failed', 'answer']);
      expect(await hall.ledger.reading.unknownCharges(50)).toEqual([]);
    });
  });

  test('V2-17 a report is never requested twice in a row, not outside a run, and not after a request to wait', async () => {
    await withHall({ reportDelayMs: 0 }, async (hall) => {
      const { sourceId, countryCode } = present(wholeCompanies(hall.sandbox, 1)[0]);
      for (const operation of ['creditReportGenerate', 'creditReportCombined'] as const) {
        hall.sandbox.script(operation, { failAfterWork: 429 });
        const byHand = { lookedSince: Infinity };
        const request = v2(operation, { source_id: sourceId, country: countryCode }, byHand);
        expect(await hall.ask(request)).toMatchObject({ kind: 'failed', error: { charge: 'unknown' } });
        expect(hall.sandbox.requests.get(operation)).toBe(1);
      }
    });
  });

  test('V2-17 failures answered by v2 have an unknown charge and are retried regardless of the cap', async () => {
    await withHall({}, async (hall) => {
      const request = v2('kybSearch', { location: 'NL', name: 'nobody' });
      hall.sandbox.script('kybSearch', [500, 503, 500, 503, 500, 'resetMidBody']);
      const park = { inDoubt: 'park' } as const;
      expect(await hall.ask(request, park)).toMatchObject({ kind: 'failed', attempts: 3 });
      // The lost one puts it on hold.
      expect(await hall.ask(request, park)).toMatchObject({
        kind: 'parked',
        message: expect.stringMatching(/^1 call/),
      });
      expect(await hall.ledger.reading.unknownCharges(50)).toHaveLength(6);
    });
  });

  test.each([
    ['all charged', ['lostAnswer', 'lostAnswer'], 'charged'],
    ['none charged', ['resetBefore', 'resetBefore'], 'free'],
    ['some charged', ['lostAnswer', 'resetBefore'], 'unknown'],
  ] as const)('are settled by the remaining units at the next solo call: %s', async (_, faults, verdict) => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const [first = '', second = '', third = ''] = idsOf(hall, 3);
      const once = { retry: { attempts: 1, baseMs: 1, capMs: 1 } };
      await hall.ask(full(first));
      hall.sandbox.script('fullKyb', faults);
      await hall.ask(full(second), once);
      await hall.ask(full(second), once);
      clock.advance(40_000);
      await hall.ask(full(third));
      const unknown = await hall.ledger.reading.unknownCharges(50);
      expect(unknown).toHaveLength(verdict === 'unknown' ? 2 : 0);
      const { byOperation } = await hall.ledger.reading.usage();
      expect(byOperation[0]).toMatchObject({ unitsCharged: verdict === 'charged' ? 4 : 2 });
    });
  });

  test('a recently lost call may still be charged: it counts as free only later', async () => {
    const clock = new ManualClock();
    await withHall({ clock }, async (hall) => {
      const [first = '', second = '', third = '', fourth = ''] = idsOf(hall, 4);
      await hall.ask(full(first));
      hall.sandbox.script('fullKyb', 'resetBefore');
      await hall.ask(full(second), { retry: { attempts: 1, baseMs: 1, capMs: 1 } });
      await hall.ask(full(third));
      expect(await hall.ledger.reading.unknownCharges(50)).toHaveLength(1);
      clock.advance(40_000);
      await hall.ask(full(fourth));
      expect(await hall.ledger.reading.unknownCharges(50)).toHaveLength(0);
    });
  });

  test('V1-2 the units of a new day settle nothing and are no drift', async () => {
    const clock = new ManualClock();
    await withHall({ clock, plan: 'free' }, async (hall) => {
      const [first = '', second = '', third = ''] = idsOf(hall, 3);
      await hall.ask(full(first));
      hall.sandbox.script('fullKyb', 'lostAnswer');
      await hall.ask(full(second), { retry: { attempts: 1, baseMs: 1, capMs: 1 } });
      clock.advance(86_400_000);
      await hall.ask(full(third));
      expect(await hall.ledger.reading.unknownCharges(50)).toHaveLength(1);
      expect(await hall.ledger.calls.allowance(1)).toMatchObject({ driftUnits: 0, anchorUnits: 2 });
    });
  });

  test('units that others used are drift', async () => {
    await withHall({}, async (hall) => {
      const [first = '', second = ''] = idsOf(hall, 2);
      await hall.ask(full(first));
      hall.sandbox.dashboardUnlock();
      hall.sandbox.dashboardUnlock();
      await hall.ask(full(second));
      expect(await hall.ledger.calls.allowance(1)).toMatchObject({ driftUnits: 2 });
    });
  });

  test('V2-6 a lost generate call is not repeated before a look in the history', async () => {
    await withHall({}, async (hall) => {
      const [company] = wholeCompanies(hall.sandbox, 1);
      const params = { source_id: company?.sourceId, country: company?.countryCode };
      hall.sandbox.script('creditReportGenerate', 'lostAnswer');
      const door = await hall.door();
      const lost = await door.call(v2('creditReportGenerate', params, { lookedSince: 0 }));
      if (lost.kind !== 'in_doubt') throw new Error(`expected a doubt, got ${lost.kind}`);
      expect(await door.call(v2('creditReportGenerate', params, { lookedSince: lost.endedAt }))).toMatchObject({
        kind: 'in_doubt',
      });
      expect(hall.sandbox.reports).toHaveLength(1);
      const looked = await door.call(v2('creditReportGenerate', params, { lookedSince: lost.endedAt + 1 }));
      expect(looked).toMatchObject({ kind: 'answer' });
    });
  });
});
