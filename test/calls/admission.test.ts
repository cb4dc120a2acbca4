import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Admission } from '../../src/calls/admission.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { Settlement } from '../../src/ledger/money/calls.js';
import type { Intent, Limits, NewCall } from '../../src/ledger/money/intent.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { ManualClock } from '../../src/util/clock.js';
import { turns } from '../engine/support.js';
import { call, keyOf, lost, remaining, settlement } from '../ledger/support.js';

const dataDir = mkdtempSync(join(tmpdir(), 'kybatch-admission-'));
const clock = new ManualClock();
let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger({ dataDir, now: clock.now(), access: 'write' });
});
afterAll(async () => {
  await ledger.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** An attempt and a provider of its own, and v1 calls that differ from each other. */
async function counter(limits: Limits) {
  const admission = new Admission(clock);
  const now = clock.now();
  const attemptId = await ledger.calls.begin({ runId: null, begunAt: now, leaseUntil: now + 30_000 });
  const environmentId = await ledger.calls.environment('v1', `provider ${attemptId}`);
  const next = (id: string): NewCall =>
    call({ environmentId, attemptId }, { requestKey: keyOf(id), startedAt: clock.now() });
  let asked = 0;
  return {
    admission,
    environmentId,
    attemptId,
    next,
    admit: () => {
      asked += 1;
      const wanted = next(String(asked));
      return admission.admit('unit', () => ledger.calls.intend(wanted, limits));
    },
    /** Its answer arrived. If `units` is null, its charge is unknown. */
    async settle(intent: Intent, units: number | null, left: number | null = null): Promise<void> {
      await ledger.calls.settle(intent, ended(units, left));
      if (left === null) admission.noteNoUnitsReported();
      else admission.heardOfUnits();
      admission.left('unit');
    },
  };
}

const ended = (units: number | null, left: number | null): Settlement =>
  (units === null ? lost : settlement)({
    settledAt: clock.now(),
    charge: units === null ? 'unknown' : units === 0 ? 'free' : 'charged',
    unitsCharged: units,
    remainingUnits: left,
    body: null,
    answer: null,
    allowance: left === null ? null : remaining(left),
  });

const intentOf = (admitted: Awaited<ReturnType<Admission['admit']>>): Intent => {
  if (admitted.kind !== 'intent') throw new Error(`expected an intent, got ${admitted.kind}`);
  return admitted.intent;
};

const unlimited: Limits = { units: null, reports: null };

describe('admission of calls', () => {
  test('calls never exceed the limit, in any order of success, failure and loss', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 8 }),
        fc.array(fc.record({ units: fc.constantFrom(0, 1, 1, null), turns: fc.nat(4) }), { maxLength: 25 }),
        async (units, calls) => {
          const { admit, settle } = await counter({ units, reports: null });
          let spent = 0;
          let inFlight = 0;
          let parked = 0;
          await Promise.all(
            calls.map(async (call) => {
              const admitted = await admit();
              if (admitted.kind !== 'intent') {
                expect(admitted).toMatchObject({ kind: 'parked', reason: 'budget' });
                parked += 1;
                return;
              }
              inFlight += 1;
              expect(spent + inFlight).toBeLessThanOrEqual(units);
              await turns(call.turns);
              inFlight -= 1;
              spent += call.units ?? 1;
              await settle(admitted.intent, call.units);
            }),
          );
          // No call is refused while units are left.
          if (parked > 0) expect(spent).toBeGreaterThanOrEqual(units);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('V1-2 calls in flight to the last units make others wait, and none waits forever', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
        async (units, successes) => {
          const { admit, settle } = await counter(unlimited);
          await settle(intentOf(await admit()), 0, units);
          let remaining = units;
          let inFlight = 0;
          await Promise.all(
            successes.map(async (success) => {
              const admitted = await admit();
              if (admitted.kind !== 'intent') return;
              inFlight += 1;
              expect(inFlight).toBeLessThanOrEqual(Math.max(1, remaining));
              await turns(1);
              inFlight -= 1;
              if (success) remaining -= 1;
              await settle(admitted.intent, success ? 1 : 0, success ? remaining : null);
            }),
          );
          expect(remaining).toBe(Math.max(0, units - successes.filter(Boolean).length));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('the first calls go one by one until one reports units, or three report none', async () => {
    const { admission, admit, settle } = await counter(unlimited);
    const first = intentOf(await admit());
    let admitted = 0;
    const others = [1, 2, 3].map(async () => {
      await admit();
      admitted += 1;
    });
    await turns();
    expect(admitted).toBe(0);
    await settle(first, 0);
    await turns();
    expect(admitted).toBe(1);
    admission.noteNoUnitsReported();
    admission.noteNoUnitsReported();
    await Promise.all(others);
    expect(admitted).toBe(3);
  });

  test('a call is alone, and its figure exact, only if no other was admitted until its answer', async () => {
    const { admission, admit, settle, environmentId } = await counter(unlimited);
    const anchor = async () => (await ledger.calls.allowance(environmentId))?.anchorCallId;
    const alone = intentOf(await admit());
    await settle(alone, 1, 10);
    expect(await anchor()).toBe(alone.id);
    const first = intentOf(await admit());
    const second = intentOf(await admit());
    await settle(first, 1, 9);
    await settle(second, 1, 8);
    expect(await anchor()).toBe(alone.id);
    const refused = intentOf(await admit());
    await ledger.calls.settle(refused, { ...ended(0, 8), errorClass: 'retry', errorCode: 'HTTP_503' });
    admission.left('unit');
    expect(await anchor()).toBe(alone.id);
    const last = intentOf(await admit());
    await settle(last, 1, 7);
    expect(await anchor()).toBe(last.id);
  });

  test('V1-4 a closure without an end time stays, and the next attempt tries again', async () => {
    const { environmentId, attemptId } = await counter(unlimited);
    const closure = { reason: 'allowance', message: 'spent', closedAt: clock.now() } as const;
    await ledger.calls.close(environmentId, { ...closure, operation: null, until: clock.now() + 1000 });
    await ledger.calls.close(environmentId, { ...closure, operation: 'liteKyb', until: null });
    const refusal = (operation: string, start = attemptId) =>
      ledger.calls.refusal({ attemptId: start, environmentId, operation, meter: 'unit' }, unlimited, clock.now());
    clock.advance(999);
    expect(await refusal('fullKyb')).toMatchObject({ kind: 'parked', reason: 'allowance', until: clock.now() + 1 });
    clock.advance(1);
    expect(await refusal('fullKyb')).toBeUndefined();
    expect(await refusal('liteKyb')).toMatchObject({ kind: 'parked', until: null });
    const next = await ledger.calls.begin({ runId: null, begunAt: clock.now(), leaseUntil: clock.now() + 1 });
    expect(await refusal('liteKyb', next)).toBeUndefined();
  });

  test('draining wakes every waiting call', async () => {
    const { admission, admit, settle } = await counter({ units: 2, reports: null });
    await settle(intentOf(await admit()), 1, 10);
    await admit();
    const waiting = [admit(), admit()];
    await turns();
    admission.drain();
    for (const refused of await Promise.all(waiting))
      expect(refused).toMatchObject({ kind: 'parked', reason: 'draining' });
  });

  test('calls that wait for the last unit do not keep each other awake', async () => {
    const { admission, admit, settle, next } = await counter({ units: 2, reports: null });
    await settle(intentOf(await admit()), 1, 10);
    const last = intentOf(await admit());
    let looks = 0;
    const wanted = next('waits');
    const waiting = [1, 2, 3].map(() =>
      admission.admit('unit', () => {
        looks += 1;
        return ledger.calls.intend(wanted, { units: 2, reports: null });
      }),
    );
    await turns(200);
    expect(looks).toBe(3);
    await settle(last, 1, 9);
    for (const refused of await Promise.all(waiting))
      expect(refused).toMatchObject({ kind: 'parked', reason: 'budget' });
  });
});
