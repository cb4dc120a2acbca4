import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { Intent, Limits, NewCall } from '../../../src/ledger/money/intent.js';
import {
  begin,
  buy,
  call,
  doubtful,
  intend,
  KEY,
  keyOf,
  lost,
  NO_LIMITS,
  NOW,
  openRun,
  type Place,
  refused,
  remaining,
  rowSettlement,
  settlement,
} from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

const until = NOW + 1000;
const closure = { operation: null, reason: 'allowance', until: null, message: 'spent', closedAt: NOW } as const;

/** Sends another request each time. */
function asker(ledger: Ledger, place: Place, limits: Limits, more: Partial<NewCall> = {}) {
  let count = 0;
  const next = (once: Partial<NewCall> = {}) => {
    count += 1;
    return call(place, { requestKey: keyOf(`${place.attemptId}/${count}`), ...more, ...once });
  };
  return {
    ask: (once: Partial<NewCall> = {}) => ledger.calls.intend(next(once), limits),
    open: (once: Partial<NewCall> = {}): Promise<Intent> => intend(ledger, next(once), limits),
  };
}

export function describeMoney(open: OpenLedger): void {
  describe('an intent', () => {
    test(
      'is not written while the same request is in flight, in any attempt',
      onLedger(open, async (ledger) => {
        const first = await begin(ledger);
        const second = await begin(ledger);
        const intent = await intend(ledger, call(first));
        expect(intent).toMatchObject({
          ...first,
          runId: null,
          row: null,
          operation: 'fullKyb',
          meter: 'unit',
          requestKey: KEY,
          alone: true,
        });
        expect(await ledger.calls.intend(call(second), NO_LIMITS)).toEqual({ kind: 'under_way' });
        const elsewhere = { ...second, environmentId: await ledger.calls.environment('v1', 'elsewhere') };
        expect(await intend(ledger, call(elsewhere))).toMatchObject({ alone: true });
        expect(await intend(ledger, call(second, { requestKey: keyOf('other') }))).toMatchObject({ alone: false });
        await ledger.calls.settle(intent, refused());
        expect(await ledger.calls.intend(call(second), NO_LIMITS)).toMatchObject({ kind: 'intent' });
      }),
    );

    test(
      'that is lost is no longer in flight',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        await intend(ledger, call(place));
        await ledger.calls.end(place.attemptId, NOW);
        await ledger.calls.markCallsOfDeadAttempts(NOW);
        expect(await ledger.calls.intend(call(await begin(ledger)), NO_LIMITS)).toMatchObject({ kind: 'intent' });
      }),
    );

    test.each([
      ['units', 'unit', { units: 2, reports: null }],
      ['credit reports', 'report', { units: null, reports: 2 }],
    ] as const)(
      'X-3 spends no more %s than the attempt may: open calls and unknown charges count',
      (what, meter, limits) =>
        onLedger(open, async (ledger) => {
          const place = await begin(ledger);
          const { ask, open: take } = asker(ledger, place, limits, { meter });
          const unitsCharged = meter === 'unit' ? 1 : null;
          const [first, second] = [await take(), await take()];
          expect(await ask()).toEqual({ kind: 'wait' });
          await ledger.calls.settle(first, refused());
          const third = await take();
          await ledger.calls.settle(second, settlement({ unitsCharged }));
          expect(await ask()).toEqual({ kind: 'wait' });
          await ledger.calls.settle(third, lost());
          const message = `the limit of 2 ${what} is used up`;
          expect(await ask()).toEqual({ kind: 'parked', reason: 'budget', until: null, message });
          expect(await ledger.calls.refusal(call(place, { meter }), limits, NOW)).toMatchObject({ message });
          // Units of a call that proves to be free can be spent.
          await ledger.calls.settleLost(doubtful(place.environmentId, third.requestKey), 'free', 'it was seen');
          expect(await ledger.calls.refusal(call(place, { meter }), limits, NOW)).toBeUndefined();
          expect(await ask()).toMatchObject({ kind: 'intent' });
          // The next attempt has its own limit.
          const later = asker(ledger, await begin(ledger), limits, { meter });
          expect(await later.ask()).toMatchObject({ kind: 'intent' });
        })(),
    );

    test(
      'X-3 counts calls lost with their process, until they prove to be free',
      onLedger(open, async (ledger) => {
        const limits = { units: 1, reports: null };
        const place = await begin(ledger);
        const { ask, open: take } = asker(ledger, place, limits);
        const { requestKey } = await take();
        await ledger.calls.markCallsOfDeadAttempts(NOW + 60_000);
        const refusal = () => ledger.calls.refusal(call(place), limits, NOW);
        expect(await refusal()).toMatchObject({ kind: 'parked', reason: 'budget' });
        await ledger.calls.settleLost(doubtful(place.environmentId, requestKey), 'free', 'it was seen');
        expect(await refusal()).toBeUndefined();
        expect(await ask()).toEqual({ kind: 'taken_over' });
      }),
    );

    test(
      'an ended attempt spends nothing more, and settles no row',
      onLedger(open, async (ledger) => {
        const run = await openRun(ledger, 1);
        const place = await begin(ledger);
        expect(await ledger.runs.settleRow(run, 1, rowSettlement({ stage: 'record' }), place.attemptId)).toBe(true);
        await ledger.calls.end(place.attemptId, NOW);
        expect(await ledger.calls.intend(call(place), NO_LIMITS)).toEqual({ kind: 'taken_over' });
        expect(await ledger.runs.settleRow(run, 1, rowSettlement({ outcome: 'failed' }), place.attemptId)).toBe(false);
        expect(await ledger.runs.row(run, 1)).toMatchObject({ outcome: 'pending', stage: 'record' });
      }),
    );

    test(
      'an answer that came since the caller’s check is not bought again',
      onLedger(open, async (ledger) => {
        const [first, second] = [await begin(ledger), await begin(ledger)];
        await buy(ledger, call(first), settlement({ settledAt: NOW }));
        const ask = (reusableSince: number) => ledger.calls.intend(call(second, { reusableSince }), NO_LIMITS);
        expect(await ask(NOW)).toEqual({ kind: 'answered' });
        expect(await ask(NOW + 1)).toMatchObject({ kind: 'intent' });
      }),
    );

    test(
      'V2-17 a report that failed meanwhile is not generated without a look since then',
      onLedger(open, async (ledger) => {
        const [first, second] = [await begin(ledger), await begin(ledger)];
        const report = { meter: 'report', lookedSince: NOW } as const;
        await buy(ledger, call(first, report), lost({ settledAt: NOW, httpStatus: 503 }));
        const ask = (lookedSince: number) => ledger.calls.intend(call(second, { ...report, lookedSince }), NO_LIMITS);
        expect(await ask(NOW)).toEqual({ kind: 'in_doubt', endedAt: NOW });
        expect(await ask(NOW + 1)).toMatchObject({ kind: 'intent' });
      }),
    );

    test(
      'V2-17 a report is one report in any requested form: in flight, of unknown charge, found',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        const report = { meter: 'report', subject: { space: 'credit', id: 'S-1' }, lookedSince: NOW } as const;
        const html = call(place, { ...report, requestKey: keyOf('as html') });
        const json = call(place, { ...report, requestKey: keyOf('as json') });
        const other = call(place, { ...report, subject: { space: 'credit', id: 'S-2' } });
        const intent = await intend(ledger, html);
        expect(await ledger.calls.intend(json, NO_LIMITS)).toEqual({ kind: 'under_way' });
        await ledger.calls.settle(intent, lost({ settledAt: NOW }));
        expect(await ledger.calls.intend(json, NO_LIMITS)).toEqual({ kind: 'in_doubt', endedAt: NOW });
        expect(await ledger.calls.intend(other, NO_LIMITS)).toMatchObject({ kind: 'intent' });
        expect(await ledger.calls.unknownCharges(json)).toMatchObject({ lost: 1, failed: 0, lastEndedAt: NOW });
        await ledger.calls.settleLost(json, 'charged', 'found in the history');
        expect(await ledger.calls.unknownCharges(html)).toMatchObject({ lost: 0 });
        expect(await ledger.calls.intend(json, NO_LIMITS)).toMatchObject({ kind: 'intent' });
      }),
    );

    test(
      'without a meter is not bound by a limit',
      onLedger(open, async (ledger) => {
        const { ask } = asker(ledger, await begin(ledger), { units: 0, reports: 0 });
        for (const meter of ['free', 'not_told'] as const)
          expect(await ask({ meter })).toMatchObject({ kind: 'intent' });
        for (const meter of ['unit', 'report'] as const) expect(await ask({ meter })).toMatchObject({ kind: 'parked' });
      }),
    );

    test(
      'leaves the last reported units to the calls in flight, of any attempt',
      onLedger(open, async (ledger) => {
        const first = await begin(ledger);
        await buy(ledger, call(first), settlement({ allowance: remaining(2, { resetAt: until }) }));
        const ours = asker(ledger, first, NO_LIMITS);
        const theirs = asker(ledger, await begin(ledger), NO_LIMITS);
        const intent = await ours.open();
        await theirs.open();
        expect(await ours.ask()).toEqual({ kind: 'wait' });
        expect(await theirs.ask()).toEqual({ kind: 'wait' });
        // A reader is not refused, because the lock may soon be released.
        expect(await ledger.calls.refusal(call(first), NO_LIMITS, NOW)).toBeUndefined();
        await ledger.calls.settle(intent, refused());
        expect(await theirs.ask()).toMatchObject({ kind: 'intent' });
        expect(await ours.ask()).toEqual({ kind: 'wait' });
        // A figure from before the renewal does not count.
        expect(await ours.ask({ startedAt: until })).toMatchObject({ kind: 'intent' });
      }),
    );
  });

  describe('refusals by the provider', () => {
    const parked = { kind: 'parked', reason: 'allowance', until: null, message: 'spent' };

    test(
      'close an operation or a whole environment, and the others continue',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        const { ask } = asker(ledger, place, NO_LIMITS);
        const scope = { ...closure, operation: 'fullKyb', reason: 'scope', message: 'not yours' } as const;
        await ledger.calls.close(place.environmentId, scope);
        const refusal = { kind: 'parked', reason: 'scope', until: null, message: 'not yours' };
        for (const meter of ['unit', 'report', 'not_told', 'free'] as const)
          expect(await ask({ meter })).toEqual(refusal);
        expect(await ledger.calls.refusal(call(place), NO_LIMITS, NOW)).toEqual(refusal);
        expect(await ask({ operation: 'liteKyb' })).toMatchObject({ kind: 'intent' });
        await ledger.calls.close(place.environmentId, closure);
        expect(await ask({ operation: 'liteKyb' })).toEqual(parked);
        const environmentId = await ledger.calls.environment('v2', 'live');
        expect(await ask({ environmentId })).toMatchObject({ kind: 'intent' });
      }),
    );

    test(
      'V1-4 end at their time, or with the next attempt',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        const { ask } = asker(ledger, place, NO_LIMITS);
        await ledger.calls.close(place.environmentId, { ...closure, until });
        expect(await ask({ startedAt: until - 1 })).toEqual({ ...parked, until });
        const again = asker(ledger, await begin(ledger), NO_LIMITS);
        expect(await again.ask()).toMatchObject({ kind: 'intent' });
        expect(await ask({ startedAt: until })).toMatchObject({ kind: 'intent' });
        // After another refusal it is closed to both.
        await ledger.calls.close(place.environmentId, closure);
        expect(await ask({ startedAt: until })).toEqual(parked);
        expect(await again.ask({ startedAt: until })).toEqual(parked);
      }),
    );

    test(
      'V1-4 a spent allowance is stored until the provider reports units again',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        await ledger.calls.close(place.environmentId, { ...closure, until });
        expect(await ledger.calls.allowance(place.environmentId)).toMatchObject({ spentUntil: until });
        await ledger.calls.close(place.environmentId, closure);
        expect((await ledger.calls.allowance(place.environmentId))?.spentUntil).toBeGreaterThan(until);
        await buy(ledger, call(await begin(ledger)), settlement({ allowance: remaining(5) }));
        expect(await ledger.calls.allowance(place.environmentId)).toMatchObject({ spentUntil: null });
      }),
    );

    test(
      'V1-4 0 units left close everything that counts in units, until they come back',
      onLedger(open, async (ledger) => {
        const place = await begin(ledger);
        await buy(ledger, call(place), settlement({ allowance: remaining(0, { resetAt: until }) }));
        const refusal = { ...parked, until, message: expect.stringMatching(/ v1 .* 0 units /) };
        expect(await ledger.calls.intend(call(place), NO_LIMITS)).toEqual(refusal);
        expect(await ledger.calls.allowance(place.environmentId)).toMatchObject({ spentUntil: until });
        const later = call(place, { startedAt: until, requestKey: KEY });
        expect(await ledger.calls.intend(later, NO_LIMITS)).toMatchObject({ kind: 'intent' });
      }),
    );
  });

  describe('simultaneous intents and settlements', () => {
    /**
     * Simultaneous requests of two processes with one limit, and the number of open ones that are answered meanwhile.
     */
    const moment = fc.record({
      asked: fc.array(fc.record({ request: fc.nat(11), helper: fc.boolean() }), { minLength: 1, maxLength: 12 }),
      answered: fc.nat(4),
    });

    test(
      'equal sequential ones: one call per request, and the limit to its last unit',
      onLedger(open, async (ledger) => {
        let ledgers = 0;
        await fc.assert(
          fc.asyncProperty(
            fc.array(moment, { minLength: 2, maxLength: 6 }),
            fc.integer({ min: 3, max: 9 }),
            async (moments, units) => {
              ledgers += 1;
              const place = await begin(ledger);
              const helper = await ledger.calls.begin({
                runId: null,
                begunAt: NOW,
                leaseUntil: NOW + 1,
                purse: place.attemptId,
              });
              const keys = (request: number) => keyOf(`${ledgers}/${request}`);
              const [underWay, owned] = [new Map<string, Intent>(), new Set<string>()];
              let spent = 0;
              for (const { asked, answered } of moments) {
                const settled = [...underWay].slice(0, answered);
                const before = { underWay: new Set(underWay.keys()), owned: new Set(owned) };
                const [verdicts] = await Promise.all([
                  Promise.all(
                    asked.map(({ request, helper: isHelper }) =>
                      ledger.calls.intend(
                        call(isHelper ? { ...place, attemptId: helper } : place, {
                          requestKey: keys(request),
                          reusableSince: 0,
                        }),
                        { units, reports: null },
                      ),
                    ),
                  ),
                  ...settled.map(([, intent]) => ledger.calls.settle(intent, settlement())),
                ]);
                for (const [key] of settled) underWay.delete(key);
                for (const [key] of settled) owned.add(key);
                spent += settled.length;
                const refused: string[] = [];
                for (const [index, verdict] of verdicts.entries()) {
                  const key = keys(asked[index]?.request ?? -1);
                  if (verdict.kind === 'intent') {
                    expect(underWay.has(key) || owned.has(key)).toBe(false);
                    underWay.set(key, verdict.intent);
                  } else if (verdict.kind === 'answered') expect(owned.has(key)).toBe(true);
                  else if (verdict.kind === 'under_way')
                    expect(underWay.has(key) || before.underWay.has(key)).toBe(true);
                  else refused.push(key);
                }
                expect(spent + underWay.size).toBeLessThanOrEqual(units);
                // No call is refused while units are left.
                if (refused.length > 0) expect(spent + underWay.size).toBe(units);
                for (const key of refused) expect(before.owned.has(key)).toBe(false);
              }
              for (const intent of underWay.values()) await ledger.calls.settle(intent, settlement());
            },
          ),
          { numRuns: 15 },
        );
      }),
    );
  });
}
