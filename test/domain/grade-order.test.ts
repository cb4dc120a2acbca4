import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareGrades, fitsPattern, gradeInWords, isAtLeast, readGradePattern } from '../../src/domain/grade-order.js';

const letter = fc.constantFrom('A', 'B', 'Z', 'F');
const grade = fc.array(letter, { minLength: 5, maxLength: 5 }).map((letters) => letters.join(''));
const pattern = fc
  .array(fc.constantFrom('A', 'B', 'Z', 'F', '?'), { minLength: 5, maxLength: 5 })
  .map((letters) => letters.join(''));
const place = fc.integer({ min: 0, max: 4 });
const BETTER: Readonly<Record<string, string>> = { A: 'A', B: 'A', Z: 'B', F: 'Z' };
const LOOSER: Readonly<Record<string, string>> = { A: 'B', B: 'Z', Z: 'F', F: '?', '?': '?' };
const changed = (text: string, at: number, by: Readonly<Record<string, string>>) =>
  [...text].map((one, index) => (index === at ? (by[one] ?? one) : one)).join('');

describe('the order of grades', () => {
  test('follows their meaning: the number first, a different number last', () => {
    const best = ['AAAAA', 'AFZAZ', 'BAZAZ', 'ZAAAA', 'ZAZAZ', 'ZFAAA', 'FAAAA', 'FFFFF'];
    expect(best.toReversed().toSorted(compareGrades)).toEqual(best);
  });

  test('puts invalid grades last', () => {
    expect(['', 'FFFFF'].toSorted(compareGrades)).toEqual(['FFFFF', '']);
  });

  test('is total, and a better letter never lowers a grade', () =>
    fc.assert(
      fc.property(grade, grade, place, (one, other, at) => {
        expect(Math.sign(compareGrades(one, other))).toBe(Math.sign(-compareGrades(other, one)) + 0);
        expect(compareGrades(changed(one, at, BETTER), one)).toBeLessThanOrEqual(0);
      }),
    ));
});

describe('at least a grade', () => {
  test.each([
    ['AAZAZ', 'AAZAZ', true],
    ['AAAAA', 'AAZAZ', true],
    ['ABZAZ', 'AAZAZ', false],
    ['AAFAZ', 'AAZAZ', false],
    ['AZFFF', 'A????', true],
    ['', '?????', false],
  ])('%s is at least %s: %s', (found, least, is) => {
    expect(isAtLeast(found, least)).toBe(is);
  });

  test('only grows with a better grade or a looser rule, and every grade is at least itself', () =>
    fc.assert(
      fc.property(grade, pattern, place, (found, least, at) => {
        expect(isAtLeast(found, found)).toBe(true);
        if (!isAtLeast(found, least)) return;
        expect(isAtLeast(changed(found, at, BETTER), least)).toBe(true);
        expect(isAtLeast(found, changed(least, at, LOOSER))).toBe(true);
      }),
    ));
});

test('a pattern is five letters in any case, and `?` accepts any', () => {
  expect(readGradePattern(' a?zb? ')).toBe('A?ZB?');
  for (const text of ['', 'A', 'AAAAAA', 'CAAAA', '>=AAA']) expect(readGradePattern(text)).toBeUndefined();
  expect(fitsPattern('ABZAZ', 'A????')).toBe(true);
  expect(fitsPattern('ABZAZ', 'AA???')).toBe(false);
});

test('a grade in short words', () => {
  expect(gradeInWords('ABZFZ')).toBe('same: number; similar: name; different: country');
  expect(gradeInWords('ZZZZZ')).toBe('');
  expect(gradeInWords('')).toBe('');
});
