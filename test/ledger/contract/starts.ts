import { describe, expect, test } from 'vitest';
import { begin, call, doubtful, intend, KEY, keyOf, NOW, refused, settlement } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

export function describeStarts(open: OpenLedger): void {
  describe('environments', () => {
    test(
      'are one for each API and name, and reading creates none',
      onLedger(open, async ({ calls }, { reopen }) => {
        expect(await calls.findEnvironment('v1', 'live')).toBeUndefined();
        const [v1, again, v2, other] = await Promise.all([
          calls.environment('v1', 'live'),
          calls.environment('v1', 'live'),
          calls.environment('v2', 'live'),
          calls.environment('v1', 'sandbox:1'),
        ]);
        expect(again).toBe(v1);
        expect(new Set([v1, v2, other]).size).toBe(3);
        expect(await (await reopen()).calls.findEnvironment('v1', 'live')).toBe(v1);
      }),
    );
  });

  describe('attempts', () => {
    test(
      'are renewed until they end, and no number is used twice',
      onLedger(open, async ({ calls }) => {
        const start = () => calls.begin({ runId: null, begunAt: NOW, leaseUntil: NOW + 10 });
        const first = await start();
        const second = await start();
        expect(second).not.toBe(first);
        expect(await calls.renew(first, NOW + 20)).toBe(true);
        await calls.end(first, NOW + 5);
        expect(await calls.renew(first, NOW + 30)).toBe(false);
        expect(await calls.renew(second, NOW + 30)).toBe(true);
      }),
    );

    test(
      'that ended, or whose lease expired, lose their open calls, and the others keep them',
      onLedger(open, async (ledger) => {
        const { calls } = ledger;
        const { environmentId } = await begin(ledger);
        const [ended, silent, renewed, alive] = await Promise.all(
          [0, 10, 10, 100].map((ms) => calls.begin({ runId: null, begunAt: NOW, leaseUntil: NOW + ms })),
        );
        const open = async (attemptId = 0, request = '') =>
          await intend(
            ledger,
            call({ environmentId, attemptId }, { requestKey: keyOf(request), startedAt: NOW - 60_000 }),
          );
        const [ofEnded, ofSilent, ofRenewed, ofAlive] = [
          await open(ended, 'a'),
          await open(silent, 'b'),
          await open(renewed, 'c'),
          await open(alive, 'd'),
        ];
        await calls.renew(renewed ?? 0, NOW + 50);
        expect(await calls.markCallsOfDeadAttempts(NOW)).toBe(0);
        await calls.end(ended ?? 0, NOW + 1);
        expect(await calls.markCallsOfDeadAttempts(NOW + 11)).toBe(2);
        expect(await calls.markCallsOfDeadAttempts(NOW + 11)).toBe(0);
        expect(await calls.renew(silent ?? 0, NOW + 50)).toBe(false);
        for (const [intent, isOpen] of [
          [ofEnded, false],
          [ofSilent, false],
          [ofRenewed, true],
          [ofAlive, true],
        ] as const)
          expect(await calls.settle(intent, refused())).toBe(isOpen);
      }),
    );

    test(
      'V1-5 whose process died leave calls of unknown charge, except free calls, and nothing settles them later',
      onLedger(open, async (ledger, { reopen }) => {
        const dead = await begin(ledger);
        const lost = await intend(ledger, call(dead));
        const free = await intend(ledger, call(dead, { meter: 'free', requestKey: keyOf('free') }));
        const second = await reopen();
        const { attemptId } = await begin(second);
        expect(await second.calls.markCallsOfDeadAttempts(NOW + 60_000)).toBe(2);
        for (const intent of [lost, { ...lost, attemptId }, free])
          expect(await second.calls.settle(intent, settlement())).toBe(false);
        expect(await second.calls.findAnswer(dead.environmentId, KEY, 0)).toBeUndefined();
        expect(await second.calls.unknownCharges(doubtful(dead.environmentId))).toMatchObject({
          lost: 1,
          failed: 0,
          lastEndedAt: NOW + 60_000,
        });
        expect(await second.calls.unknownCharges(doubtful(dead.environmentId, keyOf('free')))).toMatchObject({
          lost: 0,
          failed: 0,
        });
        expect(await second.reading.unknownCharges(10)).toMatchObject([
          { id: lost.id, operation: 'fullKyb', errorCode: 'PROCESS_DIED', api: 'v1', environment: 'live' },
        ]);
      }),
    );
  });
}
