// Seeded random numbers and permutations.

/** Mixes up to four 32-bit numbers into one. All differences between companies come from it. */
export function hash(seed: number, a: number, b = 0, c = 0): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ a;
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad) ^ b;
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97) ^ c;
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return (h ^ (h >>> 15)) >>> 0;
}

/** A small stream of random numbers (mulberry32), for bodies that are generated from beginning to end. */
export class Random {
  #state: number;

  constructor(state: number) {
    this.#state = state | 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** An integer in [0, bound). */
  int(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  between(low: number, high: number): number {
    return low + this.int(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return at(list, this.int(list.length));
  }
}

/** The item at an index modulo the length. The generator's lists are never empty. */
export function at<T>(list: readonly T[], index: number): T {
  const item = list[index % list.length];
  if (item === undefined) throw new RangeError(`no item ${index} in a list of ${list.length}`);
  return item;
}

/**
 * A seeded bijection of [0, size): numbers look random, yet a number leads back to its company without a table. It does
 * three rounds of odd multiplication and xor-shift on the next power of two, until the result is in range.
 */
export class Permutation {
  readonly size: number;
  readonly #mask: number;
  readonly #shift: number;
  /** Per round: the odd factor, its inverse, and the summand. */
  readonly #odd: Int32Array;
  readonly #inverse: Int32Array;
  readonly #add: Int32Array;

  constructor(size: number, key: number) {
    if (size < 1 || size > 2 ** 30) throw new RangeError(`a permutation of ${size} is not supported`);
    const bits = Math.max(2, Math.ceil(Math.log2(size)));
    this.size = size;
    this.#mask = 2 ** bits - 1;
    this.#shift = Math.ceil(bits / 2);
    this.#odd = Int32Array.from(rounds, (round) => (hash(key, round, 11) & this.#mask) | 1);
    this.#inverse = this.#odd.map(inverseOfOdd);
    this.#add = Int32Array.from(rounds, (round) => hash(key, round, 12) & this.#mask);
  }

  forward(value: number): number {
    let x = value;
    do {
      for (let i = 0; i < rounds.length; i++) {
        x = (Math.imul(x, this.#odd[i] as number) + (this.#add[i] as number)) & this.#mask;
        x ^= x >>> this.#shift;
      }
    } while (x >= this.size);
    return x;
  }

  backward(value: number): number {
    let x = value;
    do {
      for (let i = rounds.length - 1; i >= 0; i--) {
        x ^= x >>> this.#shift;
        x = Math.imul(x - (this.#add[i] as number), this.#inverse[i] as number) & this.#mask;
      }
    } while (x >= this.size);
    return x;
  }
}

const rounds = [1, 2, 3];

/** Newton's iteration for the inverse modulo 2^32. */
function inverseOfOdd(odd: number): number {
  let inverse = odd;
  for (let i = 0; i < 5; i++) inverse = Math.imul(inverse, 2 - Math.imul(odd, inverse));
  return inverse;
}

/** A number in [0, 1) that follows from its inputs alone, so that the same seed draws the same faults and delays. */
export function draw(seed: number, ...salts: readonly (number | string)[]): number {
  let hash = (seed ^ 0x9e3779b9) >>> 0;
  for (const salt of salts) {
    hash = typeof salt === 'number' ? mix(hash, salt) : mixText(hash, salt);
  }
  return mix(hash, 0x51ed270b) / 0x1_0000_0000;
}

function mixText(start: number, text: string): number {
  let hash = start;
  for (let index = 0; index < text.length; index++) hash = mix(hash, text.charCodeAt(index));
  return mix(hash, text.length);
}

function mix(hash: number, value: number): number {
  let mixed = Math.imul(hash ^ value, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
