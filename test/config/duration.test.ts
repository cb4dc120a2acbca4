import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/domain/errors.js';
import { parseDuration } from '../../src/domain/freshness.js';

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const unit = fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[]));
const count = fc.nat({ max: 9_999_999 });

describe('durations', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['500ms', 500],
    ['5s', 5_000],
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['30d', 2_592_000_000],
    ['forever', Infinity],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '5', '-5s', '+5s', '1.5h', '5 s', '5S', '5M', '1h30m', 'never', '1e3s', '12345678d', '5s\n', '٣s'])(
    'refuses %j',
    (text) => {
      expect(() => parseDuration(text)).toThrow(UsageError);
      expect(() => parseDuration(text)).toThrow(JSON.stringify(text));
    },
  );

  test('any count of any unit is exactly that many milliseconds', () => {
    fc.assert(
      fc.property(count, unit, (n, u) => {
        const ms = parseDuration(`${n}${u}`);
        expect(Number.isSafeInteger(ms)).toBe(true);
        expect(BigInt(ms)).toBe(BigInt(n) * BigInt(units[u]));
      }),
    );
  });

  test('a larger count lasts longer, and forever is longest', () => {
    fc.assert(
      fc.property(count, count, unit, (a, b, u) => {
        const [shorter, longer] = [parseDuration(`${Math.min(a, b)}${u}`), parseDuration(`${Math.max(a, b)}${u}`)];
        expect(shorter <= longer && longer < parseDuration('forever')).toBe(true);
      }),
    );
  });

  test('any text is a duration or refused, never NaN', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9.e+-]{0,9}\s?(ms|s|m|h|d|w)?$/)), (text) => {
        try {
          expect(parseDuration(text)).toBeGreaterThanOrEqual(0);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
        }
      }),
    );
  });
});
