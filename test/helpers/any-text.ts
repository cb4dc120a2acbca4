import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };

/**
 * Every character, for `fc.string({ unit })`. The 'binary' of fast-check first lists all million of them, in each
 * thread again.
 */
export const anyCharacter = fc.nat({ max: 0x10ffff - SURROGATES.count }).map(
  (nth) => String.fromCodePoint(nth < SURROGATES.from ? nth : nth + SURROGATES.count),
  (text) => {
    const [character, ...more] = typeof text === 'string' ? text : '';
    const point = character?.codePointAt(0);
    const isOne = point !== undefined && more.length === 0;
    if (!isOne || (point >= SURROGATES.from && point < SURROGATES.from + SURROGATES.count))
      throw new Error('not one character');
    return point < SURROGATES.from ? point : point - SURROGATES.count;
  },
);
