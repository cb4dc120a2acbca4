import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextUtcMidnight, readAllowance } from '../../../src/api/v1/allowance.js';

const NOW = Date.parse('2026-01-05T09:00:00Z');
const MIDNIGHT = Date.parse('2026-01-06T00:00:00Z');
/** Not midnight, because an unreadable reset is midnight too. */
const SIX = Date.parse('2026-01-05T18:00:00Z');

const resetAt = (text: string) => readAllowance({ 'x-quota-daily-reset': text }, NOW).quota?.resetAtMs;

describe('v1 allowance headers', () => {
  test.each([
    ['epoch seconds', String(SIX / 1000)],
    ['epoch milliseconds', String(SIX)],
    ['delta seconds', String((SIX - NOW) / 1000)],
    ['an ISO date', '2026-01-05T18:00:00Z'],
    ['an HTTP date', 'Mon, 05 Jan 2026 18:00:00 GMT'],
  ])('V1-3 the reset is read as %s', (_, text) => {
    expect(resetAt(text)).toBe(SIX);
  });

  test.each(['', 'tomorrow', '-5', '99999999', 'NaN', '1e99', '0x10'])(
    'V1-3 %j is the next UTC midnight, and its text is kept',
    (text) => {
      const { quota } = readAllowance({ 'x-quota-daily-reset': text }, NOW);
      expect(quota).toEqual({
        dailyLimit: null,
        dailyRemaining: null,
        resetAtMs: MIDNIGHT,
        raw: { limit: null, remaining: null, reset: text },
      });
    },
  );

  test('V1-3 units come from the headers, and absent or unreadable ones are null, never NaN', () => {
    expect(readAllowance({ 'x-service-units': '1', 'x-service-remaining-units': '41' }, NOW)).toEqual({
      unitsCharged: 1,
      remainingUnits: 41,
      quota: null,
    });
    expect(readAllowance({ 'x-service-units': 'one' }, NOW)).toEqual({
      unitsCharged: null,
      remainingUnits: null,
      quota: null,
    });
    expect(readAllowance({ 'x-quota-daily-limit': '3', 'x-quota-daily-remaining': '0' }, NOW).quota).toMatchObject({
      dailyLimit: 3,
      dailyRemaining: 0,
    });
  });

  test.each(['1.0005', '86399.9999', `${SIX / 1000}.0004`, `${SIX}.5`, `${SIX}.`])(
    'V1-3 the reset %s is a whole millisecond and never too early',
    (text) => {
      const at = resetAt(text) ?? 0;
      expect(at).toSatisfy(Number.isSafeInteger);
      expect(at).not.toBe(MIDNIGHT);
      expect(at).toBeGreaterThan(NOW);
    },
  );

  test.each(['1.5 days', '1.1.1', '1 2 3', '12/31'])('V1-3 %j is no date, although Date.parse accepts it', (text) => {
    expect(resetAt(text)).toBe(MIDNIGHT);
  });

  test.each(['999999999999999', '9007199254740993', '1'.repeat(30), '-1', '1.5', '1e3', '0x1', ' '])(
    'V1-3 units of %j are a misreading and are not recorded',
    (text) => {
      const headers = { 'x-service-units': text, 'x-service-remaining-units': text, 'x-quota-daily-remaining': text };
      const { unitsCharged, remainingUnits, quota } = readAllowance(headers, NOW);
      expect({ unitsCharged, remainingUnits, left: quota?.dailyRemaining }).toEqual({
        unitsCharged: null,
        remainingUnits: null,
        left: null,
      });
    },
  );

  test('V1-2 the day ends at UTC midnight, also exactly at midnight', () => {
    expect(nextUtcMidnight(NOW)).toBe(MIDNIGHT);
    expect(nextUtcMidnight(MIDNIGHT)).toBe(MIDNIGHT + 86_400_000);
  });

  test('V1-3 the reset is a valid time for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.integer().map(String),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        ),
        (text) => {
          expect(resetAt(text)).toSatisfy(Number.isFinite);
        },
      ),
    );
  });
});
