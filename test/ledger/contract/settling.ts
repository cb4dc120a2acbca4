import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  begin,
  buy,
  call,
  collect,
  intend,
  KEY,
  keyOf,
  lost,
  NOW,
  openRun,
  remaining,
  settlement,
  useOf,
  withSnapshot,
} from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

export function describeSettling(open: OpenLedger): void {
  describe('settling a call', () => {
    test(
      'happens once, by the attempt that wrote the intent',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const place = await begin(ledger, run);
        const intent = await intend(ledger, call(place, { runId: run, row: 1 }));
        const { attemptId } = await begin(ledger);
        const theirs = settlement({ requestId: 'theirs', body: Buffer.from('theirs') });
        expect(await ledger.calls.settle({ ...intent, attemptId }, theirs)).toBe(false);
        expect(await ledger.calls.settle(intent, settlement({ requestId: 'one' }))).toBe(true);
        expect(await ledger.calls.settle(intent, settlement({ requestId: 'two', body: Buffer.from('2') }))).toBe(false);
        const calls = await withSnapshot(ledger, run, (snapshot) => collect(snapshot.calls()));
        expect(calls).toMatchObject([{ id: intent.id, requestId: 'one', unitsCharged: 1 }]);
        expect(await ledger.runs.row(run, 1)).toMatchObject({ unitsCharged: 1 });
        expect(await ledger.calls.readBody(hash('sha256', '2'))).toBeUndefined();
        expect(await ledger.calls.readBody(hash('sha256', 'theirs'))).toBeUndefined();
      }),
    );

    test(
      'is on disk when it resolves: another process finds call, units and answer',
      onLedger(open, async (ledger, { reopen }) => {
        const run = await openRun(ledger, 1);
        const place = await begin(ledger, run);
        const { id } = await buy(ledger, call(place, { runId: run, row: 1 }));
        const second = await reopen();
        const rawSha256 = hash('sha256', '{}');
        expect(await second.calls.findAnswer(place.environmentId, KEY, NOW)).toEqual({
          callId: id,
          rawSha256,
          fetchedAt: NOW,
        });
        expect((await second.calls.readBody(rawSha256))?.toString()).toBe('{}');
        expect(await second.runs.row(run, 1)).toMatchObject({ unitsCharged: 1 });
      }),
    );

    test(
      'V1-29 stores bodies byte for byte, and the newest answer to each request',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        const body = fc.oneof(
          fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
          fc.integer({ min: 0, max: 400 }).map((count) => Buffer.from('{"a": 1.10, "ü": null}'.repeat(count))),
        );
        await fc.assert(
          fc.asyncProperty(body, fc.nat(5), async (bytes, request) => {
            const requestKey = keyOf(String(request));
            const { id } = await buy(ledger, call(place, { requestKey }), settlement({ body: bytes }));
            const answer = await ledger.calls.findAnswer(place.environmentId, requestKey, 0);
            expect(answer).toEqual({ callId: id, rawSha256: hash('sha256', bytes), fetchedAt: NOW });
            expect((await ledger.calls.readBody(answer?.rawSha256 ?? ''))?.equals(bytes)).toBe(true);
          }),
          { numRuns: 60 },
        );
      }),
    );

    test(
      'stores only declared answers for reuse, also with other bytes, and a later failure removes nothing',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        const half = Buffer.from('{"cut');
        await buy(ledger, call(place), settlement({ body: half, answer: null }));
        expect(await ledger.calls.findAnswer(place.environmentId, KEY, 0)).toBeUndefined();
        expect((await ledger.calls.readBody(hash('sha256', half)))?.equals(half)).toBe(true);
        const { id } = await buy(ledger, call(place));
        await buy(ledger, call(place), lost());
        expect(await ledger.calls.findAnswer(place.environmentId, KEY, 0)).toMatchObject({ callId: id });
      }),
    );

    test(
      'an answer is fresh to the millisecond since its fetching, in its environment alone',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        await buy(ledger, call(place, { startedAt: NOW - 50 }));
        expect(await ledger.calls.findAnswer(place.environmentId, KEY, NOW)).toBeDefined();
        expect(await ledger.calls.findAnswer(place.environmentId, KEY, NOW + 1)).toBeUndefined();
        const elsewhere = await ledger.calls.environment('v1', 'elsewhere');
        expect(await ledger.calls.findAnswer(elsewhere, KEY, 0)).toBeUndefined();
      }),
    );

    test(
      'reusing a stored answer costs nothing, and is listed among the calls',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        await buy(ledger, call(place));
        await ledger.calls.recordUse(useOf(call(place, { startedAt: NOW + 5 })));
        expect((await ledger.reading.usage()).byOperation).toEqual([
          { key: 'fullKyb', api: 'v1', calls: 1, owned: 1, unitsCharged: 1, reports: 0, unknown: 0 },
        ]);
        expect(await ledger.calls.findAnswer(place.environmentId, KEY, NOW + 1)).toBeUndefined();
      }),
    );
  });

  describe('the allowance', () => {
    test(
      'V1-3 comes from the last answer, with its raw text, and an answer without figures keeps it',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        expect(await ledger.calls.allowance(place.environmentId)).toBeUndefined();
        const quota = { dailyLimit: 3, dailyRemaining: 2, resetAt: NOW + 9, raw: '{"x-quota-daily-limit":"3"}' };
        await buy(ledger, call(place), settlement({ allowance: remaining(7, quota) }));
        const seen = { observedAt: NOW, remainingUnits: 7, ...quota, spentUntil: null, driftUnits: 0 };
        expect(await ledger.calls.allowance(place.environmentId)).toMatchObject(seen);
        const silent = { ...remaining(0, quota), available: null, remainingUnits: null, dailyRemaining: 1 };
        await buy(ledger, call(place), settlement({ settledAt: NOW + 1, allowance: silent }));
        expect(await ledger.calls.allowance(place.environmentId)).toMatchObject({
          ...seen,
          observedAt: NOW + 1,
          dailyRemaining: 1,
        });
      }),
    );

    test(
      'of calls that overtook each other is the lowest figure, and after a single call it is exact',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        const next = (request: string) => intend(ledger, call(place, { requestKey: keyOf(request) }));
        const [first, second] = [await next('1'), await next('2')];
        await ledger.calls.settle(second, settlement({ allowance: remaining(1) }));
        await ledger.calls.settle(first, settlement({ allowance: remaining(2) }));
        const third = await next('3');
        expect(
          await ledger.calls.intend(call(place, { requestKey: keyOf('4') }), { units: null, reports: null }),
        ).toEqual({
          kind: 'wait',
        });
        await ledger.calls.settle(third, settlement({ allowance: remaining(2) }));
        const sideBySide = [await next('5'), await next('6')];
        expect(sideBySide.map(({ alone }) => alone)).toEqual([true, false]);
      }),
    );
  });
}
